// What the tree has beside objects: the clock, history and the document.

import GeoModel

/// Above so many graphics a snapshot gives them in parts.
let graphicsInOnePiece = 1000

private func value(_ value: some MemberReadable) -> StateNode { StateNode(value.memberValue, .whole) }

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
