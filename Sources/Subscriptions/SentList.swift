// A list, or an object that contains lists, as it was last sent, and the operations that lead from it to the current value.

import GeoModel
import Geometry
import JSON
import StateTree

/// A value as it was last sent whose changes are sent as operations on its elements or members.
package enum SentList {
  package typealias Entry = DeltaDelivery.Entry

  /// Unique ids. Most lists are of this kind, and only these become long.
  case ids(TextList)
  /// JSON text.
  case text(String)
  /// A struct or a dictionary of a client.
  case value(Value)

  /// - Returns: nil for values that are sent whole.
  package init?(_ node: StateNode?) {
    switch node {
    case .ids(let ids)?: self = .ids(ids)
    case .list?, .parts?: self = .text(node?.text ?? "")
    case .value(let value)?: self = .value(value)
    case .leaf?, .branch?, .graphics?, .layerStates?, nil: return nil
    }
  }

  /// The operations that lead to a node's current value: steps of a list, members of an object.
  ///
  /// - Returns: nil when the node has to be sent whole: it is neither list nor object, is of another kind now, or has elements
  ///   without ids.
  package func entries(to node: StateNode, at path: ModelPath) -> [Entry]? {
    if case .parts = node {
      guard case .text(let text) = self, let old = Self.members(of: text) else { return nil }
      return Self.entries(from: old, to: node, at: path)
    }
    if case .value(let new) = node {
      guard case .value(let old) = self else { return nil }
      return Self.entries(from: old, to: new, at: path)
    }
    return steps(to: node).map { $0.isEmpty ? [] : [.list(path.description, $0)] }
  }

  // MARK: Lists

  /// - Returns: nil unless both are lists whose elements have ids.
  private func steps(to node: StateNode) -> [ListDelta.Step]? {
    if case .ids(let old) = self, case .ids(let new) = node { return ListDelta.steps(from: old, to: new) }
    guard let old = elements, let new = SentList(node)?.elements else { return nil }
    return ListDelta.steps(from: old, to: new)
  }

  private var elements: [ListElement]? {
    switch self {
    case .ids(let ids): ids.map { ListElement(id: $0.string) }
    case .text(let text): ListElement.elements(of: text)
    case .value: nil
    }
  }

  // MARK: Objects

  /// - Returns: nil when the node is not an object.
  private static func entries(from old: [Text: String], to node: StateNode, at path: ModelPath) -> [Entry]? {
    guard members(of: node.text) != nil else { return nil }
    var removed = old
    var entries: [Entry] = []
    for name in node.names {
      guard let member = node.child(name) else { continue }
      let memberPath = path.appending(name)
      guard let was = removed.removeValue(forKey: Text(name)) else {
        entries.append(.write(.add, .value(memberPath, member.write)))
        continue
      }
      guard Text(was) != Text(member.text) else { continue }
      entries +=
        SentList.text(was).entries(to: member, at: memberPath) ?? [.write(.replace, .value(memberPath, member.write))]
    }
    return entries + removed.keys.map(\.string).sorted().map { .remove(path.appending($0).description) }
  }

  /// - Returns: nil when the value has to be sent whole.
  private static func entries(from old: Value, to new: Value, at path: ModelPath) -> [Entry]? {
    guard let members = new.members, let before = old.members else {
      guard new.elements != nil, old.elements != nil else { return nil }
      return SentList.text(old.jsonText).entries(to: .list { new.encode(to: &$0) }, at: path)
    }
    var entries: [Entry] = []
    for name in members.names {
      guard let value = members[name] else { continue }
      let (was, path) = (before[name], path.appending(name))
      guard value != was else { continue }
      entries +=
        was.flatMap { Self.entries(from: $0, to: value, at: path) }
        ?? [.write(was == nil ? .add : .replace, .value(path) { value.encode(to: &$0) })]
    }
    return entries + before.names.filter { members[$0] == nil }.sorted().map { .remove(path.appending($0).description) }
  }

  /// The members of an object as JSON texts; nil for other values.
  private static func members(of text: String) -> [Text: String]? {
    guard let document = try? JSONDocument(text) else { return nil }
    return document.read { object in
      guard object.kind == .object else { return nil }
      return Dictionary(object.members.map { (Text($0.name), $0.value.jsonText) }) { $1 }
    }
  }
}
