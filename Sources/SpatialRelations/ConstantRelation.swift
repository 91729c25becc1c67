// A relation of two constants in an expression, which may take long and is computed once.

import Geometry
import GeometryEngine
import Synchronization

/// Whether two constants have a relation: decided at once where that takes little, else when it is first needed, which a task is for.
package final class ConstantRelation: Sendable {
  private let predicate: SpatialPredicate
  private let geometry: Geometry
  private let found = Mutex<Bool??>(nil)

  package init(_ predicate: SpatialPredicate, _ geometry: Geometry) throws(SpatialError) {
    (self.predicate, self.geometry) = (predicate, geometry)
    let done = RelationAllowance.attempt { Result { () throws(SpatialError) in try value() } }
    _ = try done?.get()
  }

  /// The answer, in which nil means that the relation is not defined; nil until it is computed.
  package var known: Bool?? { found.withLock { $0 } }

  package func value() throws(SpatialError) -> Bool? {
    if let known { return known }
    let holds = try predicate.holds(for: geometry)
    found.withLock { $0 = .some(holds) }
    return holds
  }
}
