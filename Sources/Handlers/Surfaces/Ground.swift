// The ground of a scene as an analysis sees it: heights at places in WGS 84, and what is said of the sources.

import GeoModel
import GeoProtocol
import Geometry
import JSONRPC
import Planning
import WireCoding

/// The ground of a scene at one revision.
struct Ground: Sendable {
  /// Points for which sources are asked at once.
  private static let pointsAtOnce = 1 << 17

  let surface: BaseSurface
  /// The reference of the coordinates in the request.
  let reference: SpatialReference
  let stopsAtNoData: Bool
  /// What heights are converted to; nil for those of the files.
  let verticalReference: SpatialReference?
  let assumedVerticalReference: SpatialReference?
  let transformer: any CoordinateTransformer
  let geodesy: any Geodesy
  let revision: Int

  init(_ options: some SurfaceProtocol.GroundOptions, in world: World) throws {
    surface = try world.scenes.require(ID(options.scene)).surface
    reference = try world.canonical(options.spatialReference) ?? .wgs84
    stopsAtNoData = options.stopAtNoData
    verticalReference = try world.canonical(options.verticalReference)
    assumedVerticalReference = try world.canonical(options.assumedVerticalReference)
    (transformer, geodesy, revision) = (world.transformer, world.geodesy, world.revision)
  }

  /// The loaded sources, by precedence.
  var sources: [any ElevationSource] { surface.isEnabled ? surface.elevationSources.compactMap(\.loaded) : [] }

  /// The heights at points in WGS 84.
  ///
  /// - Parameter body: gets the heights of some of the points, and the index of the first.
  func sample(
    _ points: [Point], _ interpolation: Interpolation, _ share: WorkShare, _ body: (GroundSamples, Int) throws -> Void
  ) throws {
    for start in stride(from: 0, to: points.count, by: Self.pointsAtOnce) {
      try share.checkpoint(start, of: points.count)
      try body(try heights(Array(points[start..<min(start + Self.pointsAtOnce, points.count)]), interpolation, share), start)
    }
  }

  /// The heights at points, in WGS 84 unless another reference is given.
  func heights(
    _ points: [Point], in reference: SpatialReference = .wgs84, _ interpolation: Interpolation, _ share: WorkShare
  ) throws -> GroundSamples {
    let work = share.work
    let samples = try surface.samples(
      at: points, reference: reference, interpolation: interpolation, stopsAtNoData: stopsAtNoData, transformer: transformer,
      isCancelled: { work?.isCancelled ?? false })
    try work?.checkCancelled()
    guard var samples else { throw RPCError.internalError("an elevation source has read nothing") }
    for number in verticalReference == nil ? [] : Set(samples.sources).filter({ $0 >= 0 }) {
      guard let source = surface.elevationSources[number].loaded else { continue }
      let own = samples.sources.indices.filter { samples.sources[$0] == number }
      let places = try transformed(.multiPoint(Positions(own.map { points[$0] })), from: reference, to: .wgs84, share)
      let heights = try converted(own.map { samples.heights[$0] }, at: places, of: source)
      for (index, height) in zip(own, heights) { samples.heights[index] = height }
    }
    return samples
  }

  /// Heights of a source in the vertical reference that was requested.
  ///
  /// - Parameter places: in WGS 84.
  func converted(_ heights: [Double], at places: [Point], of source: any ElevationSource) throws -> [Double] {
    guard let verticalReference else { return heights }
    var heights = heights
    let isKnown = try transformer.describe(source.reference).heightDatum != .unknown
    try transformer.convertHeights(
      &heights, at: places, from: isKnown ? source.reference : assumedVerticalReference ?? source.reference, to: verticalReference)
    return heights
  }

  /// Converts points of the request to WGS 84.
  ///
  /// - Parameter path: the pointer of a list of points; nil for the positions of one geometry.
  func degrees(_ points: [Point], at path: String? = nil, _ share: WorkShare) throws -> [Point] {
    let flat = Geometry.multiPoint(Positions(points.map { Point(x: $0.x, y: $0.y) }))
    do {
      let places = try transformed(flat, from: reference, to: .wgs84, share)
      if let index = places.firstIndex(where: { abs($0.y) > 90 }) {
        throw TransformError.outsideDomain(
          index: index, from: reference.definition, to: SpatialReference.wgs84.definition, latitude: places[index].y)
      }
      return places
    } catch let error as TransformError {
      var wire = RPCError(error)
      if let path, case .outsideDomain(let index, _, _, _) = error { wire.path = "\(path)/\(index)" }
      throw path == nil ? error : wire
    }
  }

  /// Converts points in WGS 84 to the reference of the request.
  func given(_ points: [Point], _ share: WorkShare) throws -> [Point] {
    guard !points.isEmpty else { return [] }
    return try transformed(.multiPoint(Positions(points)), from: .wgs84, to: reference, share)
  }

  /// Converts a line in WGS 84 to the reference of the request, where it goes on beyond the edge of the world as it does in WGS 84.
  func given(line points: [Point], _ share: WorkShare) throws -> [Point] {
    guard reference != .wgs84 else { return points }
    let line = try GeometryProjector(from: .wgs84, to: reference, transformer)
      .unbroken(.lineString(Positions(points))) { try share.work?.checkCancelled() }
    guard case .lineString(let positions) = line.geometry else { return [] }
    return positions.points
  }

  private func transformed(
    _ points: Geometry, from source: SpatialReference, to target: SpatialReference, _ share: WorkShare
  ) throws -> [Point] {
    let moved = try transformer.transform(points, from: source, to: target) { try share.work?.checkCancelled() }
    guard case .multiPoint(let positions) = moved else { return [] }
    return positions.points
  }

  /// The shorter side of a source's cell at a point in WGS 84, in metres; nil where that is not known.
  func cellSide(of source: any ElevationSource, at point: Point) -> Double? {
    guard let center = try? transformer.transform(point, from: .wgs84, to: source.reference) else { return nil }
    let step = source.transform
    // At a pole one of the directions leads nowhere.
    let steps = [(step.xPerColumn, step.yPerColumn), (step.xPerRow, step.yPerRow), (-step.xPerRow, -step.yPerRow)]
    return steps.compactMap { dx, dy in
      guard let other = try? transformer.transform(Point(x: center.x + dx, y: center.y + dy), from: source.reference, to: .wgs84),
        let line = try? geodesy.inverse(from: point, to: other), line.distance > 1e-3
      else { return nil }
      return line.distance
    }.min()
  }

  /// The first source that covers a point in WGS 84, with or without a value there.
  func source(at point: Point) throws -> (any ElevationSource)? {
    try sources.first { source in
      let wrap = WorldWrap(try transformer.describe(source.reference), transformer)
      guard let place = try? transformer.transform(point, from: .wgs84, to: source.reference) else { return false }
      let turned = wrap?.turned(place, into: source.extent) ?? place
      let pixel = source.transform.pixel(x: turned.x, y: turned.y)
      return pixel.column >= 0 && pixel.row >= 0 && pixel.column <= Double(source.width) && pixel.row <= Double(source.height)
    }
  }

  /// The sources of these indexes, by precedence.
  func sources(_ numbers: Set<Int>) throws -> [SurfaceProtocol.GroundSource] {
    try numbers.sorted().compactMap { number in
      guard let source = surface.elevationSources[number].loaded else { return nil }
      let info = try transformer.describe(source.reference)
      return SurfaceProtocol.GroundSource(
        id: surface.elevationSources[number].id, spatialReference: source.reference.definition, resolution: source.resolution,
        verticalUnit: .metre, heightsAbove: info.heightDatum.wire, verticalReference: info.verticalName)
    }
  }
}

extension RPCError {
  static func surfaceTooLarge(_ needed: Double, limit: Int, _ message: String, path: String? = nil) -> RPCError {
    RPCError(.surfaceTooLarge, message, path: path)
      .with("needed", Int(min(needed, 9_007_199_254_740_991))).with("limit", limit)
  }
}
