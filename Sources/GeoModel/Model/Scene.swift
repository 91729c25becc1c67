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

  /// Why the raster is not loaded; nil if it is.
  public var failure: Failure? { if case .failed(let failure) = raster { failure } else { nil } }

  public static func == (left: SurfaceSource, right: SurfaceSource) -> Bool {
    left.id == right.id && left.failure == right.failure
  }
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// The ground of a scene.
public struct BaseSurface: Hashable, Sendable {
  /// The first source that covers a point counts.
  public internal(set) var elevationSources: [SurfaceSource] = []
  /// Factor for drawing heights.
  public internal(set) var elevationExaggeration = 1.0
  /// Whether the sources are used. If not, the ground is flat and has no elevations.
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

  /// The elevations at points in `reference`, each from the first loaded source that covers it. Points without one are
  /// unknown if a source is not loaded. A disabled surface covers nothing. Exaggeration is ignored, as it is for
  /// drawing.
  ///
  /// - Complexity: one call of each source with all points that earlier ones do not cover.
  public func elevations(
    at points: [Point], reference: SpatialReference, interpolation: Interpolation,
    transformer: any CoordinateTransformer, isCancelled: @escaping @Sendable () -> Bool
  ) throws -> [Elevation] {
    var result = [Elevation](repeating: .outside, count: points.count)
    let sources = isEnabled ? elevationSources : []
    var open = Array(points.indices)
    var unknown: Elevation?
    for index in sources.indices where !open.isEmpty {
      let source: any ElevationSource
      switch sources[index].raster {
      case .loaded(let raster): source = raster
      case .failed(let failure):
        unknown = unknown ?? .notLoaded(source: index, failure)
        continue
      }
      var positions = Positions(open.map { Point(x: points[$0].x, y: points[$0].y) })
      if source.reference != reference {
        try positions.withMutableValues { (buffer) throws(TransformError) in
          try transformer.transform(buffer, stride: 2, hasZ: false, from: reference, to: source.reference)
        }
      }
      let samples = try source.sample(positions.points, interpolation: interpolation, isCancelled: isCancelled)
      var uncovered: [Int] = []
      for (point, sample) in zip(open, samples) {
        switch sample {
        case .value(let height): result[point] = .value(height, source: index, resolution: source.resolution)
        case .noData: result[point] = .noData
        case .outside: uncovered.append(point)
        }
      }
      open = uncovered
    }
    if let unknown { for index in open { result[index] = unknown } }
    return result
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

/// An elevation raster; libraries are behind this protocol.
public protocol ElevationSource: Sendable {
  var path: String { get }
  var reference: SpatialReference { get }
  /// The area covered, in the source's reference.
  var extent: Envelope { get }
  /// Size of a cell, in units of the source's reference.
  var resolution: Double { get }

  /// The heights at positions in the source's reference, in order.
  ///
  /// - Parameter isCancelled: polled at least every 10 ms; the result is ignored once it returns true.
  func sample(
    _ points: [Point], interpolation: Interpolation, isCancelled: @Sendable () -> Bool
  ) throws -> [HeightSample]
}

/// How heights between the centers of cells are computed.
public enum Interpolation: Hashable, Sendable { case bilinear, nearest }

/// The sample of a source at a point, in metres.
public enum HeightSample: Hashable, Sendable {
  case value(Double)
  case noData
  case outside
}

/// The elevation of a surface at a point, in metres.
public enum Elevation: Hashable, Sendable {
  /// `source` is the index of the source that covers the point.
  case value(Double, source: Int, resolution: Double)
  case noData
  case outside
  /// No loaded source covers the point. The index of the first source that is not loaded, and its failure.
  case notLoaded(source: Int, Failure)
}
