// A value that is not told whole when it changes, as it was, and what leads from there to what it is now.

import Geometry
import JSON

/// A list, or an object with lists in it, as it was.
enum SentList {
  typealias Entry = DeltaDelivery.Entry

  /// Of ids alone, each there once: what most lists are, and what may be long.
  case ids([String])
  /// As JSON.
  case text(String)

  /// Nil for what is told whole.
  init?(_ node: StateNode?) {
    switch node {
    case .ids(let ids)?: self = .ids(ids)
    case .list?, .parts?: self = .text(node?.text ?? "")
    case .leaf?, .branch?, .graphics?, nil: return nil
    }
  }

  /// The changes that lead from here to what a node is now, none where it is the same: steps of a list, members of an object. Nil where
  /// the node has to be told whole: it is neither, or has become one or the other, or is a list whose elements have no ids.
  func entries(to node: StateNode, at path: [String]) -> [Entry]? {
    if case .parts = node {
      guard case .text(let text) = self, let old = Self.members(of: text) else { return nil }
      return Self.entries(from: old, to: node, at: path)
    }
    return steps(to: node).map { $0.isEmpty ? [] : [.list(pointer(path), $0)] }
  }

  // MARK: Lists

  /// Nil where either is no list whose elements have ids.
  private func steps(to node: StateNode) -> [ListDelta.Step]? {
    if case .ids(let old) = self, case .ids(let new) = node { return ListDelta.steps(from: old, to: new) }
    guard let old = elements, let new = SentList(node)?.elements else { return nil }
    return ListDelta.steps(from: old, to: new)
  }

  private var elements: [ListElement]? {
    switch self {
    case .ids(let ids): ids.map { ListElement(id: $0) }
    case .text(let text): ListElement.elements(of: text)
    }
  }

  // MARK: Objects

  /// Nil where the node is no object.
  private static func entries(from old: [Text: String], to node: StateNode, at path: [String]) -> [Entry]? {
    guard members(of: node.text) != nil else { return nil }
    var gone = old
    var entries: [Entry] = []
    for name in node.names {
      guard let member = node.child(name) else { continue }
      let place = path + [name]
      guard let was = gone.removeValue(forKey: Text(name)) else {
        entries.append(.write(.add, .value(place, member.write)))
        continue
      }
      guard Text(was) != Text(member.text) else { continue }
      entries +=
        SentList.text(was).entries(to: member, at: place) ?? [.write(.replace, .value(place, member.write))]
    }
    return entries + gone.keys.map(\.string).sorted().map { .remove(pointer(path + [$0])) }
  }

  /// The members of an object, as texts; nil for what is none.
  private static func members(of text: String) -> [Text: String]? {
    guard let document = try? JSONDocument(text) else { return nil }
    return document.read { object in
      guard object.kind == .object else { return nil }
      var members: [Text: String] = [:]
      object.forEachMember { name, value in members[Text(String(decoding: name, as: UTF8.self))] = value.text }
      return members
    }
  }
}
