// Tasks: begun on the loop, worked on elsewhere, ended on the loop; joined, superseded, cancelled, timed out.

import GeoModel
import GeoProtocol
import JSON
import JSONRPC

extension Host {
  public func task<P: JSONDecodable & Sendable, R: JSONEncodable & Sendable>(
    _ name: StaticString, _ body: @escaping (P, inout World) throws -> TaskPlan<Host, R>
  ) {
    router.on("\(name)") { [self] call in
      try wired(call) {
        let params = try P(from: call.params)
        let options = try RequestMeta(call.params).task
        let place = try place(of: name, call, options)
        let older = place.key.flatMap { tasks.with(scope: place.scope, key: $0) }
        if let older, older.params == place.params, older.method == "\(name)" || place.isLoad {
          join(older, call.deferReply())
          return .later
        }
        if let handle = options?.id, let other = tasks.with(handle: handle), other !== older {
          throw ModelError.idExists(handle)
        }
        let plan = try change(call, name) { try body(params, &$0) }
        // Only now: a question that is refused takes no one's place.
        if let older { supersede(older, by: call.id) }
        publish()
        run(plan, call, options, place)
        return .later
      }
    }
  }

  private struct Place {
    var scope: ObjectReference?
    var key: String?
    var params: String
    /// Loads of one layer are one attempt, by whichever method.
    var isLoad = false
  }

  private func place(
    of name: StaticString, _ call: Call, _ options: SessionProtocol.TaskOptions?
  ) throws -> Place {
    if "\(name)" == "layer/load" || "\(name)" == "layer/retryLoad", let id = try? call.params["layer"].string() {
      return Place(scope: ObjectReference(.layers, id), key: LayerService.loadKey, params: "", isLoad: true)
    }
    if "\(name)" == "document/open" || "\(name)" == "document/revert" {
      // Of documents on their way the newest counts.
      return Place(
        scope: nil, key: DocumentService.openKey, params: "\(name) \((try? call.params["path"].string()) ?? "")")
    }
    var scope: ObjectReference?
    if let id = options?.scope {
      guard let object = world.find(id) else {
        throw RPCError(.unknownId, "There is no object \"\(id)\".", path: "/params/meta/task/scope").with("id", id)
      }
      scope = object
    }
    guard let key = options?.key else { return Place(scope: scope, key: nil, params: "") }
    var text = JSONWriter(capacity: 256)
    call.params.forEachMember { member, value in
      guard !member.elementsEqual("meta".utf8) else { return }
      text.key(utf8: member)
      value.encode(to: &text)
    }
    return Place(scope: scope, key: key, params: text.string)
  }

  private func run<R: JSONEncodable & Sendable>(
    _ plan: TaskPlan<Host, R>, _ call: Call, _ options: SessionProtocol.TaskOptions?, _ place: Place
  ) {
    let pending = call.deferReply()
    let bound = LoopBound(self, on: loop)
    let handle = options?.id ?? Self.text(of: call.id)
    let progress = ProgressGate()
    let worker = Worker(files: files) { [loop] fraction in
      progress.report(fraction, on: loop) { bound.value.report(progress.latest, of: handle) }
    }
    let task = RunningTask(
      handle: handle, method: call.method, scope: place.scope, key: place.key, params: place.params, worker: worker,
      abandon: plan.abandon.map { abandon in { abandon(&$0) } })
    tasks.running.append(task)
    tasks.started += 1
    tasks.working += 1
    join(task, pending)
    if let timeout = options?.timeout {
      let boundTask = LoopBound(task, on: loop)
      task.timer = loop.schedule(after: UInt64(min(timeout, 1e9) * 1e9)) {
        let task = boundTask.value
        let host = bound.value
        host.session?.turn { host.end(task, with: RPCError(.timedOut, "It took longer than \(timeout) s.")) }
      }
    }
    let boundTask = LoopBound(task, on: loop)
    let document = call.document
    loop.offload(to: .work) { [loop] in
      let outcome = Result {
        try worker.checkCancelled()
        return try plan.work(worker)
      }
      // The params that the work may have read in place live until it is done.
      withExtendedLifetime(document) {}
      loop.execute {
        let host = bound.value
        let task = boundTask.value
        host.tasks.working -= 1
        host.session?.turn { host.finish(task, outcome) }
      }
    }
  }

  private func finish<R: JSONEncodable & Sendable>(
    _ task: RunningTask, _ outcome: Result<TaskPlan<Host, R>.Finish, any Error>
  ) {
    guard tasks.running.contains(where: { $0 === task }) else { return }
    world.begin(origin: .task)
    if world.clock.mode == .real { world.skipTicks(to: configuration.now()) }
    do {
      let result = try outcome.get()(&world)
      settleOrUnlink()
      world.commit(task.method)
      tasks.remove(task)
      publish()
      tellHeldBack()
      for waiter in task.waiters { waiter.reply(result) }
    } catch {
      tasks.remove(task)
      task.abandon?(&world)
      settleOrUnlink()
      publish()
      for waiter in task.waiters {
        waiter.fail(
          RPCError(error, in: waiter.document == nil ? nil : waiter.params, at: "/params") ?? .internalError("\(error)")
        )
      }
    }
  }

  // MARK: Joining and ending

  private func join(_ task: RunningTask, _ pending: PendingReply) {
    task.waiters.append(pending)
    pending.progress?.begin(task.method)
    pending.onCancel = { [unowned self, unowned pending] in
      task.waiters.removeAll { $0 === pending }
      if task.waiters.isEmpty { stop(task) }
    }
  }

  /// Takes the work from a task: it stops as soon as it looks, and its world is put back.
  private func stop(_ task: RunningTask) {
    guard tasks.running.contains(where: { $0 === task }) else { return }
    task.worker.cancel()
    tasks.remove(task)
    guard let abandon = task.abandon else { return }
    world.begin(origin: .task)
    abandon(&world)
    settleOrUnlink()
    publish()
  }

  /// Ends a task before its work does.
  func end(_ task: RunningTask, with error: RPCError) {
    let waiters = task.waiters
    task.waiters = []
    stop(task)
    for waiter in waiters { waiter.fail(error) }
  }

  private func supersede(_ task: RunningTask, by id: RequestID?) {
    let error = RPCError(.superseded, "A newer task took its place.")
    end(task, with: id.map { error.with("by", $0) } ?? error)
  }

  /// Ends the tasks that belong to an object that is gone.
  func endTasks(of object: ObjectReference) {
    for task in tasks.running where task.scope == object { end(task, with: .cancelled) }
  }

  private func report(_ fraction: Double, of handle: String) {
    guard let task = tasks.with(handle: handle) else { return }
    session?.turn {
      for waiter in task.waiters { waiter.progress?.report(percentage: (fraction * 1000).rounded() / 10) }
    }
  }

  private static func text(of id: RequestID?) -> String {
    switch id {
    case .integer(let number): "\(number)"
    case .string(let text): text
    case nil: ""
    }
  }
}
