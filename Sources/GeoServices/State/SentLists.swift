// The lists of the model, and what has lists in it, as they were when changes were last noted: their deltas need what was there before.

import GeoModel
import JSON

/// Every property that is told by steps, kept once for all subscriptions while there are any.
struct SentLists {
  private var lists: [StatePath: [String: SentList]] = [:]
  private(set) var isKept = false

  /// From here on they are kept, as they stand in `world`.
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

  /// What stood at a place before the changes that are being noted; nil where that is not told by steps.
  func list(at place: StatePath) -> SentList? {
    guard let member = place.member, !lists.isEmpty else { return nil }
    return lists[place.object]?[member.string]
  }

  /// Takes over what changes have made of the lists.
  mutating func follow(_ changes: [Change], _ world: World) {
    guard isKept else { return }
    for change in changes {
      let place = change.event.place
      switch change.event {
      case .created: keep(place, world)
      case .closed: lists[place] = nil
      case .changed:
        guard let member = place.member, lists[place.object]?[member.string] != nil else { continue }
        lists[place.object]?[member.string] = SentList(StateTree.node(at: place, in: world))
      case .member:
        // What a client keeps there may become a list, or be one no longer.
        guard let member = place.member else { continue }
        if let list = SentList(StateTree.node(at: place, in: world)) {
          lists[place.object, default: [:]][member.string] = list
        } else {
          lists[place.object]?[member.string] = nil
        }
      case .clock, .history, .document, .graphics: break
      }
    }
  }
}
