// Ordered lists in view models. Items are inserted, removed and moved by their ids, never by indexes.

import Geometry

extension World {
  /// Inserts items into a list.
  ///
  /// - Parameters:
  ///   - names: the property's name and the path to the list in its value.
  ///   - item: id of the item to insert before; the end when nil.
  public mutating func insertItems(
    _ items: [Value], into id: ViewModelID, at names: [Text], before item: String?
  ) throws(ModelError) {
    try changeList(id, names) { (list) throws(ModelError) in
      var known = Set(list.compactMap(\.itemKey))
      for (index, item) in items.enumerated() {
        guard let id = item.itemID else {
          throw .flow(.wrongType(path: "/\(index)", expected: "a string, or an object with an `id`"))
        }
        guard known.insert(Text(id)).inserted else { throw .flow(.duplicateItem(id, path: "/\(index)")) }
      }
      list.insert(contentsOf: items, at: try insertionIndex(of: item, in: list))
    }
  }

  /// Removes items from a list.
  public mutating func removeItems(_ ids: [String], from id: ViewModelID, at names: [Text]) throws(ModelError) {
    try changeList(id, names) { (list) throws(ModelError) in
      let known = Set(list.compactMap(\.itemKey))
      var removed: Set<Text> = []
      for (index, id) in ids.enumerated() {
        guard known.contains(Text(id)) else { throw .flow(.unknownItem(id)) }
        guard removed.insert(Text(id)).inserted else { throw .flow(.duplicateItem(id, path: "/\(index)")) }
      }
      list.removeAll { $0.itemKey.map(removed.contains) ?? false }
    }
  }

  /// Moves items, in the order of `ids`, before another item; to the end when nil.
  public mutating func moveItems(
    _ ids: [String], in id: ViewModelID, at names: [Text], before item: String?
  ) throws(ModelError) {
    try changeList(id, names) { (list) throws(ModelError) in
      var byID: [Text: Value] = [:]
      for element in list { if let id = element.itemKey { byID[id] = element } }
      var moved: [Value] = []
      var seen: Set<Text> = []
      for (index, id) in ids.enumerated() {
        guard let element = byID[Text(id)] else { throw .flow(.unknownItem(id)) }
        guard seen.insert(Text(id)).inserted, Text(id) != Text(item) else {
          throw .flow(.duplicateItem(id, path: "/\(index)"))
        }
        moved.append(element)
      }
      list.removeAll { $0.itemKey.map(seen.contains) ?? false }
      list.insert(contentsOf: moved, at: try insertionIndex(of: item, in: list))
    }
  }

  private mutating func changeList(
    _ id: ViewModelID, _ names: [Text], _ body: (inout [Value]) throws(ModelError) -> Void
  ) throws(ModelError) {
    let model = try viewModels.require(id)
    guard let name = names.first?.string else { throw .flow(.invalidPath("")) }
    _ = try model.property(name)
    guard var list = model.values[name]?.part(at: names.dropFirst())?.elements else {
      throw .flow(.invalidPath(ModelPath(names).description))
    }
    try body(&list)
    try setValue(of: id, at: names, to: .array(list))
  }
}

extension Value {
  /// The item's id, comparable by code points.
  fileprivate var itemKey: Text? { Text(itemID) }
}

private func insertionIndex(of item: String?, in list: [Value]) throws(ModelError) -> Int {
  guard let item else { return list.count }
  guard let index = list.firstIndex(where: { $0.itemKey == Text(item) }) else { throw .flow(.unknownItem(item)) }
  return index
}
