// The ground as one grid of cells, made of the sources by precedence.

import GeoModel
import GeoProtocol
import Geometry
import JSONRPC
import Planning
import Platform
import Synchronization
import Terrain
import WireCoding

/// Where the cells of a grid lie.
struct GridFrame {
  static let maximumCells = 1 << 24

  let reference: SpatialReference
  let transform: RasterTransform
  let width: Int
  let height: Int

  /// By how much positions are rounded, in cells.
  var rounding: Double {
    let extent = transform.extent(width: width, height: height)
    let farthest = [extent.xMin, extent.yMin, extent.xMax, extent.yMax].lazy.map(abs).max() ?? 0
    return farthest.ulp / min(transform.resolution.x, transform.resolution.y)
  }

  /// The middle of a cell.
  func middle(_ column: Int, _ row: Int) -> Point {
    let place = transform.position(column: Double(column) + 0.5, row: Double(row) + 0.5)
    return Point(x: place.x, y: place.y)
  }

  /// The grid with fewer or more columns and rows, whose first cell is one of this or beside it.
  func cut(_ columns: Range<Int>, _ rows: Range<Int>) -> GridFrame? {
    let origin = transform.position(column: Double(columns.lowerBound), row: Double(rows.lowerBound))
    let numbers = [
      origin.x, transform.xPerColumn, transform.xPerRow, origin.y, transform.yPerColumn, transform.yPerRow,
    ]
    return RasterTransform(numbers).map {
      GridFrame(reference: reference, transform: $0, width: columns.count, height: rows.count)
    }
  }

  /// The columns and rows of this grid, continued without end, that an extent reaches.
  func cells(of extent: Envelope) -> (columns: ClosedRange<Double>, rows: ClosedRange<Double>) {
    let corners = [(extent.xMin, extent.yMin), (extent.xMin, extent.yMax), (extent.xMax, extent.yMin), (extent.xMax, extent.yMax)]
      .map { transform.pixel(x: $0.0, y: $0.1) }
    func range(_ numbers: [Double]) -> ClosedRange<Double> {
      let (low, high) = (numbers.min() ?? 0, numbers.max() ?? 0)
      return max(low, -1e15)...min(max(low, high), 1e15)
    }
    return (range(corners.map(\.column)), range(corners.map(\.row)))
  }

  /// The part of a range of cells of this grid, continued without end, that sources reach; nil when none does.
  func reached(
    _ columns: ClosedRange<Int>, _ rows: ClosedRange<Int>, _ ground: Ground
  ) throws -> (columns: ClosedRange<Int>, rows: ClosedRange<Int>)? {
    let turn = WorldWrap(try ground.transformer.describe(reference), ground.transformer)?.width
    var found: (columns: ClosedRange<Int>, rows: ClosedRange<Int>)?
    for source in ground.sources {
      // A source without bounds in this reference may reach anything.
      guard var extent = try? ground.transformer.bounds(of: source.extent, from: source.reference, to: reference) else {
        return (columns, rows)
      }
      if extent.xMax < extent.xMin { extent.xMax += turn ?? 0 }
      for shift in turn.map({ [0, $0, -$0] }) ?? [0] {
        let cells = cells(of: extent.moved(byX: shift))
        let (c, r) = (Self.whole(cells.columns), Self.whole(cells.rows))
        guard c.overlaps(columns), r.overlaps(rows) else { continue }
        let (left, right) = (c.clamped(to: columns), found?.columns ?? c.clamped(to: columns))
        let (top, bottom) = (r.clamped(to: rows), found?.rows ?? r.clamped(to: rows))
        found = (
          min(left.lowerBound, right.lowerBound)...max(left.upperBound, right.upperBound),
          min(top.lowerBound, bottom.lowerBound)...max(top.upperBound, bottom.upperBound)
        )
      }
    }
    return found
  }

  /// The cells that a range of columns or rows touches.
  static func whole(_ range: ClosedRange<Double>) -> ClosedRange<Int> {
    // Edges of areas are often edges of cells, but for rounding.
    let low = Int((range.lowerBound + 1e-6).rounded(.down))
    return low...max(low, Int((range.upperBound - 1e-6).rounded(.up)) - 1)
  }

  /// The cells of the first source that an area reaches, with those around it.
  ///
  /// - Returns: also the area's cells within the frame.
  static func area(
    _ options: some SurfaceProtocol.GroundArea, _ ground: Ground
  ) throws -> (frame: GridFrame, columns: Range<Int>, rows: Range<Int>) {
    for source in ground.sources {
      let step = Double(options.coarsen)
      let (t, wrap) = (source.transform, WorldWrap(try ground.transformer.describe(source.reference), ground.transformer))
      guard
        let transform = RasterTransform([
          t.xOrigin, t.xPerColumn * step, t.xPerRow * step, t.yOrigin, t.yPerColumn * step, t.yPerRow * step,
        ]), let extent = try area(options, source, wrap, ground)
      else { continue }
      let whole = GridFrame(reference: source.reference, transform: transform, width: source.width, height: source.height)
      // Around turned cells the extent has many more.
      let cells = options.envelope == nil
        ? (columns: 0...Double(source.width) / step, rows: 0...Double(source.height) / step) : whole.cells(of: extent)
      guard let (columns, rows) = try whole.reached(Self.whole(cells.columns), Self.whole(cells.rows), ground) else { continue }
      guard
        let frame = whole.cut(columns.lowerBound - 1..<columns.upperBound + 2, rows.lowerBound - 1..<rows.upperBound + 2)
      else { continue }
      try frame.check(path: options.envelope == nil ? "/params/coarsen" : "/params/envelope")
      return (frame, 1..<frame.width - 1, 1..<frame.height - 1)
    }
    throw RPCError(
      .noGround, "No elevation source reaches the area.", path: options.envelope == nil ? "/params/scene" : "/params/envelope")
  }

  /// The area in the reference of a source, in the turn in which they meet; nil when they do not.
  private static func area(
    _ options: some SurfaceProtocol.GroundArea, _ source: any ElevationSource, _ wrap: WorldWrap?, _ ground: Ground
  ) throws -> Envelope? {
    guard var box = options.envelope.map(Wire.envelope) else { return source.extent }
    if box.xMin > box.xMax, let own = WorldWrap(try ground.transformer.describe(ground.reference), ground.transformer) { box.xMax += own.width }
    guard box.xMin <= box.xMax, box.yMin <= box.yMax else {
      throw RPCError(.invalidParams, "The envelope has no area.", path: "/params/envelope", expected: "yMin <= yMax, and xMin <= xMax")
    }
    // An area that has no bounds in the reference of a source is beyond it.
    guard var moved = try? ground.transformer.bounds(of: box, from: ground.reference, to: source.reference) else { return nil }
    if moved.xMax < moved.xMin { moved.xMax += wrap?.width ?? 0 }
    let turns: [Double] = wrap.map { [0, $0.width, -$0.width] } ?? [0]
    return turns.lazy.map { moved.moved(byX: $0) }.first { $0.intersects(source.extent) }
  }

  func check(path: String) throws {
    let cells = Double(width) * Double(height)
    guard cells <= Double(Self.maximumCells) else {
      throw RPCError.surfaceTooLarge(
        cells, limit: Self.maximumCells, "The grid would have \(width) x \(height) cells.", path: path)
    }
  }

  /// The steps of the grid around a cell; nil where it has no longitude and latitude.
  func metric(at column: Int, _ row: Int, _ ground: Ground) -> CellMetric? {
    let middle = middle(column, row)
    guard let center = try? ground.transformer.transform(middle, from: reference, to: .wgs84) else { return nil }
    // Away from a pole or an edge of the reference in either direction.
    func step(_ dx: Double, _ dy: Double) -> SIMD2<Double>? {
      for sign in [1.0, -1] {
        let next = Point(x: middle.x + sign * dx, y: middle.y + sign * dy)
        guard let other = try? ground.transformer.transform(next, from: reference, to: .wgs84),
          let line = try? ground.geodesy.inverse(from: center, to: other), line.distance > 0
        else { continue }
        return SIMD2.polar(line.startAzimuth, sign * line.distance)
      }
      return nil
    }
    guard let column = step(transform.xPerColumn, transform.yPerColumn), let row = step(transform.xPerRow, transform.yPerRow)
    else { return nil }
    let metric = CellMetric(column: column, row: row)
    return metric.cellArea > 0 ? metric : nil
  }
}

extension SIMD2<Double> {
  /// East and north of a distance along an azimuth in degrees.
  static func polar(_ azimuth: Double, _ distance: Double) -> SIMD2<Double> {
    SIMD2(distance * sin(azimuth * .pi / 180), distance * cos(azimuth * .pi / 180))
  }
}

/// Analyses of large grids that take memory at the same time.
private let largeGrids = Mutex(0)

extension GridFrame {
  /// Of grids with more cells, so many are analysed at once; others wait.
  private static let largeCount = 1 << 20
  private static let largeAtOnce = 2

  /// Runs an analysis of the grid when there is room for it.
  func whenRoom<Result>(_ share: WorkShare, _ body: () throws -> Result) throws -> Result {
    guard width * height > Self.largeCount else { return try body() }
    try waitUntilFree(checking: { try share.work?.checkCancelled() }) {
      largeGrids.withLock { count -> Void? in count < Self.largeAtOnce ? count += 1 : nil }
    }
    defer { largeGrids.withLock { $0 -= 1 } }
    return try body()
  }
}

/// Heights of the ground in the cells of a grid.
struct GroundGrid {
  /// Cells of a block in which coordinates are interpolated between its corners.
  private static let block = 16
  /// How far such coordinates may be off in the middle of a block, in cells of the source.
  private static let tolerance = 0.005

  let frame: GridFrame
  /// Row by row; NaN without a height.
  private(set) var heights: [Float]
  /// The sources that cells are of.
  private(set) var sources: Set<Int> = []

  /// - Complexity: O(n) in cells for a source whose cells are the grid's; a source of other cells is sampled at the middles of the grid's.
  init(_ frame: GridFrame, _ ground: Ground, _ share: WorkShare) throws {
    self.frame = frame
    heights = Array(repeating: .nan, count: frame.width * frame.height)
    let loaded = (ground.surface.isEnabled ? ground.surface.elevationSources : []).enumerated().compactMap { number, source in
      source.loaded.map { (number, $0) }
    }
    let shares = share.split(by: loaded.map { _ in 1 })
    for ((number, source), share) in zip(loaded, shares) {
      try share.checkpoint(0)
      guard heights.contains(where: \.isNaN) else { break }
      let before = ground.verticalReference == nil ? [] : heights
      guard try copy(source, ground, share) ?? sample(source, ground, share) else { continue }
      sources.insert(number)
      if !before.isEmpty { try convert(source, before, ground, share) }
    }
    if ground.stopsAtNoData {
      for index in heights.indices where heights[index] == -.infinity { heights[index] = .nan }
    }
  }

  /// Converts the heights that a source has added.
  private mutating func convert(_ source: any ElevationSource, _ before: [Float], _ ground: Ground, _ share: WorkShare) throws {
    // Differences change little over 32 km.
    let metric = frame.metric(at: frame.width / 2, frame.height / 2, ground)
    let side = metric.map { max(($0.column * $0.column).sum(), ($0.row * $0.row).sum()).squareRoot() } ?? 0
    let block = max(1, min(Self.block, Int(32_000 / max(side, 1))))
    func nodes(_ count: Int) -> [Int] { Array(stride(from: 0, to: count - 1, by: block)) + [count - 1] }
    let (columns, rows) = (nodes(frame.width), nodes(frame.height))
    var above: [Double?] = []
    for (index, row) in rows.enumerated() {
      try share.work?.checkCancelled()
      let places = try ground.transformer.transformEach(columns.map { frame.middle($0, row) }, from: frame.reference, to: .wgs84)
        .map { try? $0.get() }
      let known = places.indices.filter { places[$0] != nil }
      var below = [Double?](repeating: nil, count: places.count)
      for (index, difference) in zip(known, try Self.differences(known.compactMap { places[$0] }[...], source, ground, share)) {
        below[index] = difference
      }
      let (first, last) = (index == 0 ? row : rows[index - 1] + 1, row)
      for row in first...last {
        let v = index == 0 ? 0 : Double(row - rows[index - 1]) / Double(last - rows[index - 1])
        for column in 0..<frame.width where before[row * frame.width + column].isNaN && heights[row * frame.width + column].isFinite {
          let node = min(column / block, columns.count - 1)
          let next = min(node + 1, columns.count - 1)
          let u = next == node ? 0 : Double(column - columns[node]) / Double(columns[next] - columns[node])
          let top = index == 0 ? below : above
          guard let a = top[node], let b = top[next], let c = below[node], let d = below[next] else {
            heights[row * frame.width + column] = .nan
            continue
          }
          heights[row * frame.width + column] += Float((1 - v) * ((1 - u) * a + u * b) + v * ((1 - u) * c + u * d))
        }
      }
      above = below
    }
  }

  /// What is added to heights at places in WGS 84: nothing beyond the earth or the grid, nor in the cells around.
  private static func differences(
    _ places: ArraySlice<Point>, _ source: any ElevationSource, _ ground: Ground, _ share: WorkShare
  ) throws -> [Double?] {
    try share.work?.checkCancelled()
    do { return try ground.converted(Array(repeating: 0, count: places.count), at: Array(places), of: source) } catch TransformError.outsideDomain {
      guard places.count > 1 else { return [nil] }
      let half = places.count / 2
      return try differences(places.prefix(half), source, ground, share) + differences(places.dropFirst(half), source, ground, share)
    }
  }

  /// Copies the cells of a source that are cells of the grid.
  ///
  /// - Returns: whether there were any; nil if its cells are others.
  private mutating func copy(_ source: any ElevationSource, _ ground: Ground, _ share: WorkShare) throws -> Bool? {
    let (own, theirs) = (frame.transform, source.transform)
    guard source.reference == frame.reference else { return nil }
    func isSame(_ a: Double, _ b: Double, _ size: Double, _ count: Int) -> Bool { abs(a - b) * Double(count) <= size * 1e-3 }
    let cell = own.resolution
    let size = min(cell.x, cell.y)
    guard
      isSame(own.xPerColumn, theirs.xPerColumn, size, frame.width), isSame(own.yPerColumn, theirs.yPerColumn, size, frame.width),
      isSame(own.xPerRow, theirs.xPerRow, size, frame.height), isSame(own.yPerRow, theirs.yPerRow, size, frame.height)
    else { return nil }
    var isUsed = false
    let turn = WorldWrap(try ground.transformer.describe(source.reference), ground.transformer)?.width
    for shift in turn.map({ [0, $0, -$0] }) ?? [0] {
      let place = own.pixel(x: theirs.xOrigin + shift, y: theirs.yOrigin)
      let (column, row) = (place.column.rounded(), place.row.rounded())
      // Beyond the grid in any case.
      guard abs(column) < 1e9, abs(row) < 1e9 else { continue }
      let columns = max(Int(column), 0)..<max(min(Int(column) + source.width, frame.width), max(Int(column), 0))
      let rows = max(Int(row), 0)..<max(min(Int(row) + source.height, frame.height), max(Int(row), 0))
      guard !columns.isEmpty, !rows.isEmpty else { continue }
      guard abs(place.column - column) <= 1e-3, abs(place.row - row) <= 1e-3 else { return nil }
      // As many rows as tiles have, so that each tile is read once.
      var first = rows.lowerBound
      while first < rows.upperBound {
        try share.checkpoint(first - rows.lowerBound, of: rows.count)
        let begin = first - Int(row)
        let count = min(256 - begin % 256, rows.upperBound - first)
        let window = RasterWindow(column: columns.lowerBound - Int(column), row: begin, width: columns.count, height: count)
        let work = share.work
        let cells = try source.cells(window) { work?.isCancelled ?? false }
        isUsed = merge(cells, columns, first, count, ground.stopsAtNoData) || isUsed
        first += count
      }
    }
    return isUsed
  }

  private mutating func merge(_ cells: [Float], _ columns: Range<Int>, _ first: Int, _ count: Int, _ stopsAtNoData: Bool) -> Bool {
    var isUsed = false
    heights.withUnsafeMutableBufferPointer { heights in
      for row in 0..<count {
        let (target, source) = ((first + row) * frame.width + columns.lowerBound, row * columns.count)
        for column in 0..<columns.count where heights[target + column].isNaN {
          let height = cells[source + column]
          if !height.isNaN {
            heights[target + column] = height
            isUsed = true
          } else if stopsAtNoData {
            heights[target + column] = -.infinity
          }
        }
      }
    }
    return isUsed
  }

  /// Samples a source at the middles of cells that have no height yet.
  private mutating func sample(_ source: any ElevationSource, _ ground: Ground, _ share: WorkShare) throws -> Bool {
    let wrap = WorldWrap(try ground.transformer.describe(source.reference), ground.transformer)
    var isUsed = false
    for row in stride(from: 0, to: frame.height, by: Self.block) {
      try share.checkpoint(row, of: frame.height)
      let rows = row..<min(row + Self.block, frame.height)
      var (cells, points) = ([Int](), [Point]())
      for column in stride(from: 0, to: frame.width, by: Self.block) {
        try share.work?.checkCancelled()
        let columns = column..<min(column + Self.block, frame.width)
        var open: [Int] = []
        for row in rows { for column in columns where heights[row * frame.width + column].isNaN { open.append(row * frame.width + column) } }
        guard !open.isEmpty else { continue }
        for (cell, place) in zip(open, try places(open, columns, rows, source, ground)) {
          guard let place else { continue }
          cells.append(cell)
          points.append(wrap?.turned(place, into: source.extent) ?? place)
        }
      }
      let work = share.work
      let samples = try source.sample(points, interpolation: .bilinear, onlyKept: false) { work?.isCancelled ?? false }
      for (cell, sample) in zip(cells, samples ?? []) {
        switch sample {
        case .value(let height):
          heights[cell] = Float(height)
          isUsed = true
        case .noData: if ground.stopsAtNoData { heights[cell] = -.infinity }
        case .outside: break
        }
      }
    }
    return isUsed
  }

  /// The middles of cells of a block in the reference of a source; nil where they have no coordinates there.
  private func places(
    _ open: [Int], _ columns: Range<Int>, _ rows: Range<Int>, _ source: any ElevationSource, _ ground: Ground
  ) throws -> [Point?] {
    func exact(_ points: [Point]) throws -> [Point?] {
      guard source.reference != frame.reference else { return points }
      return try ground.transformer.transformEach(points, from: frame.reference, to: source.reference).map { try? $0.get() }
    }
    let (right, bottom) = (columns.upperBound - 1, rows.upperBound - 1)
    let (left, top) = (columns.lowerBound, rows.lowerBound)
    func middle(_ cell: Int) -> Point { frame.middle(cell % frame.width, cell / frame.width) }
    guard open.count > 16, right > left, bottom > top, source.reference != frame.reference else { return try exact(open.map(middle)) }
    // The middles of the corner cells, and of the block.
    let center = frame.transform.position(column: Double(left + right + 1) / 2, row: Double(top + bottom + 1) / 2)
    let known = try exact(
      [(left, top), (right, top), (left, bottom), (right, bottom)].map { frame.middle($0.0, $0.1) } + [Point(x: center.x, y: center.y)])
    guard let a = known[0], let b = known[1], let c = known[2], let d = known[3], let e = known[4] else { return try exact(open.map(middle)) }
    func between(_ u: Double, _ v: Double) -> Point {
      let (p, q, r, s) = ((1 - u) * (1 - v), u * (1 - v), (1 - u) * v, u * v)
      return Point(x: p * a.x + q * b.x + r * c.x + s * d.x, y: p * a.y + q * b.y + r * c.y + s * d.y)
    }
    let guess = between(0.5, 0.5)
    let (near, far) = (source.transform.pixel(x: guess.x, y: guess.y), source.transform.pixel(x: e.x, y: e.y))
    guard abs(near.column - far.column) <= Self.tolerance, abs(near.row - far.row) <= Self.tolerance else { return try exact(open.map(middle)) }
    return open.map { cell in
      between(Double(cell % frame.width - left) / Double(right - left), Double(cell / frame.width - top) / Double(bottom - top))
    }
  }
}
