// The nodes of the tree other than objects: the clock, history and the document.

import GeoModel

/// A snapshot contains more graphics or layer states than this in several pieces.
package let itemsInOnePiece = 1000

extension StateTree {
  package static func clock(_ world: World) -> StateNode {
    branch(["mode": world.clock.mode.wire.rawValue, "tickRate": world.clock.tickRate, "factor": world.clock.factor])
  }

  package static func edit(_ history: History) -> StateNode {
    branch([
      "canUndo": history.canUndo, "canRedo": history.canRedo, "undoName": history.undoName,
      "redoName": history.redoName, "isEditing": history.isEditing,
    ])
  }

  package static func document(_ world: World) -> StateNode {
    branch([
      "path": world.document.path, "recovery": world.document.recovery?.file, "isModified": world.history.isModified,
    ])
  }

  private static func branch(_ members: KeyValuePairs<String, any MemberReadable>) -> StateNode {
    .branch({ members.map(\.key) }) { name in
      members.first { $0.key == name }.map { StateNode($0.value.memberValue, .whole) }
    }
  }
}
