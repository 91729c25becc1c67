// The lists of the model as they were when changes were last noted: a list's delta needs what was there before.

import GeoModel
import JSON

/// The text of every property that is a list, kept once for all subscriptions while there are any.
struct ToldLists {
  private var lists: [StatePlace: [String: String]] = [:]
  private(set) var isKept = false

  /// From here on they are kept, as they stand in `world`.
  mutating func keep(_ world: World) {
    guard !isKept else { return }
    isKept = true
    for collection in Collection.allCases {
      for id in StateTree.node(at: [collection.rawValue], in: world)?.names ?? [] {
        keep(StatePlace(collection.rawValue, id), world)
      }
    }
  }

  mutating func drop() { self = ToldLists() }

  private mutating func keep(_ object: StatePlace, _ world: World) {
    guard case .branch(let names, let child)? = StateTree.node(at: object.names, in: world) else { return }
    var texts: [String: String] = [:]
    for name in names {
      if case .list? = child(name) { texts[name] = child(name)?.text }
    }
    if !texts.isEmpty { lists[object] = texts }
  }

  /// The list at a place as it was before the changes that are being noted; nil where there is none.
  func text(at place: StatePlace) -> String? {
    guard let member = place.member, !lists.isEmpty else { return nil }
    return lists[place.object]?[member]
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
        guard let member = place.member, lists[place.object]?[member] != nil else { continue }
        lists[place.object]?[member] = StateTree.node(at: place.names, in: world)?.text
      case .member:
        // What a client keeps there may become a list, or be one no longer.
        guard let member = place.member, let node = StateTree.node(at: place.names, in: world) else { continue }
        if case .list = node {
          lists[place.object, default: [:]][member] = node.text
        } else {
          lists[place.object]?[member] = nil
        }
      case .clock, .history, .document, .graphics: break
      }
    }
  }
}
