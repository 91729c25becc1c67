// What is seen of the ground from a place: the grid that is analysed, and its cells as polygons.

import GeoModel
import GeoProtocol
import Geometry
import GeometryEngine
import JSONRPC
import Planning
import Platform
import SpatialRelations
import Terrain
import WireCoding

/// A grid around an observer in which lines of sight are straight, and distances those on the ground.
struct SightGrid {
  /// Greatest difference of distances in the grid to those on the ground, as a part of them.
  private static let distanceTolerance = 1e-3
  /// Greatest distance of a line of the grid from the geodesic between its ends, in cells.
  private static let bendTolerance = 0.5

  let frame: GridFrame
  /// The cell of the observer.
  let column: Int
  let row: Int
  let metric: CellMetric
  /// Whether the cells are those of the source.
  let isOwn: Bool

  /// The cells of the source at the observer where these do; else a grid in the azimuthal equidistant projection around the observer.
  ///
  /// - Parameters:
  ///   - observer: in WGS 84.
  ///   - cellSize: metres; nil for the cells of the source, or sides like the shorter of a cell.
  init(_ observer: Point, _ maxDistance: Double, cellSize: Double?, of source: any ElevationSource, _ ground: Ground) throws {
    if cellSize == nil, let grid = try Self.own(observer, maxDistance, source, ground) {
      self = grid
      return
    }
    // Cells whose sides are too short to be measured.
    let size = cellSize ?? ground.cellSide(of: source, at: observer) ?? 1e-3
    let definition = "+proj=aeqd +lat_0=\(observer.y.jsonText) +lon_0=\(observer.x.jsonText) +datum=WGS84 +units=m +no_defs +type=crs"
    let reference = try ground.transformer.describe(SpatialReference(definition)).reference
    guard let transform = RasterTransform([-size / 2, size, 0, size / 2, 0, -size]) else {
      throw RPCError.internalError("the cells of a viewshed have no size")
    }
    let whole = GridFrame(reference: reference, transform: transform, width: 1, height: 1)
    try self.init(whole, 0, 0, CellMetric(column: SIMD2(size, 0), row: SIMD2(0, -size)), maxDistance, isOwn: false, ground)
  }

  /// The part of a frame, continued without end, that is near enough to a cell, and that sources reach.
  private init(
    _ frame: GridFrame, _ column: Int, _ row: Int, _ metric: CellMetric, _ maxDistance: Double, isOwn: Bool, _ ground: Ground
  ) throws {
    let spans = Self.spans(column, row, metric, maxDistance)
    let reached = try frame.reached(spans.columns, spans.rows, ground)
    // Bounds that leave out the observer, where there is ground, are those of a reference far out of its area.
    let (columns, rows) = reached.flatMap { $0.columns.contains(column) && $0.rows.contains(row) ? $0 : nil } ?? spans
    guard let cut = frame.cut(columns.lowerBound..<columns.upperBound + 1, rows.lowerBound..<rows.upperBound + 1) else {
      throw RPCError.internalError("the cells of a viewshed have no size")
    }
    try cut.check(path: "/params/maxDistance")
    (self.frame, self.isOwn) = (cut, isOwn)
    (self.column, self.row, self.metric) = (column - columns.lowerBound, row - rows.lowerBound, metric)
  }

  /// The columns and rows around the circle of a distance.
  private static func spans(
    _ column: Int, _ row: Int, _ metric: CellMetric, _ distance: Double
  ) -> (columns: ClosedRange<Int>, rows: ClosedRange<Int>) {
    // The rows and columns of the inverse matrix are the half axes of its box.
    let (east, north) = (metric.cells(east: distance, north: 0), metric.cells(east: 0, north: distance))
    func span(_ middle: Int, _ a: Double, _ b: Double) -> ClosedRange<Int> {
      let reach = Int(min((a * a + b * b).squareRoot().rounded(.up), 1e12))
      return middle - reach...middle + reach
    }
    return (span(column, east.columns, north.columns), span(row, east.rows, north.rows))
  }

  /// The source's own cells; nil where lines of sight would bend in them.
  private static func own(
    _ observer: Point, _ maxDistance: Double, _ source: any ElevationSource, _ ground: Ground
  ) throws -> SightGrid? {
    let info = try ground.transformer.describe(source.reference)
    guard info.kind == .projected || info.kind == .local,
      let place = try? ground.transformer.transform(observer, from: .wgs84, to: source.reference)
    else { return nil }
    let frame = GridFrame(reference: source.reference, transform: source.transform, width: source.width, height: source.height)
    let cell = source.transform.pixel(x: place.x, y: place.y)
    guard cell.column >= 0, cell.row >= 0, cell.column <= Double(source.width), cell.row <= Double(source.height) else { return nil }
    let (column, row) = (min(Int(cell.column), source.width - 1), min(Int(cell.row), source.height - 1))
    guard let metric = frame.metric(at: column, row, ground),
      let center = try? ground.transformer.transform(frame.middle(column, row), from: source.reference, to: .wgs84)
    else { return nil }
    // The farthest corner of what sources reach.
    let spans = spans(column, row, metric, maxDistance)
    guard let reached = try frame.reached(spans.columns, spans.rows, ground) else { return nil }
    let corners = [reached.columns.lowerBound, reached.columns.upperBound].flatMap { c in
      [reached.rows.lowerBound, reached.rows.upperBound].map { r in metric.column * Double(c - column) + metric.row * Double(r - row) }
    }
    let distance = min(maxDistance, corners.map { ($0 * $0).sum().squareRoot() }.max() ?? 0)
    for azimuth in distance > 0 ? Array(stride(from: 0.0, to: 360, by: 45)) : [] {
      let way = SIMD2.polar(azimuth, distance)
      let offset = metric.cells(east: way.x, north: way.y)
      let end = frame.transform.position(column: Double(column) + 0.5 + offset.columns, row: Double(row) + 0.5 + offset.rows)
      guard let point = try? ground.transformer.transform(Point(x: end.x, y: end.y), from: source.reference, to: .wgs84),
        let line = try? ground.geodesy.inverse(from: center, to: point)
      else { return nil }
      // A line that bends evenly is a quarter of what its direction is off at the end away from its chord.
      let turn = (line.startAzimuth - azimuth).remainder(dividingBy: 360) * .pi / 180
      let bend = metric.cells(east: cos(azimuth * .pi / 180) * turn * distance / 4, north: sin(azimuth * .pi / 180) * turn * distance / 4)
      guard abs(line.distance - distance) <= distanceTolerance * distance, abs(bend.columns) <= bendTolerance,
        abs(bend.rows) <= bendTolerance
      else { return nil }
    }
    return try SightGrid(frame, column, row, metric, maxDistance, isOwn: true, ground)
  }
}

/// Shapes of a grid in another reference.
struct GridShapes {
  /// Cells along a straight side between corners, where sides bend in the other reference.
  private static let longest = 16

  let frame: GridFrame
  /// Nil where the reference is the grid's.
  private let projector: GeometryProjector?
  /// By how much positions are rounded, in cells.
  let rounding: Double

  init(_ frame: GridFrame, _ reference: SpatialReference, _ ground: Ground) throws {
    self.frame = frame
    guard reference != frame.reference else {
      (projector, rounding) = (nil, frame.rounding)
      return
    }
    projector = try GeometryProjector(from: frame.reference, to: reference, ground.transformer)
    rounding = max(frame.rounding, try Self.rounding(frame, reference, ground))
  }

  /// By how much positions in a reference are rounded, in cells.
  private static func rounding(_ frame: GridFrame, _ reference: SpatialReference, _ ground: Ground) throws -> Double {
    let (column, row) = (frame.width / 2, frame.height / 2)
    let cells = [(column, row), (column + 1, row), (column, row + 1), (0, 0), (frame.width, 0), (0, frame.height), (frame.width, frame.height)]
    let places = try ground.transformer.transformEach(cells.map { frame.middle($0.0, $0.1) }, from: frame.reference, to: reference)
      .map { try? $0.get() }
    guard let middle = places[0], let right = places[1], let below = places[2] else { return .infinity }
    let (a, b, c, d) = (right.x - middle.x, below.x - middle.x, right.y - middle.y, below.y - middle.y)
    let known = places.compactMap { $0 }
    let (x, y) = (known.map { abs($0.x).ulp }.max() ?? 0, known.map { abs($0.y).ulp }.max() ?? 0)
    // What PROJ computes is off by a few units in the last place.
    return 8 * max(abs(d) * x + abs(b) * y, abs(c) * x + abs(a) * y) / abs(a * d - b * c)
  }

  /// The outlines of cells with a value.
  func polygons(_ cells: [UInt8], of value: UInt8, _ share: WorkShare) throws -> Geometry {
    let limit = share.work?.resultBytes ?? .max
    let outline = try Outline(cells, width: frame.width, of: value, longest: projector == nil ? .max : Self.longest) { count in
      try share.work?.checkCancelled()
      // A position has at least so many characters.
      guard count * 12 <= limit else { throw RPCError.resultTooLarge(limit: limit) }
    }
    var polygons: [[Positions]] = []
    for (index, rings) in outline.polygons.enumerated() {
      if index & 63 == 0 { try share.checkpoint(index, of: outline.polygons.count) }
      polygons += try area(rings.map { $0.lazy.map { SIMD2(Double($0.x), Double($0.y)) } }, share)
    }
    return Geometry.multiPolygon(polygons).withRightHandRings
  }

  /// A line of columns and rows from the outer corner of the first cell.
  func line(_ places: some Swift.Collection<SIMD2<Double>>, _ share: WorkShare) throws -> Geometry {
    try moved(.lineString(positions(places)), share)
  }

  /// An area of such columns and rows.
  func area(_ rings: [some Swift.Collection<SIMD2<Double>>], _ share: WorkShare) throws -> [[Positions]] {
    try moved(.polygon(rings.map(positions)), share).polygons
  }

  private func positions(_ places: some Swift.Collection<SIMD2<Double>>) -> Positions {
    var numbers: [Double] = []
    numbers.reserveCapacity(places.count * 2)
    for place in places {
      let position = frame.transform.position(column: place.x, row: place.y)
      numbers.append(position.x)
      numbers.append(position.y)
    }
    return Positions(values: numbers)
  }

  private func moved(_ geometry: Geometry, _ share: WorkShare) throws -> Geometry {
    guard let projector else { return geometry }
    do { return try projector.pieces(geometry, checking: { try share.work?.checkCancelled() }) } catch let error as EngineError {
      throw SpatialError(error)
    }
  }
}
