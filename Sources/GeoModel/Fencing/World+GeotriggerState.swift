// What geotriggers know, for queries and subscriptions.

import Geometry

extension World {
  /// The events of a monitor that are kept, after the one with a number.
  public func events(of id: GeotriggerMonitorID, after number: Int = 0) throws(ModelError) -> ArraySlice<GeotriggerEvent> {
    let events = fencing.watches[try geotriggers.requireNumbered(id).number]?.events ?? []
    guard let last = events.last?.number, last > number else { return [] }
    return events.suffix(min(last - number, Watch.eventLimit))
  }

  /// Calls `body` with each membership, until it returns false.
  ///
  /// - Parameter object: nil for all objects.
  public func forEachMembership(
    of id: GeotriggerMonitorID, object: Text?, _ body: (Text, Membership) -> Bool
  ) throws(ModelError) {
    guard let watch = fencing.watches[try geotriggers.requireNumbered(id).number] else { return }
    for tracked in watch.objects.elements where !tracked.inside.isEmpty && object.map({ $0 == tracked.fix.object }) ?? true {
      guard tracked.inside.allSatisfy({ $0.due != nil || body(tracked.fix.object, $0) }) else { return }
    }
  }
}
