// What a client is to the others of a shared model: its role, its edit, its end.

import Documents
import GeoModel
import Handlers
import JSON
import JSONRPC
import Platform
import WireCoding

extension Client {
  static let readOnly = RPCError(.readOnlyClient, "This client only reads, and the request would change the model.")

  /// The client as the author of steps; nil where one has the model alone.
  var author: ClientNumber? { host.configuration.isShared ? number : nil }

  /// Throws if the command has changed the model and the client may not.
  ///
  /// - Parameter before: number of changes when it began.
  func checkRole(since before: Int, _ method: String) throws(RPCError) {
    guard isReadOnly, host.world.changeCount > before, method != "client/update" else { return }
    throw Self.readOnly
  }

  /// At the end of input: answers the requests that wait for processes. Where the client has the model alone, all that lives ends.
  func endProcesses() {
    guard host.configuration.isShared else { return host.endLiveSources() }
    cancelProcesses()
  }

  private func cancelProcesses() {
    for process in waits.keys { cancel(process) }
  }

  /// Ends what ends with the client: tasks, subscriptions, requests that wait, its edit. Called when its connection has ended.
  func leave() {
    guard host.clients.contains(where: { $0.client === self }) else { return }
    subscribers.removeAll()
    cancelProcesses()
    for task in tasks.running { end(task, with: .cancelled) }
    flushing?.cancel()
    host.disconnect(ObjectIdentifier(self))
    if let edit, edit == host.world.edit { host.takeBackEdit(saying: "has left") }
    host.part(number.id)
  }

  /// Seconds after which an edit is taken back whose client says nothing.
  private static let editTime: UInt64 = 60_000_000_000

  /// Takes the client's edit back once it has said nothing for long.
  func watchEdit() {
    let due = heardAt + Self.editTime
    let now = loop.nanoseconds
    let bound = LoopBound(WeakClient(client: self), on: loop)
    loop.schedule(after: due > now ? due - now : 0) {
      guard let client = bound.value.client, let edit = client.edit, edit == client.host.world.edit else { return }
      guard client.loop.nanoseconds >= client.heardAt + Self.editTime else { return client.watchEdit() }
      client.host.takeBackEdit(saying: "has said nothing for 60 s")
    }
  }
}

private struct WeakClient {
  weak var client: Client?
}

extension Host {
  /// Adds a client that has begun its session to the model, for others to see.
  func join(_ client: ConnectedClient) {
    if clients.count > 1 { perform(.client(nil)) { $0.join(client) } } else { world.add(client) }
  }

  /// Removes a client that has left, together with those that leave in the same turn of the loop: each change is published to all.
  func part(_ client: ConnectedClientID) {
    leaving.append(client)
    guard leaving.count == 1 else { return }
    let bound = LoopBound(self, on: loop)
    loop.executeBehindInput {
      let host = bound.value
      let left = host.leaving
      host.leaving = []
      host.turn { host.perform(.client(nil)) { world in for client in left { world.leave(client) } } }
    }
  }

  /// Takes the open edit back and says so to all.
  func takeBackEdit(saying reason: String) {
    guard let editor = world.editor else { return }
    let name = editor.name.map { "\(editor.id) (\($0))" } ?? "\(editor.id)"
    turn {
      perform(.undo) { world in
        do throws(ModelError) { try world.cancelEdit() } catch { try? world.endEdit() }
      }
      for each in clients { each.client.warn("The edit of client \(name) is taken back: it \(reason).") }
    }
  }

  // MARK: A shared server

  /// Whether nothing would be lost, and nothing interrupted, if the server ended.
  package var isIdle: Bool {
    clients.isEmpty && !world.history.isModified && !world.isMoving && runningJobs.isEmpty && followed.isEmpty
  }

  /// Whether there are unsaved changes, once the open edit is taken back: half of it is nothing to keep.
  package func isUnsaved() -> Bool {
    if world.edit != nil { takeBackEdit(saying: "has not ended it before the server ends") }
    return world.history.isModified
  }

  /// Writes the model to a file.
  package func writeRecovery(to path: String) throws {
    try RecoveryDocument.write(world, to: path, readers: configuration.readers, configuration.documentLimits)
  }

  /// Notifies all clients, before the server ends, where the unsaved model is kept, or why it is not.
  package func announceRecovery(_ message: String, at path: String?) {
    turn {
      for each in clients {
        each.client.session?.logMessage(
          path == nil ? .error : .warning, message, event: path == nil ? .modelNotKept : .modelKept, path: path)
      }
    }
  }

  /// Its state, for people who ask which servers there are.
  package func writeStatus(name: String, web: String?, preview: String?, notKept: String?, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("name", name)
    writer.member("process", Int(getpid()))
    writer.member("document", world.document.path)
    writer.member("isModified", world.history.isModified)
    writer.member("recovery", world.document.recovery?.file)
    writer.member("web", web)
    writer.member("preview", preview)
    writer.member("notKept", notKept)
    writer.key("clients")
    writer.beginArray()
    for client in world.clients.values { Wire.object(client, world).encode(to: &writer) }
    writer.endArray()
    writer.endObject()
  }
}
