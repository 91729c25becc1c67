// Parses messages and dispatches them.

import JSON

extension Session {
  /// Runs a message: one call, or a batch.
  func handle(_ document: JSONDocument, _ text: UnsafeRawBufferPointer, at position: Int) {
    document.read { root in
      switch root.kind {
      case .object: handle(root, document, batch: nil, at: position) { MessageID(in: text)?.id }
      case .array: handleBatch(root, document, text, at: position)
      default: write(error: .invalidRequest("A message is an object or an array of objects."), id: nil, batch: nil)
      }
    }
  }

  private func handleBatch(
    _ entries: JSONValue, _ document: JSONDocument, _ text: UnsafeRawBufferPointer, at position: Int
  ) {
    let count = entries.count
    guard count > 0 else {
      return write(error: .invalidRequest("A batch has at least one entry."), id: nil, batch: nil)
    }
    guard count <= limits.batch else {
      return write(error: .batchTooLarge(limit: limits.batch), id: nil, batch: nil)
    }
    let batch = Batch()
    var ids: [RequestID?]?
    for index in 0..<count where ending == nil && !batch.exits {
      let entry = entries[index]
      if entry.kind == .object {
        handle(entry, document, batch: batch, at: position) {
          let known = ids ?? MessageID.ofBatch(text)
          ids = known
          return index < known.count ? known[index] : nil
        }
      } else {
        batch.remaining += 1
        write(error: .invalidRequest("An entry of a batch is an object."), id: nil, batch: batch)
      }
    }
    if batch.exits { cancelAll() }
    finish(batch)
    if batch.exits { exit() }
  }

  /// - Parameter refusedID: reads the id from the text, as it was written.
  private func handle(
    _ message: JSONValue, _ document: JSONDocument, batch: Batch?, at position: Int, refusedID: () -> RequestID?
  ) {
    let envelope = Envelope(message)
    guard let name = envelope.method else {
      if envelope.isResponse {
        logger.debug("a response was ignored: the server sends no requests")
        return
      }
      return refuse(.invalidRequest("A request has a method."), envelope, batch, refusedID)
    }
    guard name.kind == .string else {
      return refuse(.invalidRequest("The method is a string."), envelope, batch, refusedID)
    }
    guard envelope.isVersion2 else {
      return refuse(.invalidRequest("A request has the member \"jsonrpc\": \"2.0\"."), envelope, batch, refusedID)
    }
    var id: RequestID?
    if let given = envelope.id {
      guard let usable = usableID(given, batch, refusedID) else { return }
      id = usable
      if let batch {
        batch.remaining += 1
        batch.ids.append(usable)
        batchIDs.insert(usable)
      }
    }
    let given = envelope.params.flatMap(Self.params)
    let params = given ?? JSONDocument.emptyObject.unownedRoot
    let route = name.withUTF8 { router.find($0) }
    let call = Call(
      session: self, method: route?.name ?? "", id: id, params: params, document: document, message: message,
      hasParams: given != nil, batch: batch)
    if let id {
      request(call, id, route, name, at: position)
    } else {
      notification(call, route, name)
    }
  }

  /// Normalizes params. Some libraries send arrays: one object, possibly followed by nulls, is taken as that object.
  @inline(__always)
  private static func params(_ given: JSONValue) -> JSONValue? {
    guard given.kind == .array else { return given.isPresent ? given : nil }
    let first = given[0]
    guard (1..<max(1, given.count)).allSatisfy({ !given[$0].isPresent }) else { return given }
    return first.isPresent ? (first.kind == .object ? first : given) : nil
  }

  /// The id if it is valid; otherwise answers with an error.
  private func usableID(_ given: JSONValue, _ batch: Batch?, _ refusedID: () -> RequestID?) -> RequestID? {
    let written = given.kind == .real ? refusedID() : nil
    guard var id = RequestID(given) else {
      batch?.remaining += 1
      let error = RPCError.invalidRequest("An id is a string, or an integer within 64 bits.")
      write(
        error: written.map { error.with("offendingId", $0) } ?? error.with("offendingId", given), id: written,
        batch: batch)
      return nil
    }
    if let written { id = written }
    if inFlight[id] != nil || batchIDs.contains(id) {
      batch?.remaining += 1
      write(
        error: .invalidRequest("The id belongs to a request in flight.").with("offendingId", given), id: nil,
        batch: batch)
      return nil
    }
    return id
  }

  /// Answers an invalid request, under its id if that is valid.
  private func refuse(_ error: RPCError, _ envelope: Envelope, _ batch: Batch?, _ refusedID: () -> RequestID?) {
    var id: RequestID?
    if let given = envelope.id {
      guard let usable = usableID(given, batch, refusedID) else { return }
      id = usable
    }
    batch?.remaining += 1
    write(error: error, id: id, batch: batch)
  }

  /// Answers a message that is skipped for its size, under its id if the id is within the first ``Framer/beginningBytes``.
  func refuseLarge(_ beginning: UnsafeRawBufferPointer) {
    let id = MessageID.ofBeginning(beginning)?.id
    let isUsable = id.map { inFlight[$0] == nil } ?? false
    write(error: .messageTooLarge(limit: limits.messageBytes), id: isUsable ? id : nil, batch: nil)
  }

  /// Answers a text that is refused, under the ids of its requests, since their sender waits for answers.
  func refuse(_ unreadable: UnreadableText) {
    let error = RPCError.parse(unreadable.error, limits: limits)
    let ids = unreadable.ids.filter { inFlight[$0] == nil && !batchIDs.contains($0) }
    guard unreadable.isBatch, !ids.isEmpty else { return write(error: error, id: ids.first, batch: nil) }
    let batch = Batch()
    batch.remaining += ids.count
    for id in ids { write(error: error, id: id, batch: batch) }
    finish(batch)
  }

  // MARK: - Requests

  private func request(_ call: Call, _ id: RequestID, _ route: Router.Route?, _ name: JSONValue, at position: Int) {
    if let error = refusal(of: call, id, route, name, at: position) {
      return write(error: error, id: id, batch: call.batch)
    }
    switch route?.action {
    case .request(let handler): run(handler, call, id)
    case .builtIn(.initialize): initialize(call, id)
    case .builtIn(.shutdown): shutDown(call, id)
    default: write(error: unknownMethod(name), id: id, batch: call.batch)
    }
  }

  private func unknownMethod(_ name: JSONValue) -> RPCError {
    .unknownMethod((try? name.string()) ?? "", among: router.names)
  }

  /// Why a request is refused; nil if it may run.
  @inline(__always)
  private func refusal(
    of call: Call, _ id: RequestID, _ route: Router.Route?, _ name: JSONValue, at position: Int
  ) -> RPCError? {
    if phase == .shutDown { return .shutDown }
    if let cancelScan, cancelScan.cancels(id, at: position) { return .cancelled }
    if phase == .created, route?.requiresInitialized ?? true { return .notInitialized }
    guard let route else { return unknownMethod(name) }
    if call.params.kind != .object {
      return .invalidParams(call.params.typeError(expected: "object"), path: "/params")
    }
    if unread > limits.busyBytes, case .request = route.action { return .serverBusy(unread: unread) }
    return nil
  }

  private func run(_ handler: Handler, _ call: Call, _ id: RequestID) {
    let started = trace == .off ? 0 : loop.nanoseconds
    deferred = nil
    do {
      let reply = try handler(call)
      switch reply {
      case .result(let result):
        if let pending = takeDeferred() {
          pending.reply(result)
        } else {
          write(result: result, id: id, batch: call.batch)
          traceAnswer(call.method, id, call.params, since: started)
        }
      case .aside(let result):
        write(result: result, id: id, batch: call.batch, waits: false)
        traceAnswer(call.method, id, call.params, since: started)
      case .later:
        guard takeDeferred() == nil else { return }
        logger.error("a handler deferred its answer without a pending reply", metadata: ["method": "\(call.method)"])
        write(error: .internalError("The server lost the answer."), id: id, batch: call.batch)
      }
    } catch {
      let wire = failure(error, call)
      if let pending = takeDeferred() {
        pending.fail(wire)
      } else {
        write(error: wire, id: id, batch: call.batch, waits: true)
      }
      traceAnswer(call.method, id, call.params, since: started)
    }
  }

  func failure(_ error: any Error, _ call: Call) -> RPCError {
    if let error = error as? JSONError { return call.invalidParams(error) }
    return wireError(error)
  }

  private func takeDeferred() -> PendingReply? {
    guard deferred != nil else { return nil }
    defer { deferred = nil }
    return deferred
  }

  /// Throws if the number of unanswered requests has reached its limit.
  public func checkPending() throws(RPCError) {
    guard counters.pending < limits.requests else { throw .limitReached("requests", limit: limits.requests) }
  }

  func deferReply(_ call: Call) -> PendingReply {
    counters.deferred += 1
    let pending = PendingReply(call, started: trace == .off ? 0 : loop.nanoseconds, order: counters.deferred)
    counters.pending += 1
    if let id = call.id { inFlight[id] = pending }
    deferred = pending
    return pending
  }

  // MARK: - Notifications

  private func notification(_ call: Call, _ route: Router.Route?, _ name: JSONValue) {
    guard let route else {
      logger.debug("an unknown notification was ignored: \((try? name.string()) ?? "")")
      return
    }
    let handler: Handler
    switch route.action {
    case .builtIn(let action): return perform(action, call)
    case .request(let request): handler = request
    }
    guard phase == .initialized || (phase == .created && !route.requiresInitialized), call.params.kind == .object else {
      logger.debug("a notification was ignored", metadata: ["method": "\(route.name)"])
      return
    }
    deferred = nil
    do {
      if case .later = try handler(call) {} else { takeDeferred()?.fail(.cancelled) }
    } catch {
      // A notification has no answer that could carry the error.
      logMessage(.error, "\(route.name): \(failure(error, call).message)")
    }
    deferred = nil
  }
}
