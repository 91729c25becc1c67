// The members of each object in the tree, by the names of their properties. What is not known is null, so that members never
// come and go while the object lives.

import GeoModel
import Geometry
import JSON
import Query

/// Above so many graphics a snapshot gives them in parts.
let graphicsInOnePiece = 1000

/// The members of objects of one kind, each made when it is asked for.
struct StateMembers<Object>: Sendable {
  typealias Make = @Sendable (Object, World) -> StateNode
  private(set) var all: [(name: String, make: Make)]

  init(_ all: [(name: String, make: Make)]) { self.all = all }

  func make(_ name: String, of object: Object, in world: World) -> StateNode? {
    all.first { Text($0.name) == Text(name) }?.make(object, world)
  }

  /// The same of what a part has.
  func of<Whole>(_ part: @escaping @Sendable (Whole) -> Object?) -> StateMembers<Whole> {
    .init(
      all.map { member in (member.name, { whole, world in part(whole).map { member.make($0, world) } ?? nothing }) })
  }

  static func + (first: Self, second: Self) -> Self { .init(first.all + second.all) }
}

private var nothing: StateNode { .leaf { $0.null() } }

private func value(_ encodable: (any JSONEncodable)?) -> StateNode {
  .leaf { writer in
    if let encodable { encodable.encode(to: &writer) } else { writer.null() }
  }
}
private func value(_ text: String?) -> StateNode {
  .leaf { writer in
    if let text { writer.value(text) } else { writer.null() }
  }
}
private func value(_ number: Double?) -> StateNode {
  .leaf { writer in
    if let number { writer.value(number) } else { writer.null() }
  }
}
private func value(_ number: Int?) -> StateNode {
  .leaf { writer in
    if let number { writer.value(number) } else { writer.null() }
  }
}
private func value(_ flag: Bool) -> StateNode { .leaf { $0.value(flag) } }
private func value(_ ids: [String]) -> StateNode { .ids(ids) }
private func list(_ elements: [any JSONEncodable]) -> StateNode { .list { $0.array(elements) { $0.encode(to: &$1) } } }
private func parts(_ encodable: (any JSONEncodable)?) -> StateNode {
  .parts { writer in
    if let encodable { encodable.encode(to: &writer) } else { writer.null() }
  }
}

extension StateTree {
  static func clock(_ world: World) -> StateNode {
    .branch(["mode", "tickRate"]) { name in
      switch name {
      case "mode": value(world.clock.mode == .real ? "real" : "manual")
      case "tickRate": value(world.clock.tickRate)
      default: nil
      }
    }
  }

  static func edit(_ history: History) -> StateNode {
    .branch(["canUndo", "canRedo", "undoName", "redoName", "isEditing"]) { name in
      switch name {
      case "canUndo": value(history.canUndo)
      case "canRedo": value(history.canRedo)
      case "undoName": value(history.undoName)
      case "redoName": value(history.redoName)
      case "isEditing": value(history.isEditing)
      default: nil
      }
    }
  }

  static func document(_ world: World) -> StateNode {
    .branch(["path", "isModified"]) { name in
      switch name {
      case "path": value(world.document.path)
      case "isModified": value(world.history.isModified)
      default: nil
      }
    }
  }
}
