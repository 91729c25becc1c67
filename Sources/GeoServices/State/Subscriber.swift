// Who follows the model: what all subscriptions have in common.

import GeoModel
import JSONRPC

/// One subscription. It notes what happens and tells it when it is asked to; what it tells is read from the world then.
protocol Subscriber: AnyObject {
  var id: String { get }
  /// Tells at most so often a second; nil for at once.
  var maxRate: Double? { get }
  /// Whether there is something to tell.
  var isDirty: Bool { get }
  /// The object it ends with, if any.
  var scope: ObjectReference? { get }

  /// Notes a change; answers how many earlier ones it made superfluous.
  func note(_ change: Change, _ world: World) -> Int
  /// Tells what has been noted, as of now.
  func flush(_ world: World, to session: Session)
  /// Goes on with something long that is on its way; whether all of it has been told.
  func goOn(_ session: Session) -> Bool
  /// Gives up what has been noted; the next ``flush(_:to:)`` tells everything anew. False when there was nothing to give up.
  func giveUp() -> Bool
}

extension Subscriber {
  func goOn(_ session: Session) -> Bool { true }
}

/// All subscriptions, in the order they were made.
struct Subscribers {
  private(set) var all: [any Subscriber] = []
  private var made = 0
  /// Changes folded into later ones before they were told.
  private(set) var coalesced = 0
  private(set) var resyncs = 0
  /// When each may speak again, in the loop's nanoseconds.
  private var notBefore: [String: UInt64] = [:]

  mutating func makeID() -> String {
    made += 1
    return "sub\(made)"
  }

  /// Subscriptions whose handle the client has not been told; they say nothing yet.
  private(set) var unannounced: [String] = []

  mutating func add(_ subscriber: any Subscriber) {
    all.append(subscriber)
    unannounced.append(subscriber.id)
  }

  /// The client knows the handles.
  mutating func announce(_ ids: [String]) { unannounced.removeAll { ids.contains($0) } }

  mutating func remove(_ id: String) {
    all.removeAll { $0.id == id }
    notBefore[id] = nil
  }

  mutating func note(_ changes: [Change], _ world: World) {
    guard !all.isEmpty else { return }
    for subscriber in all {
      for change in changes { coalesced += subscriber.note(change, world) }
    }
    for change in changes {
      guard case .closed(let object) = change.event else { continue }
      for subscriber in all where subscriber.scope == object { remove(subscriber.id) }
    }
  }

  /// Lets every subscription tell what it has noted, except those whose rate says later.
  ///
  /// - Returns: when the next of those may speak, and whether all that was begun has been told.
  mutating func flush(_ world: World, to session: Session) -> (next: UInt64?, isDone: Bool) {
    var next: UInt64?
    var isDone = true
    for subscriber in all where !unannounced.contains(subscriber.id) {
      guard subscriber.goOn(session) else {
        isDone = false
        continue
      }
      guard subscriber.isDirty else { continue }
      guard Patience.hasRoom(session) else {
        isDone = false
        continue
      }
      if let rate = subscriber.maxRate {
        let now = session.loop.nanoseconds
        if let due = notBefore[subscriber.id], due > now {
          next = min(next ?? due, due)
          continue
        }
        // A rate may be as small as a number can be.
        notBefore[subscriber.id] = now + UInt64(min(1e9 / rate, 1e18))
      }
      subscriber.flush(world, to: session)
      if !subscriber.goOn(session) { isDone = false }
    }
    return (next, isDone)
  }

  /// The client has not read for too long: from here on memory is kept in proportion to the state.
  ///
  /// - Returns: whether any subscription has lost deltas by it.
  mutating func giveUp() -> Bool {
    let before = resyncs
    for subscriber in all where subscriber.isDirty {
      if subscriber.giveUp() { resyncs += 1 }
    }
    return resyncs > before
  }
}
