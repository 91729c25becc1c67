// The protocol of all subscriptions: what a subscriber records of changes and when it sends them.

import GeoModel
import JSONRPC
import StateTree

/// Result of sending a part of a delivery.
package enum DeliveryProgress {
  case done
  /// More parts follow and the output has room; other subscribers take their turn first.
  case more
  /// The output buffer is full. `Session.onDrained` is called once the client has read.
  case full
}

/// One subscription. It records which paths changed; when flushed, it sends their values, read from the world at that time.
package protocol Subscriber: AnyObject {
  var id: String { get }
  /// Observed patterns. Changes at, above and below a matching path are recorded.
  var interests: [StatePattern] { get }
  /// Maximum notifications per second; nil for no limit.
  var maxRate: Double? { get }
  /// Whether changes made during an edit are sent when the edit ends.
  var defersEdits: Bool { get }
  /// Whether recorded changes wait to be sent.
  var isDirty: Bool { get }
  /// Whether recorded changes were discarded; the next flush sends a snapshot instead.
  var needsResync: Bool { get }
  /// Whether the recorded closing of `object` ends the subscription, because none of the objects that it follows is left.
  func ends(with object: ObjectReference, in world: World) -> Bool

  /// Records a change.
  ///
  /// - Parameters:
  ///   - path: the path that changed.
  ///   - list: the list at the path as it was last sent, if it is one.
  /// - Returns: the number of recorded changes that this one coalesces.
  func record(_ change: Change, _ path: ModelPath, _ list: SentList?, _ world: World) -> Int
  /// Sends the recorded changes with their current values.
  ///
  /// - Parameter texts: operations that other subscribers have encoded for the same world.
  func flush(_ world: World, to session: Session, _ texts: inout PatchTexts)
  /// Sends further parts of the delivery in progress.
  func resume(_ session: Session) -> DeliveryProgress
  /// The worlds of snapshots that have been sent since the last call. After a replacement of the document, each may hold the last
  /// references to its objects.
  func takeSentWorlds() -> [World]
  /// Discards the recorded changes; the next ``flush(_:to:_:)`` sends a snapshot.
  ///
  /// - Returns: false when nothing was discarded.
  func discardRecorded() -> Bool
  /// Discards the recorded changes; the next ``flush(_:to:_:)`` sends a snapshot even if nothing has changed.
  func resync()
  /// Sends only differences from `world`, the last state sent.
  func compare(with world: World)
  /// Ends the comparison, unless recorded changes still need it.
  func stopComparing()
}

extension Subscriber {
  package var defersEdits: Bool { false }
  package var needsResync: Bool { false }
  package func resume(_ session: Session) -> DeliveryProgress { .done }
  package func takeSentWorlds() -> [World] { [] }
  package func compare(with world: World) {}
  package func stopComparing() {}
  // Subscriptions to one object send its current value without comparison.
  package func resync() {}
  // By default only the latest value is recorded: discarding it would save nothing.
  package func discardRecorded() -> Bool { false }
}
