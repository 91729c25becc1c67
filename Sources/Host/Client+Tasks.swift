// Tasks: planned on the loop, run on a worker thread, finished on the loop; joined, superseded, cancelled, timed out.

import GeoModel
import GeoProtocol
import GeometryEngine
import Handlers
import JSON
import JSONRPC
import Planning

extension Client {
  func task<P: JSONDecodable & Sendable, R: JSONEncodable & Sendable>(
    _ name: StaticString, _ body: @escaping (P, inout World) throws -> Plan<R>
  ) {
    router.on(name) { [self] call in
      try wired(call) {
        let params = try P(from: call.params)
        let request = try TaskRequest(call) { [host] in host.world }
        if let result = tasks.finished.result(of: request) {
          if let revision = request.meta.ifRevision { try checkRevision(revision, name, call.params, host.world) }
          return .result(result)
        }
        if let older = tasks.find(request.key), older.request?.isSame(as: request) == true {
          // Joining changes nothing, but `ifRevision` still applies.
          if let revision = request.meta.ifRevision { try checkRevision(revision, name, call.params, host.world) }
          try session?.checkPending()
          join(older, call, request)
          return .later
        }
        try session?.checkPending()
        var older: RunningTask?
        var joins = false
        let plan = try change(call, name) { world in
          let plan = try body(params, &world)
          do {
            if plan.kind?.needsDocument == true { try host.checkDocument() }
            if isReadOnly, plan.kind?.changesModel == true, plan.answer == nil { throw Self.readOnly }
          } catch {
            plan.abandon?(&world)
            throw error
          }
          older = tasks.find(plan.kind?.key ?? request.key)
          if let older { joins = older.isShared || older.request?.isSame(as: request) == true }
          if !joins, let handle = request.meta.task?.id, let other = tasks.with(handle: handle), other !== older {
            throw ModelError.idExists(handle, holder: "task", isClosed: false)
          }
          if !joins { try checkCount(of: plan) }
          return { _ in plan }
        }
        if let older, joins {
          host.publish()
          join(older, call, request)
          return .later
        }
        // After the plan, because a request that is refused must not supersede a task.
        let handle = request.meta.task?.id ?? tasks.handle(for: call.id)
        if let older { supersede(older, by: handle) }
        tasks.finished.forget(request.key)
        host.publish()
        if let answer = plan.answer {
          tasks.finished.remember(request, answer)
          return .result(answer)
        }
        run(plan, call, request, as: handle)
        return .later
      }
    }
  }

  /// Throws if a plan, with the loads that it waits for, would exceed the limit of tasks.
  private func checkCount<R>(of plan: Plan<R>) throws(RPCError) {
    let limit = host.configuration.limits.tasks
    guard plan.answer != nil || tasks.count + 1 + plan.prerequisites.count <= limit else {
      throw .limitReached("tasks", limit: limit)
    }
  }

  func run<R: JSONEncodable & Sendable>(
    _ plan: Plan<R>, _ call: Call, _ request: TaskRequest, as handle: String
  ) {
    let task = make(plan, handle: handle, method: call.method, request)
    join(task, call, request)
    if let timeout = request.meta.task?.timeout {
      let bound = LoopBound(self, on: loop)
      let boundTask = LoopBound(task, on: loop)
      task.timer = loop.schedule(after: UInt64(min(timeout, 1e9) * 1e9)) {
        let task = boundTask.value
        let client = bound.value
        let error = RPCError(.timedOut, "It took longer than \(timeout) s.")
        client.session?.turn { _ = client.end(task, with: error) }
      }
    }
    wait(task, for: plan.prerequisites.flatMap(begin))
  }

  /// Registers a task. Its work starts with `task.begin`.
  func make<R: JSONEncodable & Sendable>(
    _ plan: Plan<R>, handle: String, method: String, _ request: TaskRequest?
  ) -> RunningTask {
    let bound = LoopBound(self, on: loop)
    let progress = ProgressGate()
    let worker = Worker(
      files: files, readers: readers, resultBytes: host.configuration.limits.resultBytes,
      documentLimits: host.configuration.documentLimits, hasFonts: hasFonts,
      isAttaching: session?.attaches ?? false, host.labels
    ) { [loop] fraction in
      progress.report(fraction, on: loop) { bound.value.report(progress.latest, of: handle) }
    }
    let task = RunningTask(
      handle: handle, method: method, plan.kind, request: request, worker: worker,
      abandon: plan.abandon.map { abandon in { abandon(&$0) } })
    tasks.add(task)
    task.begin = { [unowned self, unowned task] in
      task.begin = nil
      work(on: task, plan.work)
    }
    return task
  }

  /// Runs a piece of a task's work on a worker thread.
  func work<R: JSONEncodable & Sendable>(on task: RunningTask, _ piece: @escaping Plan<R>.Work) {
    tasks.working += 1
    let (worker, request, kind) = (task.worker, task.request, task.kind)
    let bound = LoopBound(self, on: loop)
    let boundTask = LoopBound(task, on: loop)
    let priority = request?.meta.task?.priority.map(WorkPriority.init)
    let waiting = kind == nil ? waitingSize : nil
    loop.offload(to: kind?.lane(priority) ?? .work(priority ?? .utility)) { [loop, ended = endedWork] in
      if waiting?.isFull == true {
        return loop.execute { bound.value.postpone(boundTask.value, piece) }
      }
      let outcome = Result { try worker.work.run { WorkEnd<R>(try piece(worker), isAttaching: worker.work.isAttaching) } }
      // Keeps the params alive, as the work may read them in place.
      withExtendedLifetime(request) {}
      let isFirst = ended.add {
        let client = bound.value
        client.tasks.working -= 1
        client.take(outcome, of: boundTask.value)
        if kind?.readsFile == true { client.host.trimSoon() }
      }
      if isFirst { loop.execute { bound.value.takeEndedWork() } }
    }
  }

  /// Time in nanoseconds after which collected answers are sent, even if more could be collected.
  private static let turnTime: UInt64 = 1_000_000

  private func takeEndedWork() {
    var ends = endedWork.takeAll()
    guard let session else { return }
    while !ends.isEmpty {
      session.turn {
        let start = loop.nanoseconds
        repeat { ends.popFirst()?() } while !ends.isEmpty && loop.nanoseconds - start < Self.turnTime
      }
    }
  }

  /// Postpones a piece of work until the client has read more of the earlier results.
  private func postpone<R: JSONEncodable & Sendable>(_ task: RunningTask, _ piece: @escaping Plan<R>.Work) {
    tasks.working -= 1
    postpone { [unowned self] in if task.isRunning { work(on: task, piece) } }
  }

  private func take<R: JSONEncodable & Sendable>(_ outcome: Result<WorkEnd<R>, any Error>, of task: RunningTask) {
    switch outcome {
    case .success(.part(let part, let next)): hold(part, of: task, next)
    case .success(.answer(let result)): hold(result, of: task)
    case .success(.last(let end)): finish(task, .success(end))
    case .failure(let error): finish(task, Result<Plan<R>.Finish, any Error>.failure(error))
    }
  }

  private func finish<R: JSONEncodable & Sendable>(
    _ task: RunningTask, _ outcome: Result<Plan<R>.Finish, any Error>
  ) {
    guard task.isRunning else { return }
    host.world.begin(origin: .task, author: author)
    if host.world.clock.mode == .real { host.world.skipTicks(to: host.world.clock.time(at: realTime)) }
    let (edit, editor) = (host.world.edit, host.world.editor?.id)
    do {
      let result = try RelationAllowance(nanoseconds: RelationAllowance.onLoop).hold {
        let result = try outcome.get()(&host.world)
        host.propagateOrUnlink()
        return result
      }
      // Another client may have begun an edit meanwhile.
      do { try checkEdit(since: edit, of: editor) } catch {
        host.world.rollBack()
        throw error
      }
      host.commit(task.request?.meta.step ?? task.method)
      tasks.remove(task)
      host.publish()
      flushHeldBack()
      if let request = task.request { tasks.finished.remember(request, result) }
      for waiter in task.waiters.all { waiter.reply(result) }
      releaseDependents(of: task)
    } catch {
      tasks.remove(task)
      task.abandon?(&host.world)
      host.propagateOrUnlink()
      host.publish()
      for waiter in task.waiters.all {
        waiter.fail(
          RPCError(error, in: waiter.document == nil ? nil : waiter.params, at: "/params", host.world)
            ?? .internalError("\(error)")
        )
      }
      releaseDependents(of: task)
    }
  }

  // MARK: Joining and ending

  private func join(_ task: RunningTask, _ call: Call, _ request: TaskRequest) {
    let pending = call.deferReply()
    task.waiters.add(pending)
    // The scope of a load is its layer; a request's own scope ends only this waiter.
    if task.isShared, let scope = request.scope { tasks.add(pending, scopedTo: scope, of: task) }
    pending.progress?.begin(task.method)
    pending.onCancel = { [unowned self] pending in
      guard !task.hasLastWaiter || task.worker.work.cancel() else { return false }
      task.waiters.remove(pending)
      if task.isUnwanted { stop(task) }
      return true
    }
  }

  /// Cancels a task's work, which stops at its next cancellation check, and restores the world.
  func stop(_ task: RunningTask) {
    guard task.isRunning else { return }
    task.worker.work.cancel()
    task.begin = nil
    task.sendPart = nil
    tasks.remove(task)
    if let abandon = task.abandon {
      host.perform(.task, abandon)
    }
    releasePrerequisites(of: task)
    releaseDependents(of: task)
    beginPostponed()
  }

  /// Stops a task and fails its waiters, unless its work already takes effect.
  ///
  /// - Returns: whether it was stopped.
  @discardableResult func end(_ task: RunningTask, with error: RPCError) -> Bool {
    guard task.worker.work.cancel() else { return false }
    let waiters = task.waiters.all
    task.waiters.removeAll()
    stop(task)
    for waiter in waiters { waiter.fail(error) }
    return true
  }

  private func supersede(_ task: RunningTask, by handle: String) {
    end(task, with: RPCError(.superseded, "A newer task took its place.").with("by", handle))
  }

  /// Ends the tasks whose scope is a closed object.
  func endTasks(of object: ObjectReference) {
    self.tasks.finished.forget(scope: object)
    let tasks = tasks.scoped(to: object)
    for task in tasks where task.scope == object { end(task, with: .cancelled) }
    for task in tasks where task.scope != object {
      let waiting = task.guests[object, default: []].filter { task.waiters.remove($0) }
      if task.isUnwanted { stop(task) }
      for waiter in waiting { waiter.fail(.cancelled) }
    }
  }

  /// Ends the tasks that have a scope, when another document replaces all objects.
  func endScopedTasks() {
    tasks.finished.forgetScopes()
    for object in tasks.scopes { endTasks(of: object) }
  }

  private func report(_ fraction: Double, of handle: String) {
    guard let task = tasks.with(handle: handle) else { return }
    session?.turn {
      for waiter in task.waiters.all { waiter.progress?.report(percentage: Int(fraction * 100)) }
    }
    record(fraction, of: task)
  }
}

/// The outcome of a piece of work. A result that changes nothing is encoded on the worker, since a long one would block the loop.
private enum WorkEnd<R: JSONEncodable & Sendable>: Sendable {
  case part(JSONOpaque, next: Plan<R>.Work)
  case answer(WrittenResult)
  case last(Plan<R>.Finish)

  /// - Parameter isAttaching: whether bytes may follow the messages of the client.
  init(_ step: Plan<R>.Step, isAttaching: Bool) {
    switch step {
    case .part(let part, let next): self = .part(part, next: next)
    case .last(let end): self = .last(end)
    case .answer(let result): self = .answer(WrittenResult(result, isAttaching: isAttaching))
    }
  }
}
