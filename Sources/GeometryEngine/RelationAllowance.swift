// What relations may cost on a thread: little on the loop; on a worker, what costs much is done by another process.

import CGEOS
import Geometry

/// Computes elsewhere what would take much time or memory here.
public protocol RemoteEngine: Sendable {
  /// Whether `second` has the relation to `first`, as ``RelatedGeometry`` says it.
  ///
  /// - Parameter isCancelled: called at least every 10 ms.
  func relates(
    _ relation: SpatialRelation, of second: Geometry, to first: Geometry, across seam: Seam?, isCancelled: () -> Bool
  ) throws(EngineError) -> Bool

  /// What an operation makes of its operands; see ``GeometryCalculator``.
  func compute(
    _ operation: GeometryOperation, _ operands: [Geometry], isCancelled: () -> Bool
  ) throws(EngineError) -> GeometryOutcome
}

/// What relations may cost on the calling thread while a piece of work runs. Confined to that thread.
///
/// Some work leaves out rows whose relation cannot be decided. So the first failure that is not about a geometry is kept: whoever set the
/// allowance discards the result. Without an allowance everything is computed here, as in the engine's own process.
public final class RelationAllowance {
  /// A relation that costs more, in nanoseconds, is computed by the engine.
  public static let engineThreshold = 50_000_000.0
  /// What is computed here at most where no engine can do it, in nanoseconds.
  static let most = 20 * engineThreshold
  /// What one message or tick may spend on the loop, in nanoseconds.
  public static let onLoop = 10_000_000.0

  private enum Place {
    case here(left: Double)
    case worker(any RemoteEngine, isCancelled: () -> Bool)
  }

  private var place: Place
  private let isWorker: Bool
  /// ``EngineError/tooExpensive`` or ``EngineError/tooManyPositions``, or what went wrong in the engine.
  public private(set) var failure: EngineError?
  /// The feature with the first relation that failed, where that is known.
  public private(set) var feature: Int?

  public init(nanoseconds: Double) { (place, isWorker) = (.here(left: nanoseconds), false) }
  public init(_ engine: any RemoteEngine, isCancelled: @escaping () -> Bool) {
    (place, isWorker) = (.worker(engine, isCancelled: isCancelled), true)
  }

  /// Runs `body` with this allowance, or with the one that holds already.
  public func hold<R>(_ body: () throws -> R) rethrows -> R {
    guard Self.current == nil else { return try body() }
    cgeos_set_thread_value(Unmanaged.passUnretained(self).toOpaque())
    defer { cgeos_set_thread_value(nil) }
    return try body()
  }

  /// The calling thread's.
  public static var current: RelationAllowance? {
    cgeos_thread_value().map { Unmanaged<RelationAllowance>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Runs `body`; nil if it failed because it was too expensive here. The caller then has it done elsewhere. What failed before stays.
  public static func attempt<R>(_ body: () throws -> R) rethrows -> R? {
    guard let current, current.failure == nil else { return try body() }
    do {
      let result = try body()
      guard current.failure == .tooExpensive else { return result }
    } catch {
      guard current.failure == .tooExpensive else { throw error }
    }
    current.failure = nil
    return nil
  }

  /// The largest cost that makes a difference.
  var limit: Double {
    if case .here(let left) = place { left } else { Self.engineThreshold }
  }

  /// Up to where a cost is counted of what no engine can do: counting takes time, too.
  var countLimit: Double {
    switch place {
    case .here(let left): min(left, Self.most)
    case .worker: Self.most
    }
  }

  /// Accounts for a relation.
  ///
  /// - Returns: the engine that is to compute it; nil if it is computed here.
  /// - Throws: ``EngineError/tooExpensive``, also for every relation after one that was.
  func spend(_ cost: Double) throws(EngineError) -> (engine: any RemoteEngine, isCancelled: () -> Bool)? {
    if let failure { throw failure }
    // Most cost little. Threads would wait for one another to count the references to the engine.
    if isWorker, cost < Self.engineThreshold { return nil }
    switch place {
    case .here(let left):
      guard cost < left else { throw fail(.tooExpensive) }
      place = .here(left: left - cost)
      return nil
    case .worker(let engine, let isCancelled): return (engine, isCancelled)
    }
  }

  /// Accounts for work with geometries that is always done here, such as measuring them. Call it at least every 10 ms.
  ///
  /// - Parameter cost: in nanoseconds.
  /// - Throws: ``EngineError/tooExpensive``, or ``EngineError/interrupted`` once a worker's task is cancelled.
  public static func charge(_ cost: Double) throws(EngineError) {
    guard let current else { return }
    if case .worker(_, let isCancelled) = current.place, isCancelled() { throw current.fail(.interrupted) }
    _ = try current.spend(cost)
  }

  /// Whether two geometries have so few positions that their relation cannot reach the limit of a worker. The first is not extreme.
  func isFree(_ first: Geometry, _ second: Geometry) -> Bool {
    guard case .worker = place else { return false }
    return RelationCost.most(first, second) < Self.engineThreshold
  }

  func fail(_ error: EngineError) -> EngineError {
    failure = failure ?? error
    return error
  }

  /// Keeps an error that is to fail the whole work, of what has no value for one geometry only.
  public static func fail(_ error: EngineError) { _ = current?.fail(error) }

  /// Says whose relation has just failed.
  public static func blame(_ id: Int) {
    if let current, current.failure != nil { current.feature = current.feature ?? id }
  }
}

/// One geometry of many relations: prepared when it is first needed, and its own cost is estimated once.
public struct RelatedGeometry: ~Copyable {
  private let geometry: Geometry
  private let seam: Seam?
  private var prepared: PreparedGeometry?
  private var world: SeamRelations?
  private var isMadeValid = false
  private lazy var isExtreme = geometry.isExtreme
  private lazy var side = RelationCost.Side(geometry)
  /// Up to the limit at which it was estimated.
  private var alone: (cost: Double, limit: Double)?

  /// - Parameter seam: of a map that goes around the world, where either geometry may be cut at its edge.
  public init(_ geometry: Geometry, across seam: Seam? = nil) { (self.geometry, self.seam) = (geometry, seam) }

  /// Whether `other` has the relation to this geometry, see ``PreparedGeometry/relates(_:_:)``. This one is made valid if GEOS refuses it.
  ///
  /// - Throws: as the thread's ``RelationAllowance`` has it, ``EngineError/tooExpensive`` or ``EngineError/engineFailed(signal:)`` as well.
  public mutating func relates(_ relation: SpatialRelation, _ other: Geometry) throws(EngineError) -> Bool {
    if let allowance = RelationAllowance.current,
      let (engine, isCancelled) = try allowance.spend(isFree(other, allowance) ? 0 : cost(relation, other, allowance.limit))
    {
      do throws(EngineError) {
        return try engine.relates(relation, of: other, to: geometry, across: seam, isCancelled: isCancelled)
      } catch {
        if case .failed = error { throw error }
        throw allowance.fail(error)
      }
    }
    do throws(EngineError) { return try relatesHere(relation, other) } catch {
      // What GEOS was indexing may be half done.
      prepared = nil
      world = nil
      guard case .failed = error, !isMadeValid else { throw error }
    }
    isMadeValid = true
    return try relates(relation, other)
  }

  private mutating func isFree(_ other: Geometry, _ allowance: RelationAllowance) -> Bool {
    seam == nil && !isExtreme && allowance.isFree(geometry, other)
  }

  private mutating func relatesHere(_ relation: SpatialRelation, _ other: Geometry) throws(EngineError) -> Bool {
    if let seam {
      if world == nil { world = try SeamRelations(geometry, seam, isMadeValid: isMadeValid) }
      return try world?.relates(relation, other) ?? false
    }
    if prepared == nil { prepared = try PreparedGeometry(geometry, isMadeValid: isMadeValid) }
    return try prepared?.relates(relation, other) ?? false
  }

  /// Nanoseconds across the edge of the world: both are there three times.
  private func cost(across seam: Seam, _ other: Geometry, _ limit: Double) -> Double {
    var sum = 0.0
    for geometry in [geometry, other] where sum < limit { sum += 8 * RelationCost.alone(geometry, limit: (limit - sum) / 8) }
    for turn in [0, -seam.width, seam.width] where sum < limit {
      let turned = other.mapX { $0 + turn }
      sum += 2 * RelationCost.between(geometry, turned, limit: (limit - sum) / 2) + RelationCost.placing(geometry, turned)
    }
    return sum
  }

  private mutating func cost(_ relation: SpatialRelation, _ other: Geometry, _ limit: Double) -> Double {
    guard !isExtreme, !other.isExtreme else { return .infinity }
    if let seam { return cost(across: seam, other, limit) }
    let between = side.between(other, limit: limit)
    guard between < limit else { return between }
    // The prepared form finds a common position without looking at the crossings within either.
    if relation == .intersects || relation == .disjoint { return between }
    // In an area that is prepared places are found by an index.
    let placing = relation == .within && geometry.dimension == 2 ? 0 : side.placing(other)
    guard between + placing < limit else { return between + placing }
    if alone.map({ $0.cost >= $0.limit && $0.limit < limit }) ?? true {
      alone = (RelationCost.alone(geometry, limit: limit), limit)
    }
    let sum = between + placing + (alone?.cost ?? 0)
    return sum < limit ? sum + RelationCost.alone(other, limit: limit - sum) : sum
  }
}
