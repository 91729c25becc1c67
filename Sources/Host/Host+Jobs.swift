// Does the work of jobs that the model wants to run, several side by side, and says what becomes of it.

import Documents
import GeoModel
import GeometryEngine
import Handlers
import JSONRPC
import Planning
import SpatialRelations
import WireCoding

/// An attempt to do the work of a job.
final class RunningJob {
  let id: JobID
  let run: JobRun
  /// The work; nil before its turn.
  var work: Work?

  init(_ id: JobID, _ run: JobRun) { (self.id, self.run) = (id, run) }

  var progress: JobProgress { JobProgress(done: work?.items?.done, total: work?.items?.total) }
}

extension Host {
  /// Maximum number of jobs that run side by side.
  private static let jobLimit = 4
  /// At most eight reports of progress a second.
  private static let reportInterval: UInt64 = 120_000_000

  /// Begins, pauses, resumes and cancels the work of jobs that have changed. Runs after each change.
  func matchJobs(_ changes: [Change]) {
    for change in changes {
      switch change.event {
      case .created(let object), .closed(let object), .changed(let object, .status):
        if object.collection == .jobs { match(JobID(object.id)) }
      case .replaced: for id in runningJobs.keys { match(id) }
      case .changed, .member, .graphics, .entities, .clock, .history, .document: break
      }
    }
  }

  private func match(_ id: JobID) {
    let job = world.jobs[id]
    if let old = runningJobs[id], job?.run !== old.run {
      old.work?.cancel()
      runningJobs[id] = nil
    }
    guard let job, let run = job.run else { return }
    let running = runningJobs[id] ?? RunningJob(id, run)
    if runningJobs.updateValue(running, forKey: id) == nil {
      // Attempts that are over before their turn must not pile up behind jobs that take long.
      if waitingJobs.count > 2 * runningJobs.count + 64 { waitingJobs.removeAll { runningJobs[$0.id] !== $0 } }
      waitingJobs.append(running)
    }
    running.work?.isPaused = job.status == .paused
    if job.status == .canceling {
      if let work = running.work { work.cancel() } else { later(running) { $0.end($1, after: .failure(CancellationError())) } }
    }
    beginJobs()
  }

  /// Begins waiting jobs while there are places for them. A paused job gives up its place, and will begin anew.
  private func beginJobs() {
    while let next = waitingJobs.first {
      let status = runningJobs[next.id] === next ? world.jobs[next.id]?.status : nil
      if status == .started {
        guard jobsAtWork.count < Self.jobLimit || giveUpPaused() else { return }
        begin(next)
      } else if status == .paused {
        // It waits again once it is resumed.
        runningJobs[next.id] = nil
      }
      waitingJobs.removeFirst()
    }
  }

  /// - Returns: whether a paused job has given up its place.
  private func giveUpPaused() -> Bool {
    guard let paused = jobsAtWork.first(where: { runningJobs[$0.id] === $0 && world.jobs[$0.id]?.status == .paused }),
      paused.work?.cancel() == true
    else { return false }
    runningJobs[paused.id] = nil
    leave(paused)
    later(paused) { host, paused in host.changeJobs { $0.restartJob(paused.id, paused.run) } }
    return true
  }

  /// Does something after the change that is being published.
  private func later(_ running: RunningJob, _ body: @escaping @Sendable (Host, RunningJob) -> Void) {
    let bound = LoopBound((host: self, job: running), on: loop)
    loop.execute { body(bound.value.host, bound.value.job) }
  }

  private func leave(_ running: RunningJob) {
    jobsAtWork.removeAll { $0 === running }
  }

  private func begin(_ running: RunningJob) {
    jobsAtWork.append(running)
    let bound = LoopBound((host: self, job: running), on: loop)
    let progress = ProgressGate(interval: Self.reportInterval, startsNow: true)
    let worker = Worker(
      files: files, readers: configuration.readers, resultBytes: configuration.limits.resultBytes,
      documentLimits: configuration.documentLimits
    ) { [loop] fraction in
      progress.report(fraction, on: loop) { bound.value.host.report(progress.latest, of: bound.value.job) }
    }
    running.work = worker.work
    var world = world
    let plan = Result {
      try RelationAllowance(nanoseconds: RelationAllowance.onLoop).hold {
        try JobMethods.all.plan(try world.jobs.require(running.id), in: &world)
      }
    }
    loop.offload(to: .waiting(.utility)) { [loop] in
      let outcome = Result { try worker.work.run { try plan.get()(worker) } }
      loop.execute { bound.value.host.end(bound.value.job, after: outcome) }
    }
  }

  private func report(_ fraction: Double, of running: RunningJob) {
    guard runningJobs[running.id] === running else { return }
    var progress = running.progress
    progress.fraction = min(1, max(0, fraction))
    changeJobs(canWait: true) { $0.report(progress, of: running.id, running.run) }
  }

  /// Takes the outcome of an attempt, later where this is amid a change.
  private func end(_ running: RunningJob, after outcome: Result<Value, any Error>) {
    leave(running)
    if runningJobs[running.id] === running {
      runningJobs[running.id] = nil
      var progress = running.progress
      let status: JobStatus
      let text: String
      switch outcome {
      case .success(let result):
        (progress.fraction, progress.done) = (1, progress.total ?? progress.done)
        (status, text) = (.succeeded(result), "succeeded")
      case .failure(let error):
        let failure = (RPCError(error, in: nil, at: "/params", world) ?? .internalError("\(error)")).failure
        if failure.kind == "notLoaded", world.jobs[running.id]?.status != .canceling {
          // As after a document was opened: it begins anew once its layers are loaded and it is resumed.
          (progress, status, text) = (JobProgress(), .paused, "paused: \(failure.message)")
          break
        }
        progress.fraction = world.jobs[running.id]?.progress.fraction ?? 0
        (status, text) = (.failed(failure), failure.kind == "cancelled" ? "cancelled" : "failed: \(failure.message)")
      }
      changeJobs { $0.end(running.id, running.run, status, progress, saying: [text]) }
    }
    beginJobs()
  }

  /// Cancels all work, at the end of the session.
  func endJobs() {
    for running in runningJobs.values { running.work?.cancel() }
    (runningJobs, waitingJobs) = ([:], [])
  }

  private func changeJobs(canWait: Bool = false, _ body: (inout World) -> Void) {
    turn {
      world.realTime = now
      perform(.task, canWait: canWait) { world in
        if world.clock.mode == .real { world.skipTicks(to: world.clock.time(at: world.realTime)) }
        body(&world)
      }
    }
  }
}
