// Paths that go on below an id lead into the object that it refers to: `/views/v1/map/title` is the title of the view's map.

import Geometry

extension World {
  /// The path of the value that a path leads to: ids on its way are replaced by the paths of their objects. The path itself if it
  /// leads through no id, or if the id is null.
  ///
  /// - Complexity: O(names in the path).
  public func resolved(_ path: ModelPath) -> ModelPath { trail(of: path).last ?? path }

  /// The path, then the path in the object of each id on its way: what the value depends on.
  func trail(of path: ModelPath) -> [ModelPath] {
    var result = [path]
    // Each step has fewer names than the one before.
    while let last = result.last, let next = step(last) { result.append(next) }
    return result
  }

  /// The trail of a path that leads through an id, or will once that is set; nil for any other path.
  func trailThroughIDs(_ path: ModelPath) -> [ModelPath]? { reference(in: path) == nil ? nil : trail(of: path) }

  /// The path with its first id replaced by the path of that object.
  private func step(_ path: ModelPath) -> ModelPath? {
    guard let (depth, id) = reference(in: path), let object = id.flatMap(find) else { return nil }
    return ModelPath(ModelPath(object).names + path.names.dropFirst(depth))
  }

  /// The first id on the way of a path, with the number of names up to it; nil if the path does not go on below an id.
  private func reference(in path: ModelPath) -> (depth: Int, id: String?)? {
    guard path.names.count > 3, let object = path.object else { return nil }
    let (member, name) = (path.names[2].string, path.names[3].string)
    func isReference(_ key: String) -> Bool {
      environmentKeys[EnvironmentKeyID(key)]?.definition.type == .reference
    }
    var found: (depth: Int, id: String?)?
    switch object.collection {
    case .viewModels:
      guard let model = viewModels[ViewModelID(object.id)], model.definitions[member]?.type == .reference else {
        return nil
      }
      found = (3, model.value(of: member)?.text)
    case .environments where member == "objects":
      found = (4, environments[EnvironmentID(object.id)]?.objects[name]?.rawValue)
    case .environments where member == "values" && isReference(name):
      found = (4, environments[EnvironmentID(object.id)]?.values[name]?.text)
    case _ where member == "environment":
      guard isReference(name) else { return nil }
      found = (4, environment(name, at: object.collection == .environments ? nil : object).text)
    default:
      guard let property = Property(rawValue: member), object.collection.traits(of: property).contains(.refers),
        let value = members(of: object)?.member(member)?.value
      else { return nil }
      switch value {
      case .text(let id): found = (3, id)
      case .ids(let list): found = (4, Self.element(name, of: list))
      default: return nil
      }
    }
    return found.flatMap { path.names.count > $0.depth ? $0 : nil }
  }
  /// The id that a name in a path stands for: by its index, or itself behind `@`.
  private static func element(_ name: String, of ids: TextList) -> String? {
    if name.utf8.first == UInt8(ascii: "@") {
      let id = String(name.dropFirst())
      return ids.contains(Text(id)) ? id : nil
    }
    guard let index = Int(name), index >= 0, index < ids.count else { return nil }
    return ids[index..<index + 1].first?.string
  }
}
