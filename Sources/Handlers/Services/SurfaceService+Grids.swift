// Handlers of `surface/*` that analyse the ground in cells.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Planning
import Platform
import Terrain
import WireCoding

extension SurfaceService {
  package static func viewshed(
    _ params: SurfaceProtocol.Viewshed.Params, in world: inout World
  ) throws -> Plan<SurfaceProtocol.Viewshed.Result> {
    let ground = try Ground(params, in: world)
    let observer = try Wire.point(params.observer)
    let reference = try world.canonical(params.outSpatialReference) ?? ground.reference
    let bending = Bending(curvature: params.curvature, refraction: params.refraction)
    return plan { share in
      let shares = share.split(by: 6, 3, 2)
      guard let place = try ground.degrees([observer], at: nil, share).first else {
        throw RPCError.internalError("an observer without a place")
      }
      let found = try ground.heights([place], .nearest, share).sources[0]
      guard found >= 0, let source = try ground.source(at: place) else { throw RPCError.noGround(found, ground) }
      let sight = try SightGrid(place, params.maxDistance, cellSize: params.cellSize, of: source, ground)
      return try sight.frame.whenRoom(share) {
        let grid = try GroundGrid(sight.frame, ground, shares[0])
        let index = sight.row * sight.frame.width + sight.column
        let isAboveGround = params.heightBase == .ground
        // In cells of its own the observer stands in the middle of one, to which heights are interpolated.
        let standing = sight.isOwn ? Double(grid.heights[index]) : try ground.heights([place], .bilinear, share).heights[0]
        guard !standing.isNaN else { throw RPCError.noGround(GroundSamples.noData, ground) }
        let eye = params.observerHeight + (isAboveGround ? standing : 0)
        let viewshed = Terrain.Viewshed(
          width: sight.frame.width, height: sight.frame.height, column: sight.column, row: sight.row, standing: standing, eye: eye,
          target: params.targetHeight, isAboveGround: isAboveGround, maxDistance: params.maxDistance, metric: sight.metric,
          fall: (
            bending.fall(latitude: place.y, azimuth: 90), bending.fall(latitude: place.y, azimuth: 0)
          ))
        let sides = Terrain.Viewshed.Side.allCases
        let heights = grid.heights
        let cells = viewshed.joined(
          try shares[1].concurrently(sides.count) { side in
            try viewshed.scan(sides[side], heights) { try share.work?.checkCancelled() }
          })
        let visible = cells.count { $0 == Terrain.Viewshed.Cell.visible }
        let middle = sight.frame.middle(sight.column, sight.row)
        let at = try ground.transformer.transform(middle, from: sight.frame.reference, to: reference)
        var result = SurfaceProtocol.Viewshed.Result(
          revision: ground.revision, spatialReference: reference.definition,
          observer: Wire.opaque(.point(Point(x: at.x, y: at.y, z: eye))), curvature: params.curvature, refraction: params.refraction,
          visibleCells: visible, hiddenCells: cells.count { $0 == Terrain.Viewshed.Cell.hidden },
          visibleArea: Double(visible) * sight.metric.cellArea, sources: try ground.sources(grid.sources))
        switch params.output {
        case .polygons:
          result.geometry = Wire.opaque(
            try GridShapes(sight.frame, reference, ground).polygons(cells, of: Terrain.Viewshed.Cell.visible, shares[2]))
        case .cells: result.cells = GridCells.wire(sight.frame, cells)
        }
        return result
      }
    }
  }
}

extension SurfaceService {
  /// Pieces of contour lines: they take as long as so many cells.
  private static let pieceLimit = 1 << 24

  package static func contours(
    _ params: SurfaceProtocol.Contours.Params, in world: inout World
  ) throws -> Plan<SurfaceProtocol.Contours.Result> {
    let ground = try Ground(params, in: world)
    let reference = try world.canonical(params.outSpatialReference) ?? ground.reference
    guard (params.interval == nil) != (params.levels == nil) else { throw ModelError.oneOf(["interval", "levels"]) }
    if let levels = params.levels, let index = levels.indices.dropFirst().first(where: { levels[$0] <= levels[$0 - 1] }) {
      throw RPCError(
        .invalidParams, "The levels do not ascend.", path: "/params/levels/\(index)", expected: "a number above \(levels[index - 1].jsonText)")
    }
    let wantsParts = params.wantsParts
    @Sendable func features(_ share: WorkShare) throws -> (FeatureTexts, SurfaceProtocol.Contours.Result) {
      let shares = share.split(by: 2, 3)
      let frame = try GridFrame.area(params, ground).frame
      return try frame.whenRoom(share) {
        let grid = try GroundGrid(frame, ground, shares[0])
        let levels = try params.levels ?? levels(of: grid.heights, params.interval ?? 1, params.base)
        let texts = try ContourFeatures(shapes: try GridShapes(grid.frame, reference, ground), levels: levels)
          .texts(
            grid.heights, params.output, isStreamed: wantsParts, limit: pieceLimit,
            at: params.levels == nil ? "/params/interval" : "/params/levels", shares[1])
        let result = SurfaceProtocol.Contours.Result(
          type: .featureCollection, revision: ground.revision, spatialReference: reference.definition, count: texts.count,
          sources: try ground.sources(grid.sources))
        return (texts, result)
      }
    }
    guard wantsParts else {
      return plan { share in
        var (texts, result) = try features(share)
        let text = texts.all
        result.features = .written { writer in text.withUnsafeBytes { writer.raw($0) } }
        return result
      }
    }
    return TaskPlan(.readRaster, parts: { worker in
      let (texts, result) = try features(WorkShare(worker.work))
      return texts.next(revision: ground.revision, reference: reference, result)
    })
  }

  /// The levels that heights reach.
  private static func levels(of heights: [Float], _ interval: Double, _ base: Double) throws -> [Double] {
    var (low, high) = (Float.infinity, -Float.infinity)
    heights.withUnsafeBufferPointer { for height in $0 { (low, high) = (min(low, height.isNaN ? low : height), max(high, height.isNaN ? high : height)) } }
    guard low <= high else { return [] }
    let (first, last) = (((Double(low) - base) / interval).rounded(.up), ((Double(high) - base) / interval).rounded(.down))
    // The least intervals divide heights into more levels than there are numbers.
    let count = first.isFinite && last.isFinite ? last - first + 1 : .infinity
    guard count <= Double(Terrain.Contours.levelLimit) else {
      throw RPCError.surfaceTooLarge(
        count, limit: Terrain.Contours.levelLimit, "There would be \(Int(min(count, 9e15))) levels.", path: "/params/interval")
    }
    // Levels that are too near to each other to differ are one.
    var before = -Double.infinity
    return (0..<max(Int(count), 0)).compactMap { index in
      let level = base + (first + Double(index)) * interval
      defer { before = level }
      return level > before ? level : nil
    }
  }

  package static func slope(
    _ params: SurfaceProtocol.Slope.Params, in world: inout World
  ) throws -> Plan<SurfaceProtocol.Slope.Result> {
    let ground = try Ground(params, in: world)
    let points = try params.points.map { try Wire.point($0) }
    return plan { share in
      let places = try ground.degrees(points, at: "/params/points", share)
      let numbers = try ground.heights(places, .nearest, share).sources
      var (heights, slopes, aspects) = (
        [Double](repeating: .nan, count: places.count), [Double](repeating: .nan, count: places.count),
        [Double](repeating: .nan, count: places.count)
      )
      let used = Set(numbers.lazy.filter { $0 >= 0 })
      for number in used {
        guard let source = ground.surface.elevationSources[number].loaded else { continue }
        let frame = GridFrame(reference: source.reference, transform: source.transform, width: source.width, height: source.height)
        let own = places.indices.filter { numbers[$0] == number }
        for start in stride(from: 0, to: own.count, by: 4096) {
          try share.checkpoint(start, of: own.count)
          let some = own[start..<min(start + 4096, own.count)]
          let cells = try frame.cells(at: some.map { places[$0] }, ground)
          let around = cells.flatMap { cell in (-1...1).flatMap { row in (-1...1).map { frame.middle(cell.column + $0, cell.row + row) } } }
          let found = try ground.heights(around, in: source.reference, .nearest, share).heights
          for (position, (index, cell)) in zip(some, cells).enumerated() {
            heights[index] = found[position * 9 + 4]
            guard let metric = frame.metric(at: cell.column, cell.row, ground) else { continue }
            let gradient = Gradient(found[position * 9..<position * 9 + 9], metric, .init(params.method))
            (slopes[index], aspects[index]) = (gradient.slope, gradient.aspect)
          }
        }
      }
      let order = Dictionary(uniqueKeysWithValues: used.sorted().enumerated().map { ($1, $0) })
      return .init(
        revision: ground.revision, elevation: PackedColumn.short(heights), slope: PackedColumn.short(slopes),
        aspect: PackedColumn.short(aspects), source: PackedColumn.short(numbers.map { order[$0] ?? $0 }),
        sources: try ground.sources(used))
    }
  }

  package static func cells(
    _ params: SurfaceProtocol.Cells.Params, in world: inout World
  ) throws -> Plan<SurfaceProtocol.Cells.Result> {
    let ground = try Ground(params, in: world)
    return plan { share in
      let shares = share.split(by: 2, 3)
      let area = try GridFrame.area(params, ground)
      return try area.frame.whenRoom(share) {
        let grid = try GroundGrid(area.frame, ground, shares[0])
        var result = SurfaceProtocol.Cells.Result(revision: ground.revision, sources: try ground.sources(grid.sources))
        guard let frame = area.frame.cut(area.columns, area.rows) else { return result }
        let values = try GroundCells(grid: grid, columns: area.columns, rows: area.rows, ground: ground, method: .init(params.method))
          .values(params, shares[1])
        result.statistics = try statistics(values, isAngle: params.quantity == .aspect, share)
        if params.returnCells {
          // In base64 four characters are three bytes.
          let bytes = values.count * (params.quantity == .hillshade ? 1 : 4) / 3 * 4
          if let limit = share.work?.resultBytes, bytes > limit { throw RPCError.resultTooLarge(limit: limit) }
          result.cells =
            params.quantity == .hillshade
            ? GridCells.wire(frame, values.map { $0.isNaN ? 0 : UInt8($0) }) : GridCells.wire(frame, values)
        }
        return result
      }
    }
  }

  private static func statistics(_ values: [Float], isAngle: Bool, _ share: WorkShare) throws -> SurfaceProtocol.CellStatistics? {
    var (count, low, high, sum, sine, cosine) = (0, Double.infinity, -Double.infinity, 0.0, 0.0, 0.0)
    for (index, value) in values.enumerated() {
      if index & 65535 == 0 { try share.work?.checkCancelled() }
      guard !value.isNaN else { continue }
      let number = Double(value)
      count += 1
      (low, high, sum) = (min(low, number), max(high, number), sum + number)
      if isAngle { (sine, cosine) = (sine + sin(number * .pi / 180), cosine + cos(number * .pi / 180)) }
    }
    guard count > 0 else { return nil }
    let mean = sum / Double(count)
    var squares = 0.0
    for (index, value) in values.enumerated() {
      if index & 65535 == 0 { try share.work?.checkCancelled() }
      if !value.isNaN { squares += (Double(value) - mean) * (Double(value) - mean) }
    }
    let direction = atan2(sine, cosine) * 180 / .pi
    return .init(
      count: count, min: low, max: high, mean: isAngle ? (direction < 0 ? direction + 360 : direction) : mean,
      standardDeviation: (squares / Double(count)).squareRoot())
  }
}

enum GridCells {
  static func wire(_ frame: GridFrame, _ cells: [Float]) -> SurfaceProtocol.GridCells {
    let words = 1.littleEndian == 1 ? cells.map(\.bitPattern) : cells.map(\.bitPattern.littleEndian)
    return words.withUnsafeBytes { wire(frame, .float32, $0) }
  }

  static func wire(_ frame: GridFrame, _ cells: [UInt8]) -> SurfaceProtocol.GridCells {
    cells.withUnsafeBytes { wire(frame, .uint8, $0) }
  }

  private static func wire(
    _ frame: GridFrame, _ type: SurfaceProtocol.CellType, _ bytes: UnsafeRawBufferPointer
  ) -> SurfaceProtocol.GridCells {
    .init(
      spatialReference: frame.reference.definition, transform: frame.transform.numbers, width: frame.width, height: frame.height,
      type: type, data: String(decoding: Base64.encode(bytes), as: UTF8.self))
  }
}

extension RPCError {
  /// The ground has no height at the observer.
  static func noGround(_ found: Int, _ ground: Ground) -> RPCError {
    let failed = ground.surface.elevationSources.first { $0.failure != nil }
    let reason = found == GroundSamples.noData ? "no source has a value there" : "no source covers it"
    let text = found == GroundSamples.notLoaded ? "the source \"\(failed?.id ?? "")\" is not loaded" : reason
    return RPCError(.noGround, "The ground has no height at the observer: \(text).", path: "/params/observer")
  }
}
