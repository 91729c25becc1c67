// Scenes: layers over a surface, and the heights of that surface.

import Geometry

/// Layers over a surface of heights.
public struct Scene: Sendable {
  public let id: SceneID
  public var revision = 0
  public internal(set) var content: MapContent
  public internal(set) var surface = BaseSurface()
}

/// A raster of heights in a surface.
public struct SurfaceSource: Hashable, Sendable {
  public enum Raster: Sendable {
    case loaded(any ElevationSource)
    /// It could not be opened when its document was.
    case failed(Failure)
  }

  /// Unique in the session; it stands for one raster as long as there is either.
  public let id: String
  /// The file, absolute.
  public let path: Text
  public internal(set) var raster: Raster

  init(id: String, path: String, _ raster: Raster) {
    self.id = id
    self.path = Text(path)
    self.raster = raster
  }

  /// Why it is not loaded; nil when it is.
  public var failure: Failure? { if case .failed(let failure) = raster { failure } else { nil } }

  public static func == (left: SurfaceSource, right: SurfaceSource) -> Bool {
    left.id == right.id && left.failure == right.failure
  }
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// The ground of a scene.
public struct BaseSurface: Hashable, Sendable {
  /// First match first.
  public internal(set) var elevationSources: [SurfaceSource] = []
  /// By how much heights are drawn larger; 1 as they are.
  public internal(set) var elevationExaggeration = 1.0
  /// Whether the sources count; without them the ground is flat and of unknown height.
  public internal(set) var isEnabled = true
  /// 0 clear, 1 solid.
  public internal(set) var opacity = 1.0

  func applying(_ update: BaseSurfaceUpdate) -> BaseSurface {
    var result = self
    if let exaggeration = update.elevationExaggeration { result.elevationExaggeration = exaggeration }
    if let isEnabled = update.isEnabled { result.isEnabled = isEnabled }
    if let opacity = update.opacity { result.opacity = opacity }
    return result
  }

  /// The heights at points in `reference`: the first loaded source that covers a point answers for it; what one that is not loaded
  /// covers nobody knows. A surface that is not enabled covers nothing; exaggeration is for drawing and changes no height.
  ///
  /// - Complexity: one call of each source for all points that no earlier one covers.
  public func elevations(
    at points: [Point], reference: SpatialReference, interpolation: Interpolation,
    transformer: any CoordinateTransformer, isCancelled: @escaping @Sendable () -> Bool
  ) throws -> [Elevation] {
    var result = [Elevation](repeating: .outside, count: points.count)
    let sources = isEnabled ? elevationSources : []
    var open = Array(points.indices)
    var unknown: Elevation?
    for place in sources.indices where !open.isEmpty {
      let source: any ElevationSource
      switch sources[place].raster {
      case .loaded(let raster): source = raster
      case .failed(let failure):
        unknown = unknown ?? .notLoaded(source: place, failure)
        continue
      }
      var moved = Positions(open.map { Point(x: points[$0].x, y: points[$0].y) })
      if source.reference != reference {
        try moved.withMutableValues { (buffer) throws(TransformError) in
          try transformer.transform(buffer, stride: 2, hasZ: false, from: reference, to: source.reference)
        }
      }
      let samples = try source.sample(moved.points, interpolation: interpolation, isCancelled: isCancelled)
      var uncovered: [Int] = []
      for (index, sample) in zip(open, samples) {
        switch sample {
        case .value(let height): result[index] = .value(height, source: place, resolution: source.resolution)
        case .noData: result[index] = .noData
        case .outside: uncovered.append(index)
        }
      }
      open = uncovered
    }
    if let unknown { for index in open { result[index] = unknown } }
    return result
  }
}

/// Changes to a surface; nil leaves alone.
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

/// A raster of heights, whoever reads it.
public protocol ElevationSource: Sendable {
  var path: String { get }
  var reference: SpatialReference { get }
  /// What it covers, in its reference.
  var extent: Envelope { get }
  /// Side of a cell, in the units of its reference.
  var resolution: Double { get }

  /// The heights at positions given in the source's reference, in order.
  ///
  /// - Parameter isCancelled: asked at least every 10 ms; once true, the answer does not matter.
  func sample(
    _ points: [Point], interpolation: Interpolation, isCancelled: @Sendable () -> Bool
  ) throws -> [HeightSample]
}

/// How a height between cell centres is found.
public enum Interpolation: Hashable, Sendable { case bilinear, nearest }

/// What one elevation source says of one point. Metres; 0 is a height.
public enum HeightSample: Hashable, Sendable {
  case value(Double)
  case noData
  case outside
}

/// What a surface says of one point.
public enum Elevation: Hashable, Sendable {
  /// `source` is the place of the source that answered, 0 first.
  case value(Double, source: Int, resolution: Double)
  case noData
  case outside
  /// No loaded source covers the point; the first that is not loaded, and why.
  case notLoaded(source: Int, Failure)
}
