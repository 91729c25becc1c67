// Handlers of `document/*`.

import GeoModel
import GeoProtocol
import Handlers
import JSONRPC
import Links
import WireCoding

package enum DocumentService: DocumentHandlers {
  package static func new(_ params: New.Params, on client: any HandlerClient) throws -> DocumentProtocol.DocumentInfo {
    if let task = client.tasks.find(.openDocument) { client.end(task, with: .cancelled) }
    try client.perform("document/new", step: nil) { $0.beginDocument() }
    return info(client.world)
  }

  package static func get(_ params: Get.Params, in world: World) throws -> DocumentProtocol.DocumentInfo {
    info(world)
  }

  // MARK: Opening

  package static func open(_ params: Open.Params, in world: inout World) throws -> Plan<DocumentProtocol.DocumentInfo> {
    reading(world) { try $0.path(params.path) }
  }

  package static func revert(
    _ params: Revert.Params, in world: inout World
  ) throws -> Plan<DocumentProtocol.DocumentInfo> {
    if let name = world.document.pendingName?.name { return reading(world) { try $0.path(name) } }
    guard let path = world.document.path else { throw RPCError.documentUntitled }
    return reading(world) { _ in path }
  }

  package static func recover(
    _ params: Recover.Params, in world: inout World
  ) throws -> Plan<DocumentProtocol.DocumentInfo> {
    guard let recovery = world.document.recovery else {
      throw RPCError(.noRecovery, "No earlier server has left an unsaved model.")
    }
    return reading(world, recovering: recovery.path) { _ in recovery.file }
  }

  /// - Parameter original: of a recovered document, the path that it has; nil in it for an untitled one.
  private static func reading(
    _ world: World, recovering original: String?? = nil, _ path: @escaping @Sendable (FilePaths) throws -> String
  ) -> Plan<DocumentProtocol.DocumentInfo> {
    let fresh = World(
      transformer: world.transformer, geodesy: world.geodesy, timeZones: world.timeZones, now: world.realTime)
    let session = world.emptied()
    // After saves in progress, since they may write the file to be read.
    return TaskPlan(.openDocument, after: [.saves]) { worker in
      let path = try path(worker.files)
      let read = try DocumentFile.read(path, into: fresh, worker, isOwn: original != nil)
      let next = Handover(try opened(read.world, original ?? path, read.unknown, in: session))
      let problems = (first: read.problems.first.map(Wire.failure), count: read.problems.count)
      return { world in
        if let next = next.take() {
          if original != nil { world.openRecovered(next) } else { world.open(next) }
        }
        var info = info(world)
        if problems.count > 0 {
          info.problems = problems.first
          info.problemCount = problems.count
        }
        return info
      }
    }
  }

  /// The world that results from an opened document, with derived values.
  static func opened(
    _ read: World, _ path: String?, _ unknown: UnknownMembers, in session: World
  ) throws -> World {
    var next = session.opening(read, path: path, unknown)
    try Propagation.propagate(&next)
    next.recordDerived()
    next.discardChanges()
    return next
  }

  // MARK: Saving

  package static func save(_ params: Save.Params, in world: inout World) throws -> Plan<DocumentProtocol.DocumentInfo> {
    // A save after a `saveAs` in progress writes to the path of the `saveAs`, which is the document's when this save runs.
    if let name = world.document.pendingName?.name { return writing(&world) { try $0.path(name) } }
    guard let path = world.document.path else { throw RPCError.documentUntitled }
    return writing(&world) { _ in path }
  }

  package static func saveAs(
    _ params: SaveAs.Params, in world: inout World
  ) throws -> Plan<DocumentProtocol.DocumentInfo> {
    writing(&world, as: params.path) { try $0.path(params.path) }
  }

  private static func writing(
    _ world: inout World, as name: String? = nil, _ path: @escaping @Sendable (FilePaths) throws -> String
  ) -> Plan<DocumentProtocol.DocumentInfo> {
    let ticket = world.beginSave(as: name)
    let snapshot = world
    return TaskPlan(.saveDocument, abandon: { $0.abandonSave(ticket) }) { worker in
      let path = try path(worker.files)
      let lost = try DocumentWriter.write(snapshot, to: path, worker).map(\.wire)
      return { world in
        // The document has been replaced during the save: only the saved file is reported.
        guard world.finishSave(ticket, path: path) else {
          return .init(revision: world.revision, path: path, isModified: false, lost: lost.isEmpty ? nil : lost)
        }
        return info(world, lost: lost)
      }
    }
  }

  private static func info(
    _ world: World, lost: [DocumentProtocol.FileAttribute] = []
  ) -> DocumentProtocol.DocumentInfo {
    .init(
      revision: world.revision, path: world.document.path, isModified: world.history.isModified,
      lost: lost.isEmpty ? nil : lost)
  }
}
