// The five shapes of method: one function each for the work around a handler.

import GeoModel
import GeoProtocol
import Geometry
import GeometryEngine
import Handlers
import JSON
import JSONRPC
import Links
import SpatialRelations

extension Client {
  func query<P: JSONDecodable & Sendable, R: JSONEncodable>(
    _ name: StaticString, _ body: @escaping @Sendable (P, World) throws -> R
  ) {
    router.on(name) { [self] call in
      try wired(call) {
        let params = try P(from: call.params)
        let world = host.world
        if let result = try RelationAllowance.attempt({ try body(params, world) }) { return .result(result) }
        // Later requests do not wait: it is answered as a task, of the world at its place in the order.
        try session?.checkPending()
        let request = try TaskRequest(call) { world }
        let plan = Plan<JSONOpaque>(result: { _ in
          let result = try body(params, world)
          return .made { result.encode(to: &$0) }
        })
        run(plan, call, request, as: tasks.handle(for: call.id))
        return .later
      }
    }
  }

  func command<P: JSONDecodable & Sendable, R: JSONEncodable>(
    _ name: StaticString, _ body: @escaping (P, inout World) throws -> (World) throws -> R
  ) {
    commands["\(name)"] = { params, world, writer in
      let given = try P(from: params)
      let meta = try SessionProtocol.Meta(of: params)
      // The transaction is one step, or none.
      if !meta.undo, !world.isLive { throw ModelError.undoRequired }
      if let revision = meta.ifRevision {
        // Changes by earlier commands of the transaction do not count.
        try checkRevision(revision, world.revisionAtBeginning(of: objectNamed(by: "\(name)", in: params, of: world)))
      }
      let answer = try body(given, &world)
      try Propagation.propagate(&world)
      try answer(world).encode(to: &writer)
    }
    router.on(name) { [self] call in
      try wired(call) {
        let params = try P(from: call.params)
        try host.checkDocument()
        let result = try change(call, name) { try body(params, &$0) }
        host.publish()
        return .result(result)
      }
    }
  }

  func process<P: JSONDecodable & Sendable, R: JSONEncodable>(
    _ name: StaticString, start: @escaping (P, inout World) throws -> ProcessID,
    end: @escaping (P, ProcessEnd, World) throws -> R
  ) {
    router.on(name) { [self] call in
      try wired(call) {
        let params = try P(from: call.params)
        try session?.checkPending()
        // It changes what moves, if not objects.
        if isReadOnly { throw Self.readOnly }
        try host.checkDocument()
        let process = try change(call, name) { world in
          let process = try start(params, &world)
          return { _ in process }
        }
        let pending = call.deferReply()
        pending.onCancel = { [unowned self] _ in
          cancel(process)
          return true
        }
        waits[process] = Wait(pending: pending) { [unowned self] outcome in
          guard outcome != .cancelled else { return pending.fail(.cancelled) }
          do { pending.reply(try end(params, outcome, host.world)) } catch {
            pending.fail(RPCError(error, in: nil, at: "/params", host.world) ?? .internalError("\(error)"))
          }
        }
        host.publish()
        if host.world.advance != nil { host.continueAdvance(isInBatch: call.isInBatch) }
        return .later
      }
    }
  }

  func session<P: JSONDecodable & Sendable, R: JSONEncodable>(
    _ name: StaticString, _ body: @escaping (P, any HandlerClient) throws -> R
  ) {
    router.on(name) { [self] call in
      try wired(call) {
        running = call
        defer { running = nil }
        let before = subscribers.made
        let result = try body(try P(from: call.params), self)
        guard subscribers.made > before else { return .result(result) }
        let made = before + 1...subscribers.made
        call.deferReply().reply(result)
        call.afterAnswer { [unowned self] in
          subscribers.announce(made)
          flush()
        }
        return .later
      }
    }
  }

  // MARK: -

  /// Runs a handler and converts its errors to errors of the wire, with the path in the message.
  func wired(_ call: Call, _ body: () throws -> Reply) throws -> Reply {
    flushHeldBack()
    historyWasCut = false
    let allowance = RelationAllowance(nanoseconds: RelationAllowance.onLoop)
    do {
      try checkMembers(of: call.params, for: call.method)
      _ = try SessionProtocol.Meta(of: call.params)
      let reply = try allowance.hold(body)
      if historyWasCut, case .result(let result) = reply { return .result(AfterCut(result: result)) }
      return reply
    } catch {
      if error is JSONError { throw error }
      if allowance.failure == .tooExpensive {
        throw RPCError(SpatialError.tooExpensive, at: "/params").with("method", Self.tasks[call.method])
      }
      throw RPCError(error, in: call.params, at: "/params", host.world) ?? error
    }
  }

  /// Tasks that do what a command may be refused for as too expensive.
  private static let tasks = ["layer/select": "feature/select"]

  /// Throws if params have unknown members. Checks the params of strict clients, and definitions of properties from any client.
  func checkMembers(of params: JSONValue, for method: String) throws(RPCError) {
    do {
      guard isStrict else { return try DefinitionMembers.check(params, of: method) }
      try ParamMembers.params[method]?.check(params)
    } catch { throw RPCError(error, in: params, at: "/params") }
  }

  /// Runs a command as one revision and one step of history. If it throws, it is rolled back.
  ///
  /// - Parameters:
  ///   - name: the name of the method.
  ///   - step: the name of the step; nil for `meta.step`, or else the method's name.
  ///   - body: returns a function that makes the answer. That runs after propagation, so that the answer agrees with the model.
  func change<R>(
    _ call: Call, _ name: StaticString, step: String? = nil, _ body: (inout World) throws -> (World) throws -> R
  ) throws -> R {
    let meta = try SessionProtocol.Meta(of: call.params)
    if let revision = meta.ifRevision { try checkRevision(revision, name, call.params, host.world) }
    host.world.realTime = host.now
    var closed: Set<LinkID> = []
    let (edit, editor) = (host.world.edit, host.world.editor?.id)
    while true {
      host.world.begin(origin: origin(meta), isLive: !meta.undo)
      if host.world.clock.mode == .real { host.world.skipTicks(to: host.world.clock.time(at: host.world.realTime)) }
      for link in closed { try? host.world.close(link) }
      let before = host.world.changeCount
      do {
        let answer = try body(&host.world)
        try Propagation.propagate(&host.world)
        if let error = RelationAllowance.current?.error { throw error }
        let result = try answer(host.world)
        if !meta.undo { try host.world.checkLive() }
        try checkRole(since: before, call.method)
        try checkEdit(since: edit, of: editor)
        host.commit(step ?? meta.step ?? call.method)
        noteEdit(since: edit)
        historyWasCut = host.world.isHistoryCut
        return result
      } catch {
        // Links must not block undo: links that cannot propagate are closed, and the command runs again.
        let links = host.world.hasReverted ? Propagation.links(at: error, in: host.world) : []
        host.world.rollBack()
        guard !links.isSubset(of: closed) else { throw error }
        host.warn(closing: links.subtracting(closed), after: error)
        closed.formUnion(links)
      }
    }
  }

  /// Makes a change for the session method that is being handled, and publishes it.
  func perform(_ name: StaticString, step: String?, _ body: (inout World) throws -> Void) throws {
    guard let running else { throw RPCError.internalError("no request is running") }
    try host.checkDocument()
    try change(running, name, step: step) { world in
      try body(&world)
      return { _ in }
    }
    host.publish()
  }

  func receive<R>(_ body: (inout World) throws -> R) throws -> R {
    guard let running else { throw RPCError.internalError("no request is running") }
    try host.checkDocument()
    if isReadOnly { throw Self.readOnly }
    let origin = origin(try SessionProtocol.Meta(of: running.params))
    var result = Result<R, any Error>.failure(RPCError.internalError("nothing was received"))
    host.world.realTime = host.now
    host.perform(origin) { world in
      if world.clock.mode == .real { world.skipTicks(to: world.clock.time(at: world.realTime)) }
      result = Result { try body(&world) }
    }
    return try result.get()
  }

  /// The author of a request's changes.
  private func origin(_ meta: SessionProtocol.Meta) -> Origin { .client(Text(meta.origin), author) }

  func replay(_ event: SessionProtocol.FeedEvent, of source: ObjectReference) throws {
    if isReadOnly { throw Self.readOnly }
    guard host.followed[source] != nil else {
      throw RPCError(
        .notFollowed, "\"\(source.id)\" wants no file open.", path: "/params/source", expected: "a source that follows a file and runs"
      ).with("id", source.id)
    }
    host.receive(event, of: source, canWait: false)
  }

  func cancel(_ process: ProcessID) {
    host.world.begin(origin: .client(nil, author))
    if host.world.cancel(process) {
      host.propagateOrUnlink()
      host.publish()
    }
  }
}

/// The answer to a command whose step was too large for history.
private struct AfterCut: JSONEncodable {
  let result: any JSONEncodable

  func encode(to writer: inout JSONWriter) {
    result.encode(to: &writer)
    // Results of commands are objects: the member is inserted before the last brace.
    writer.truncate(to: writer.count - 1)
    writer.member("historyCut", true)
    writer.endObject()
  }
}

/// Definitions of properties may not have unknown members, whoever the client is: a misspelt limit would have no effect.
private enum DefinitionMembers {
  private static let environment = "\(EnvironmentProtocol.Register.name)"
  private static let properties: Set<String> = ["\(ViewModelProtocol.Define.name)", "\(ViewModelProtocol.Create.name)"]

  static func check(_ params: JSONValue, of method: String) throws(UnknownMember) {
    if method == environment {
      try ParamMembers.params[method]?.check(params)
    } else if method.hasPrefix("viewModel/"), properties.contains(method) {
      try ParamShape.elements(.named { ParamMembers.propertyDefinition }).check(params["properties"])
    }
  }
}

/// Throws `contentModified` if the command's object has changed since the revision in `meta.ifRevision`.
func checkRevision(_ revision: Int, _ name: StaticString, _ params: JSONValue, _ world: World) throws {
  let object = objectNamed(by: "\(name)", in: params, of: world)
  // The command itself refuses an unknown object.
  try checkRevision(revision, object.map { world.revision(of: $0) ?? 0 } ?? world.revision)
}

private func checkRevision(_ revision: Int, _ current: Int) throws {
  if current > revision { throw ModelError.contentModified(revision: current) }
}
