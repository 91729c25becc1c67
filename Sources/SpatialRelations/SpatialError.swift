// Why a spatial relation cannot be decided.

import Geometry
import GeometryEngine

/// Why a spatial relation cannot be decided.
public enum SpatialError: Error, Hashable, Sendable {
  /// The constant geometry is invalid by the Simple Features rules, at a position if the fault has one.
  case invalid(reason: String, at: Point?)
  /// The constant geometry has points, lines and polygons side by side, for which only `intersects`, `disjoint` and
  /// `envelopeIntersects` are defined. To the geometry of a feature other relations are then unknown.
  case mixedCollection
  /// GEOS refused the geometry of a feature, also when it was made valid.
  case refused(feature: Int?, reason: String)
  /// GEOS is not installed.
  case unavailable(reason: String)
  /// The work was cancelled.
  case interrupted
  /// It costs more than the calling thread may spend.
  case tooExpensive
  /// What is made of the geometry of a feature would have more positions than a geometry may have.
  case tooManyPositions(feature: Int?)
  /// The process that computed it, of the geometry of a feature, died.
  case engineFailed(signal: Int?, feature: Int?)
}

extension SpatialError {
  public init(_ error: EngineError) {
    switch error {
    case .unavailable(let reason): self = .unavailable(reason: reason)
    case .interrupted: self = .interrupted
    case .tooExpensive: self = .tooExpensive
    case .tooManyPositions: self = .tooManyPositions(feature: nil)
    case .engineFailed(let signal): self = .engineFailed(signal: signal, feature: nil)
    case .invalid(let reason, let place, _): self = .invalid(reason: reason, at: place)
    case .failed(let operation, let reason): self = .refused(feature: nil, reason: "\(operation): \(reason)")
    }
  }

  /// The same about a feature, unless it is about another.
  public func of(_ feature: Int) -> SpatialError {
    switch self {
    case .refused(let known, let reason): .refused(feature: known ?? feature, reason: reason)
    case .engineFailed(let signal, let known): .engineFailed(signal: signal, feature: known ?? feature)
    case .tooManyPositions(let known): .tooManyPositions(feature: known ?? feature)
    case .invalid, .mixedCollection, .unavailable, .interrupted, .tooExpensive: self
    }
  }
}

extension SpatialError {
  /// Notes in the thread's allowance, if that has a failure, whose geometry it was.
  package static func blame(_ feature: Int) { RelationAllowance.blame(feature) }
}

extension RelationAllowance {
  /// What its ``failure`` is about.
  public var error: SpatialError? {
    failure.map { failure in feature.map { SpatialError(failure).of($0) } ?? SpatialError(failure) }
  }
}
