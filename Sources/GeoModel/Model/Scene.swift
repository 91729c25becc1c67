// Scenes: layers over a surface, and the elevations of the surface.

import Geometry

/// A scene: layers over a surface.
public struct Scene: Sendable {
  public let id: SceneID
  public var revision = 0
  public internal(set) var content: MapContent
  public internal(set) var surface = BaseSurface()
}

/// An elevation raster in a surface.
public struct SurfaceSource: Hashable, Sendable {
  public enum Raster: Sendable {
    case loaded(any ElevationSource)
    /// The raster failed to open.
    case failed(Failure)
  }

  /// Unique in the session. Identifies one raster for its lifetime.
  public let id: String
  /// The absolute path of the file.
  public let path: Text
  public internal(set) var raster: Raster

  public var loaded: (any ElevationSource)? { if case .loaded(let raster) = raster { raster } else { nil } }

  /// Why the raster is not loaded; nil if it is.
  public var failure: Failure? { if case .failed(let failure) = raster { failure } else { nil } }

  public static func == (left: SurfaceSource, right: SurfaceSource) -> Bool {
    left.id == right.id && left.failure == right.failure
  }
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// The ground of a scene.
public struct BaseSurface: Hashable, Sendable {
  /// A surface without sources: the ellipsoid.
  public init() {}

  /// Where several sources have a height at a point, the first one is used.
  public internal(set) var elevationSources: [SurfaceSource] = []
  /// Factor for drawing heights.
  public internal(set) var elevationExaggeration = 1.0
  /// Whether the sources are used. Otherwise the ground is flat and has no elevations.
  public internal(set) var isEnabled = true
  /// 0 is transparent, 1 opaque.
  public internal(set) var opacity = 1.0

  func applying(_ update: BaseSurfaceUpdate) -> BaseSurface {
    var result = self
    if let exaggeration = update.elevationExaggeration { result.elevationExaggeration = exaggeration }
    if let isEnabled = update.isEnabled { result.isEnabled = isEnabled }
    if let opacity = update.opacity { result.opacity = opacity }
    return result
  }

  /// The elevations at points in `reference`, each from the first loaded source that has one there. If no loaded source has one
  /// and some source is not loaded, the elevation is unknown. A disabled surface covers nothing. Exaggeration is ignored, as it
  /// only affects drawing.
  ///
  /// - Parameters:
  ///   - stopsAtNoData: whether a source that covers a point without a value there hides the sources after it.
  ///   - onlyKept: whether sources read nothing.
  /// - Returns: nil if sources may read nothing, and one would have to.
  /// - Complexity: one call of each source with all points for which earlier ones have no height.
  public func elevations(
    at points: [Point], reference: SpatialReference, interpolation: Interpolation, stopsAtNoData: Bool,
    transformer: any CoordinateTransformer, onlyKept: Bool = false, isCancelled: @escaping @Sendable () -> Bool
  ) throws -> [Elevation]? {
    let samples = try samples(
      at: points, reference: reference, interpolation: interpolation, stopsAtNoData: stopsAtNoData, transformer: transformer,
      onlyKept: onlyKept, isCancelled: isCancelled)
    return samples.map { samples in
      zip(samples.heights, samples.sources).map { height, number in
        switch number {
        case GroundSamples.noData: return .noData
        case GroundSamples.outside: return .outside
        case GroundSamples.notLoaded:
          guard let source = elevationSources.first(where: { $0.failure != nil }), let failure = source.failure else { return .outside }
          return .notLoaded(source: source.id, failure)
        default:
          let source = elevationSources[number]
          return .value(height, source: source.id, resolution: source.loaded?.resolution ?? 0)
        }
      }
    }
  }

  /// The heights at points in `reference`; see ``elevations(at:reference:interpolation:stopsAtNoData:transformer:onlyKept:isCancelled:)``.
  public func samples(
    at points: [Point], reference: SpatialReference, interpolation: Interpolation, stopsAtNoData: Bool,
    transformer: any CoordinateTransformer, onlyKept: Bool = false, isCancelled: @escaping @Sendable () -> Bool
  ) throws -> GroundSamples? {
    var result = GroundSamples(count: points.count)
    var open = Array(points.indices)
    for (number, surfaceSource) in (isEnabled ? elevationSources : []).enumerated() where !open.isEmpty {
      guard let source = surfaceSource.loaded else { continue }
      let wrap = WorldWrap(try transformer.describe(source.reference), transformer)
      let asked = try transformer.transformed(open.map { points[$0] }, from: reference, to: source.reference).map { point in
        point.map { wrap?.turned($0, into: source.extent) ?? $0 }
      }
      var left = zip(open, asked).filter { $1 == nil }.map(\.0)
      let reached = zip(open, asked).compactMap { index, position in position.map { (index, $0) } }
      guard
        let samples = try source.sample(
          reached.map(\.1), interpolation: interpolation, onlyKept: onlyKept, isCancelled: isCancelled)
      else { return nil }
      for ((point, _), sample) in zip(reached, samples) {
        switch sample {
        case .value(let height): (result.heights[point], result.sources[point]) = (height, number)
        case .noData:
          result.sources[point] = GroundSamples.noData
          if !stopsAtNoData { left.append(point) }
        case .outside: left.append(point)
        }
      }
      open = left
    }
    if isEnabled, elevationSources.contains(where: { $0.failure != nil }) {
      for index in open { result.sources[index] = GroundSamples.notLoaded }
    }
    return result
  }
}

/// Heights of the ground at points.
public struct GroundSamples: Sendable {
  /// Sources cover the point, but none has a value there.
  public static let noData = -1
  /// No source covers it.
  public static let outside = -2
  /// No loaded source has a height there, but one that is not loaded may have one.
  public static let notLoaded = -3

  /// Metres; NaN without a value.
  public var heights: [Double]
  /// The index of the source that has the height, or one of the codes.
  public internal(set) var sources: [Int]

  init(count: Int) {
    heights = Array(repeating: .nan, count: count)
    sources = Array(repeating: Self.outside, count: count)
  }
}

extension CoordinateTransformer {
  /// The points in `target`, without Z; nil for points without coordinates there, which no source can cover.
  ///
  /// - Complexity: O(n): one call for all points, or one call per point if any has no coordinates.
  fileprivate func transformed(
    _ points: [Point], from source: SpatialReference, to target: SpatialReference
  ) throws(TransformError) -> [Point?] {
    let flat = points.map { Point(x: $0.x, y: $0.y) }
    guard source != target else { return flat }
    do throws(TransformError) {
      guard case .multiPoint(let moved) = try transform(.multiPoint(Positions(flat)), from: source, to: target) else {
        return flat
      }
      return moved.points
    } catch {
      guard case .outsideDomain = error else { throw error }
      return flat.map { try? transform($0, from: source, to: target) }
    }
  }
}

/// Changes to a surface; nil keeps a value.
public struct BaseSurfaceUpdate: Sendable {
  public var elevationExaggeration: Double?
  public var isEnabled: Bool?
  public var opacity: Double?

  public init(elevationExaggeration: Double? = nil, isEnabled: Bool? = nil, opacity: Double? = nil) {
    self.elevationExaggeration = elevationExaggeration
    self.isEnabled = isEnabled
    self.opacity = opacity
  }
}

/// An elevation raster. Libraries implement this protocol.
public protocol ElevationSource: Sendable {
  var path: String { get }
  var reference: SpatialReference { get }
  /// The area covered, in the source's reference.
  var extent: Envelope { get }
  /// Size of a cell, in units of the source's reference.
  var resolution: Double { get }
  /// Where its cells lie in its reference.
  var transform: RasterTransform { get }
  /// Number of cells.
  var width: Int { get }
  var height: Int { get }
  /// The unit that the file states, if it is none that is known: heights are taken as metres.
  var unknownUnit: String? { get }

  /// The heights at positions in the source's reference, in order.
  ///
  /// - Parameters:
  ///   - onlyKept: whether to read nothing.
  ///   - isCancelled: polled at least every 10 ms; the result is ignored once it returns true.
  /// - Returns: nil if it may read nothing, and would have to.
  func sample(
    _ points: [Point], interpolation: Interpolation, onlyKept: Bool, isCancelled: @Sendable () -> Bool
  ) throws -> [HeightSample]?

  /// The heights of the cells in a window within the raster, row by row; NaN without a value.
  ///
  /// - Complexity: reads each tile once.
  func cells(_ window: RasterWindow, isCancelled: @Sendable () -> Bool) throws -> [Float]
}

/// The elevation of a surface at a point, in metres.
public enum Elevation: Hashable, Sendable {
  /// `source` is the id of the source that has the height.
  case value(Double, source: String, resolution: Double)
  case noData
  case outside
  /// No loaded source has a height there. The id of the first source that is not loaded, and its failure.
  case notLoaded(source: String, Failure)
}
