// Handlers of `edit/*`: undo, redo, and edits that combine commands into one step.

import GeoModel
import GeoProtocol

package enum EditService: EditHandlers {
  package static func undo(_ params: Undo.Params, in world: inout World) throws -> Answer<Undo.Result> {
    guard params.steps <= max(1, world.history.undoNames.count) else { throw ModelError.nothingToUndo }
    let names = try (0..<params.steps).map { _ in params.own ? try world.undoOwn(isOne: params.steps == 1) : try world.undo() }
    return { .init(revision: $0.revision, names: names) }
  }

  package static func redo(_ params: Redo.Params, in world: inout World) throws -> Answer<Redo.Result> {
    guard params.own || params.steps <= max(1, world.history.redoNames.count) else { throw ModelError.nothingToRedo }
    let names = try (0..<params.steps).map { _ in params.own ? try world.redoOwn() : try world.redo() }
    return { .init(revision: $0.revision, names: names) }
  }

  package static func begin(_ params: Begin.Params, in world: inout World) throws {
    try world.beginEdit(params.name)
  }

  package static func end(_ params: End.Params, in world: inout World) throws {
    try world.endEdit()
  }

  package static func cancel(_ params: Cancel.Params, in world: inout World) throws {
    try world.cancelEdit()
  }

  package static func history(_ params: EditProtocol.History.Params, in world: World) throws -> EditProtocol.EditHistory
  {
    let history = world.history
    return .init(
      revision: world.revision, canUndo: history.canUndo, canRedo: history.canRedo, undo: history.undoNames,
      redo: history.redoNames, isEditing: history.isEditing, bytes: history.byteCount)
  }
}
