// What is seen of the ground from a place: the grid that is analysed, and its cells as polygons.

import GeoModel
import GeoProtocol
import Geometry
import JSONRPC
import Planning
import Platform
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
    guard let size = cellSize ?? ground.cellSides(of: source, at: observer).map({ min($0.x, $0.y) }) else {
      throw TransformError.noOperation(from: SpatialReference.wgs84.definition, to: source.reference.definition)
    }
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
    // The box around the circle: the rows and columns of the inverse matrix are its half axes.
    let (east, north) = (metric.cells(east: maxDistance, north: 0), metric.cells(east: 0, north: maxDistance))
    let across = (east.columns * east.columns + north.columns * north.columns).squareRoot()
    let down = (east.rows * east.rows + north.rows * north.rows).squareRoot()
    let (columns, rows) = try frame.reached(Self.span(column, across), Self.span(row, down), ground) ?? (column...column, row...row)
    guard let cut = frame.cut(columns.lowerBound..<columns.upperBound + 1, rows.lowerBound..<rows.upperBound + 1), columns.contains(column), rows.contains(row) else {
      throw RPCError.internalError("the cells of a viewshed have no size")
    }
    try cut.check(path: "/params/maxDistance")
    (self.frame, self.isOwn) = (cut, isOwn)
    (self.column, self.row, self.metric) = (column - columns.lowerBound, row - rows.lowerBound, metric)
  }

  private static func span(_ middle: Int, _ reach: Double) -> ClosedRange<Int> {
    let reach = Int(min(reach.rounded(.up), 1e12))
    return middle - reach...middle + reach
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
    for azimuth in stride(from: 0.0, to: 360, by: 45) {
      let way = SIMD2.polar(azimuth, maxDistance)
      let offset = metric.cells(east: way.x, north: way.y)
      let end = frame.transform.position(column: Double(column) + 0.5 + offset.columns, row: Double(row) + 0.5 + offset.rows)
      guard let point = try? ground.transformer.transform(Point(x: end.x, y: end.y), from: source.reference, to: .wgs84),
        let line = try? ground.geodesy.inverse(from: center, to: point)
      else { return nil }
      // A line that bends evenly is a quarter of what its direction is off at the end away from its chord.
      let turn = (line.startAzimuth - azimuth).remainder(dividingBy: 360) * .pi / 180
      let bend = metric.cells(east: cos(azimuth * .pi / 180) * turn * maxDistance / 4, north: sin(azimuth * .pi / 180) * turn * maxDistance / 4)
      guard abs(line.distance - maxDistance) <= distanceTolerance * maxDistance, abs(bend.columns) <= bendTolerance,
        abs(bend.rows) <= bendTolerance
      else { return nil }
    }
    return try SightGrid(frame, column, row, metric, maxDistance, isOwn: true, ground)
  }
}

/// Cells of a grid as polygons in another reference.
struct CellPolygons {
  /// Cells along a straight side between corners, where sides bend in the other reference.
  private static let longest = 16

  let frame: GridFrame
  let reference: SpatialReference
  /// A place in WGS 84 near the cells.
  let near: Point
  let ground: Ground

  func polygons(_ cells: [UInt8], of value: UInt8, _ share: WorkShare) throws -> Geometry {
    let isSame = reference == frame.reference
    let limit = share.work?.resultBytes ?? .max
    let outline = try Outline(cells, width: frame.width, of: value, longest: isSame ? .max : Self.longest) { count in
      try share.work?.checkCancelled()
      // A position has at least so many characters.
      guard count * 12 <= limit else { throw RPCError.resultTooLarge(limit: limit) }
    }
    let wraps = try !isSame && ground.transformer.describe(reference).kind == .geographic
    let polygons = try outline.polygons.enumerated().map { index, rings in
      if index & 63 == 0 { try share.checkpoint(index, of: outline.polygons.count) }
      return try rings.map { ring in
        var numbers: [Double] = []
        numbers.reserveCapacity(ring.count * 2)
        for corner in ring {
          let place = frame.transform.position(column: Double(corner.x), row: Double(corner.y))
          numbers.append(place.x)
          numbers.append(place.y)
        }
        let positions = Geometry.lineString(Positions(values: numbers))
        let moved = try ground.transformer.transform(positions, from: frame.reference, to: reference) { try share.work?.checkCancelled() }
        guard case .lineString(let moved) = moved else { return Positions() }
        return wraps ? try unrolled(moved) : moved
      }
    }
    return Geometry.multiPolygon(polygons).withRightHandRings
  }

  /// A ring without steps of a whole turn.
  private func unrolled(_ ring: Positions) throws -> Positions {
    var last = near.x
    var points: [Point] = []
    for point in ring.points {
      let x = point.x + ((last - point.x) / 360).rounded() * 360
      points.append(Point(x: x, y: point.y))
      last = x
    }
    guard let first = points.first, abs(last - first.x) > 1 else { return Positions(points) }
    // A ring around a pole.
    throw TransformError.outsideDomain(index: 0, from: frame.reference.definition, to: reference.definition)
  }
}
