// Ordered lists in view models: items come, go and move by their ids, never by their places.

import Geometry

extension World {
  /// Puts items into a list.
  ///
  /// - Parameters:
  ///   - names: the property's name and the way to the list in it.
  ///   - item: the id of the item that they come before; the end when nil.
  public mutating func insertItems(
    _ items: [Value], into id: ViewModelID, at names: [String], before item: String?
  ) throws(ModelError) {
    try changeList(id, names) { (list) throws(ModelError) in
      var known = Set(list.compactMap(\.itemKey))
      for (index, item) in items.enumerated() {
        guard let id = item.itemID else {
          throw .flow(.wrongType(place: "/\(index)", expected: "a string, or an object with an `id`"))
        }
        guard known.insert(Text(id)).inserted else { throw .flow(.duplicateItem(id, place: "/\(index)")) }
      }
      list.insert(contentsOf: items, at: try listPlace(of: item, in: list))
    }
  }

  /// Takes items out of a list.
  public mutating func removeItems(_ ids: [String], from id: ViewModelID, at names: [String]) throws(ModelError) {
    try changeList(id, names) { (list) throws(ModelError) in
      let known = Set(list.compactMap(\.itemKey))
      var gone: Set<Text> = []
      for (index, id) in ids.enumerated() {
        guard known.contains(Text(id)) else { throw .flow(.unknownItem(id)) }
        guard gone.insert(Text(id)).inserted else { throw .flow(.duplicateItem(id, place: "/\(index)")) }
      }
      list.removeAll { $0.itemKey.map(gone.contains) ?? false }
    }
  }

  /// Moves items, in the order of `ids`, to the place before another one; to the end when nil.
  public mutating func moveItems(
    _ ids: [String], in id: ViewModelID, at names: [String], before item: String?
  ) throws(ModelError) {
    try changeList(id, names) { (list) throws(ModelError) in
      var byID: [Text: Value] = [:]
      for element in list { if let id = element.itemKey { byID[id] = element } }
      var moved: [Value] = []
      var seen: Set<Text> = []
      for (index, id) in ids.enumerated() {
        guard let element = byID[Text(id)] else { throw .flow(.unknownItem(id)) }
        guard seen.insert(Text(id)).inserted, Text(id) != Text(item) else {
          throw .flow(.duplicateItem(id, place: "/\(index)"))
        }
        moved.append(element)
      }
      list.removeAll { $0.itemKey.map(seen.contains) ?? false }
      list.insert(contentsOf: moved, at: try listPlace(of: item, in: list))
    }
  }

  private mutating func changeList(
    _ id: ViewModelID, _ names: [String], _ body: (inout [Value]) throws(ModelError) -> Void
  ) throws(ModelError) {
    let model = try viewModels.require(id)
    guard let name = names.first else { throw .flow(.invalidPath("")) }
    _ = try model.property(name)
    guard var list = model.values[name]?.part(at: names.dropFirst())?.elements else {
      throw .flow(.invalidPath(ModelPath(names).description))
    }
    try body(&list)
    try setValue(of: id, at: names, to: .array(list))
  }
}

extension Value {
  /// The id as items are told apart by it.
  fileprivate var itemKey: Text? { Text(itemID) }
}

private func listPlace(of item: String?, in list: [Value]) throws(ModelError) -> Int {
  guard let item else { return list.count }
  guard let place = list.firstIndex(where: { $0.itemKey == Text(item) }) else { throw .flow(.unknownItem(item)) }
  return place
}
