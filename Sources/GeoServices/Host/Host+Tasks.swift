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
        let meta = try RequestMeta(call.params)
        let options = meta.task
        let place = try place(of: call, options)
        let older = place.key.flatMap { tasks.with(scope: place.scope, key: $0) }
        if let older,
          place.isLoad
            || older.method == call.method && older.revision == place.revision
              && older.question?.isSame(as: TaskRequest(call)) == true
        {
          // Who joins changes nothing, and is refused all the same.
          if let revision = meta.ifRevision { try checkRevision(revision, name, call.params, world) }
          join(older, call.deferReply(), for: place.waiterScope)
          return .later
        }
        if let handle = options?.id, let other = tasks.with(handle: handle), other !== older {
          throw ModelError.idExists(handle)
        }
        let plan = try change(call, name) { try body(params, &$0) }
        // Only now: a question that is refused takes no one's place.
        let handle = options?.id ?? tasks.handle(for: call.id)
        if let older { supersede(older, by: handle) }
        publish()
        if let answer = plan.answer { return .result(answer) }
        run(plan, call, as: handle, timeout: options?.timeout, place)
        return .later
      }
    }
  }

  private struct Place {
    var scope: ObjectReference?
    var key: String?
    /// Of what the question is about: asked of something that has changed since, it is another.
    var revision: Int?
    /// Loads of one layer are one attempt, by whichever method.
    var isLoad = false
    /// With whom one of several waiters for a load goes.
    var waiterScope: ObjectReference?
  }

  private func place(
    of call: Call, _ options: SessionProtocol.TaskOptions?
  ) throws -> Place {
    let scope = try options?.scope.map { (id) throws -> ObjectReference in
      guard let object = world.find(id) else {
        throw RPCError(.unknownId, "There is no object \"\(id)\".", path: "/params/meta/task/scope").with("id", id)
      }
      return object
    }
    if call.method == "layer/load" || call.method == "layer/retryLoad", let id = try? call.params["layer"].string(),
      !call.params["map"].isPresent, !call.params["scene"].isPresent
    {
      return Place(scope: ObjectReference(.layers, id), key: LayerService.loadKey, isLoad: true, waiterScope: scope)
    }
    if call.method == "document/open" || call.method == "document/revert" {
      // Of documents on their way the newest counts.
      return Place(scope: nil, key: DocumentService.openKey)
    }
    guard let key = options?.key else { return Place(scope: scope) }
    let revision = objectNamed(by: call.method, in: call.params, of: world).flatMap { world.revision(of: $0) }
    return Place(scope: scope, key: key, revision: revision)
  }

  private func run<R: JSONEncodable & Sendable>(
    _ plan: TaskPlan<Host, R>, _ call: Call, as handle: String, timeout: Double?, _ place: Place
  ) {
    let task = make(
      plan, handle: handle, method: call.method, scope: place.scope, key: place.key, question: TaskRequest(call))
    task.revision = place.revision
    join(task, call.deferReply(), for: place.waiterScope)
    if let timeout {
      let bound = LoopBound(self, on: loop)
      let boundTask = LoopBound(task, on: loop)
      task.timer = loop.schedule(after: UInt64(min(timeout, 1e9) * 1e9)) {
        let task = boundTask.value
        let host = bound.value
        host.session?.turn { host.end(task, with: RPCError(.timedOut, "It took longer than \(timeout) s.")) }
      }
    }
    if let awaits = plan.awaits { wait(task, for: awaits(self)) } else { task.begin?() }
  }

  /// A task that is known from now on, and whose work is still to begin.
  func make<R: JSONEncodable & Sendable>(
    _ plan: TaskPlan<Host, R>, handle: String, method: String, scope: ObjectReference?, key: String?,
    question: TaskRequest?
  ) -> RunningTask {
    let bound = LoopBound(self, on: loop)
    let progress = ProgressGate()
    let limit = session?.limits.resultBytes ?? SessionLimits().resultBytes
    let worker = Worker(files: files, resultBytes: limit) { [loop] fraction in
      progress.report(fraction, on: loop) { bound.value.report(progress.latest, of: handle) }
    }
    let task = RunningTask(
      handle: handle, method: method, scope: scope, key: key, question: question, worker: worker,
      abandon: plan.abandon.map { abandon in { abandon(&$0) } })
    tasks.running.append(task)
    tasks.started += 1
    let boundTask = LoopBound(task, on: loop)
    let readsFile = key == LayerService.loadKey || method == "source/open" || method == "document/open"
    task.begin = { [unowned self, unowned task] in
      task.begin = nil
      tasks.working += 1
      loop.offload(to: .work) { [loop] in
        let outcome = Result {
          try worker.checkCancelled()
          return try plan.work(worker)
        }
        // The params that the work may have read in place live until it is done.
        withExtendedLifetime(question) {}
        loop.execute {
          let host = bound.value
          let task = boundTask.value
          host.tasks.working -= 1
          host.session?.turn { host.finish(task, outcome) }
          // What parsers built would stay with the allocator: ten times the file, with KML.
          if readsFile { host.trimSoon() }
        }
      }
    }
    return task
  }

  private func finish<R: JSONEncodable & Sendable>(
    _ task: RunningTask, _ outcome: Result<TaskPlan<Host, R>.Finish, any Error>
  ) {
    guard tasks.running.contains(where: { $0 === task }) else { return }
    world.begin(origin: .task)
    if world.clock.mode == .real { world.skipTicks(to: configuration.now()) }
    // A document that is opened replaces every object: only what differs from before is told.
    let before = task.key == DocumentService.openKey ? world : nil
    do {
      let result = try outcome.get()(&world)
      propagateOrUnlink()
      commit(task.method)
      tasks.remove(task)
      publish(comparedWith: before)
      flushHeldBack()
      for waiter in task.waiters { waiter.reply(result) }
      releaseDependents(of: task)
    } catch {
      tasks.remove(task)
      task.abandon?(&world)
      propagateOrUnlink()
      publish()
      for waiter in task.waiters {
        waiter.fail(
          RPCError(error, in: waiter.document == nil ? nil : waiter.params, at: "/params") ?? .internalError("\(error)")
        )
      }
      releaseDependents(of: task)
    }
  }

  // MARK: Joining and ending

  /// - Parameter scope: the object with which this waiter alone goes.
  private func join(_ task: RunningTask, _ pending: PendingReply, for scope: ObjectReference?) {
    task.waiters.append(pending)
    if let scope { task.guests.append((scope, pending)) }
    pending.progress?.begin(task.method)
    pending.onCancel = { [unowned self, unowned pending] in
      task.waiters.removeAll { $0 === pending }
      if task.isUnwanted { stop(task) }
    }
  }

  /// Takes the work from a task: it stops as soon as it looks, and its world is put back.
  func stop(_ task: RunningTask) {
    guard tasks.running.contains(where: { $0 === task }) else { return }
    task.worker.cancel()
    task.begin = nil
    tasks.remove(task)
    if let abandon = task.abandon {
      world.begin(origin: .task)
      abandon(&world)
      propagateOrUnlink()
      publish()
    }
    letGo(task)
    releaseDependents(of: task)
  }

  /// Ends a task before its work does.
  func end(_ task: RunningTask, with error: RPCError) {
    let waiters = task.waiters
    task.waiters = []
    stop(task)
    for waiter in waiters { waiter.fail(error) }
  }

  private func supersede(_ task: RunningTask, by handle: String) {
    end(task, with: RPCError(.superseded, "A newer task took its place.").with("by", handle))
  }

  /// Ends the tasks that belong to an object that is gone.
  func endTasks(of object: ObjectReference) {
    for task in tasks.running where task.scope == object { end(task, with: .cancelled) }
    for task in tasks.running where task.guests.contains(where: { $0.scope == object }) {
      let leaving = task.guests.filter { $0.scope == object }.map(\.pending)
      let waiting = task.waiters.filter { waiter in leaving.contains { $0 === waiter } }
      task.guests.removeAll { $0.scope == object }
      task.waiters.removeAll { waiter in leaving.contains { $0 === waiter } }
      if task.isUnwanted { stop(task) }
      for waiter in waiting { waiter.fail(.cancelled) }
    }
  }

  private func report(_ fraction: Double, of handle: String) {
    guard let task = tasks.with(handle: handle) else { return }
    session?.turn {
      for waiter in task.waiters { waiter.progress?.report(percentage: (fraction * 1000).rounded() / 10) }
    }
    task.fraction = fraction
    for dependent in task.dependents { reportProgress(of: dependent) }
  }
}
