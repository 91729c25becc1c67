// The lists of the model as they were when changes were last noted: a list's delta needs what was there before.

import GeoModel
import JSON

/// A property that is a list, as it was.
enum ToldList {
  /// Of ids alone, each there once: what most lists are, and what may be long.
  case ids([String])
  /// As JSON.
  case text(String)

  /// Nil for what is no list.
  init?(_ node: StateNode?) {
    switch node {
    case .ids(let ids)?: self = .ids(ids)
    case .list?: self = .text(node?.text ?? "")
    default: return nil
    }
  }

  /// What leads from here to what a node is now; nil where either is no list whose elements have ids.
  func steps(to node: StateNode) -> [ListDelta.Step]? {
    if case .ids(let old) = self, case .ids(let new) = node { return ListDelta.steps(from: old, to: new) }
    guard let old = elements, let new = ToldList(node)?.elements else { return nil }
    return ListDelta.steps(from: old, to: new)
  }

  private var elements: [ListElement]? {
    switch self {
    case .ids(let ids): ids.map { ListElement(id: $0) }
    case .text(let text): ListElement.elements(of: text)
    }
  }
}

/// Every property that is a list, kept once for all subscriptions while there are any.
struct ToldLists {
  private var lists: [StatePlace: [String: ToldList]] = [:]
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
    var known: [String: ToldList] = [:]
    for name in names { known[name] = ToldList(child(name)) }
    if !known.isEmpty { lists[object] = known }
  }

  /// The list at a place as it was before the changes that are being noted; nil where there is none.
  func list(at place: StatePlace) -> ToldList? {
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
        lists[place.object]?[member] = ToldList(StateTree.node(at: place, in: world))
      case .member:
        // What a client keeps there may become a list, or be one no longer.
        guard let member = place.member else { continue }
        if let list = ToldList(StateTree.node(at: place, in: world)) {
          lists[place.object, default: [:]][member] = list
        } else {
          lists[place.object]?[member] = nil
        }
      case .clock, .history, .document, .graphics: break
      }
    }
  }
}
