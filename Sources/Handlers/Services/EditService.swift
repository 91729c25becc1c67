// Handlers of `edit/*`: undo, redo, and edits that combine commands into one step.

import GeoModel
import GeoProtocol

package enum EditService: EditHandlers {
  package typealias Types = Server

  package static func undo(_ params: EditProtocol.Undo.Params, in world: inout World) throws -> EditProtocol.Undo.Result
  {
    guard params.steps <= max(1, world.history.undoNames.count) else { throw ModelError.nothingToUndo }
    var names: [String] = []
    for _ in 0..<params.steps { names.append(try world.undo()) }
    return .init(revision: world.revision, names: names)
  }

  package static func redo(_ params: EditProtocol.Redo.Params, in world: inout World) throws -> EditProtocol.Redo.Result
  {
    guard params.steps <= max(1, world.history.redoNames.count) else { throw ModelError.nothingToRedo }
    var names: [String] = []
    for _ in 0..<params.steps { names.append(try world.redo()) }
    return .init(revision: world.revision, names: names)
  }

  package static func begin(_ params: EditProtocol.Begin.Params, in world: inout World) throws
    -> EditProtocol.Begin.Result
  {
    try world.beginEdit(params.name)
    return .init(revision: world.revision)
  }

  package static func end(_ params: EditProtocol.End.Params, in world: inout World) throws -> EditProtocol.End.Result {
    try world.endEdit()
    return .init(revision: world.revision)
  }

  package static func cancel(_ params: EditProtocol.Cancel.Params, in world: inout World) throws
    -> EditProtocol.Cancel.Result
  {
    try world.cancelEdit()
    return .init(revision: world.revision)
  }

  package static func history(_ params: EditProtocol.History.Params, in world: World) throws -> EditProtocol.EditHistory
  {
    let history = world.history
    return .init(
      revision: world.revision, canUndo: history.canUndo, canRedo: history.canRedo, undo: history.undoNames,
      redo: history.redoNames, isEditing: history.isEditing, bytes: history.byteCount)
  }
}
