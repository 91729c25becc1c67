// The model's lists as of the last recorded changes: list deltas are computed against them.

import GeoModel
import JSON
import StateTree

/// Every property that is sent by steps, kept once for all subscriptions while there are any.
struct SentLists {
  private var lists: [StatePath: [String: SentList]] = [:]
  private(set) var isKept = false

  /// Starts keeping lists, with those of `world`.
  mutating func keep(_ world: World) {
    guard !isKept else { return }
    isKept = true
    for collection in Collection.allCases {
      for id in StateTree.node(at: [collection.rawValue], in: world)?.names ?? [] {
        keep(StatePath(collection.rawValue, id), world)
      }
    }
  }

  mutating func drop() { self = SentLists() }

  private mutating func keep(_ object: StatePath, _ world: World) {
    guard case .branch(let names, let child)? = StateTree.node(at: object.names, in: world) else { return }
    var known: [String: SentList] = [:]
    for name in names { known[name] = SentList(child(name)) }
    if !known.isEmpty { lists[object] = known }
  }

  /// The list at a path before the changes that are being recorded; nil where the value is not sent by steps.
  func list(at path: StatePath) -> SentList? {
    guard let member = path.member, !lists.isEmpty else { return nil }
    return lists[path.object]?[member.string]
  }

  /// Updates the lists that have changed.
  mutating func update(_ changes: [Change], _ world: World) {
    guard isKept else { return }
    for change in changes {
      let path = change.event.path
      switch change.event {
      case .created: keep(path, world)
      case .closed: lists[path] = nil
      case .changed:
        guard let member = path.member, lists[path.object]?[member.string] != nil else { continue }
        lists[path.object]?[member.string] = SentList(StateTree.node(at: path, in: world))
      case .member:
        // A client's value may become a list, or cease to be one.
        guard let member = path.member else { continue }
        if let list = SentList(StateTree.node(at: path, in: world)) {
          lists[path.object, default: [:]][member.string] = list
        } else {
          lists[path.object]?[member.string] = nil
        }
      case .clock, .history, .document, .graphics: break
      }
    }
  }
}
