// `geotrigger/observe`: a subscription to every event of a monitor.

import GeoModel
import GeoProtocol
import JSONRPC
import StateTree
import WireCoding

/// Observes one monitor. Events are read from the world when they are sent, so that a slow client costs no memory.
package final class GeotriggerSubscriber: Subscriber {
  package let id: String
  package let monitor: GeotriggerMonitorID
  package let maxRate: Double? = nil
  package let interests: [StatePattern]
  private let scope: ObjectReference
  /// The number of the last event that was sent.
  private var sent: Int
  private var hasEvents = false
  private var hasStatus = false

  package init(id: String, monitor: GeotriggerMonitorID, sent: Int) {
    (self.id, self.monitor, self.sent) = (id, monitor, sent)
    scope = ObjectReference(.geotriggers, monitor.rawValue)
    interests = ["eventCount", "status", "warnings"].map { [scope] in StatePattern(scope, $0) }
  }

  package var isDirty: Bool { hasEvents || hasStatus }

  package func ends(with object: ObjectReference, in world: World) -> Bool {
    guard object == scope else { return false }
    (hasEvents, hasStatus) = (false, false)
    return true
  }

  package func record(_ change: Change, _ path: ModelPath, _ list: SentList?, _ world: World) -> Int {
    guard case .changed(let object, let property) = change.event, object == scope else { return 0 }
    if property == .eventCount { hasEvents = true } else { hasStatus = true }
    return 0
  }

  package func flush(_ world: World, to session: Session, _ texts: inout PatchTexts) {
    guard let live = world.geotriggers[monitor]?.live else { return }
    if hasStatus {
      session.notify(
        GeotriggerProtocol.StatusChanged.name,
        GeotriggerProtocol.StatusChanged.Params(
          subscription: id, geotrigger: monitor.rawValue, revision: world.revision, status: Wire.locationStatus(live.status),
          warnings: live.warnings.map(\.wire)))
    }
    // A monitor that undo has restored counts from 0 again.
    sent = min(sent, live.eventCount)
    if hasEvents, live.eventCount > sent, let events = try? world.events(of: monitor, after: sent) {
      let missed = live.eventCount - sent - events.count
      session.notify(
        GeotriggerProtocol.Notified.name,
        GeotriggerProtocol.Notified.Params(
          subscription: id, geotrigger: monitor.rawValue, revision: world.revision, events: events.map(Wire.geotriggerEvent),
          missed: missed > 0 ? missed : nil))
      sent = live.eventCount
    }
    (hasEvents, hasStatus) = (false, false)
  }
}
