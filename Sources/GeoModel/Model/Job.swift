// Jobs: long work as an object with a status. What runs is a wish of the model; others do the work and say what became of it.

import Geometry

/// The state of a job.
public enum JobStatus: Sendable, Equatable {
  case notStarted, started, paused, canceling
  case succeeded(Value)
  case failed(Failure)

  /// Its name on the wire.
  public var name: String {
    switch self {
    case .notStarted: "notStarted"
    case .started: "started"
    case .paused: "paused"
    case .canceling: "canceling"
    case .succeeded: "succeeded"
    case .failed: "failed"
    }
  }

  public var hasEnded: Bool {
    switch self {
    case .succeeded, .failed: true
    case .notStarted, .started, .paused, .canceling: false
    }
  }
}

/// What a job says of its course.
public struct JobMessage: Hashable, Sendable {
  public let time: String
  public let text: String

  public init(time: String, text: String) { (self.time, self.text) = (time, text) }
}

/// How far a job is.
public struct JobProgress: Hashable, Sendable {
  /// In 0...1.
  public var fraction = 0.0
  /// Features of the present file; nil before they are known.
  public var done: Int?
  public var total: Int?

  public init(fraction: Double = 0, done: Int? = nil, total: Int? = nil) {
    (self.fraction, self.done, self.total) = (fraction, done, total)
  }
}

/// An attempt to do a job's work, by its identity.
public final class JobRun: Sendable {}

/// Work of a method that is done in the background.
public struct Job: Entity {
  public let id: JobID
  public var revision = 0
  /// The object that closes the job when it closes; nil for the session.
  public let owner: ObjectReference?
  /// The method whose work it does.
  public let method: String
  /// Its params, with absolute paths.
  public let params: Value
  public internal(set) var status = JobStatus.notStarted
  public internal(set) var progress = JobProgress()
  public internal(set) var messages: [JobMessage] = []
  /// The attempt that runs, or is paused amid its work; nil if there is none.
  public internal(set) var run: JobRun?

  /// Maximum number of jobs of a session.
  public static let limit = 10_000
  private static let messageLimit = 100

  public init(id: JobID, owner: ObjectReference?, method: String, params: Value) {
    (self.id, self.owner, self.method, self.params) = (id, owner, method, params)
  }

  /// Its progress is live, so it does not count as a change of the owner.
  public var parent: ObjectReference? { nil }
  /// What has been done is not undone.
  public func undone(from current: Job) -> Job { current }
  public var byteCount: Int { 1024 + params.byteCount }

  /// As another session finds it: what has not ended is paused, and begins anew.
  public var saved: Job {
    guard !status.hasEnded, status != .notStarted else { return self }
    var result = self
    result.status = .paused
    (result.progress, result.run) = (JobProgress(), nil)
    return result
  }

  fileprivate mutating func say(_ texts: [String], at now: Instant) {
    messages = (messages + texts.map { JobMessage(time: now.text, text: $0) }).suffix(Self.messageLimit)
  }
}

/// What clients do to jobs.
public enum JobAction: Sendable { case start, pause, resume, cancel }

extension World {
  public mutating func createJob(
    id: JobID?, owner: ObjectReference?, method: String, params: Value
  ) throws(ModelError) -> Job {
    try checkFree(id)
    try checkNesting(inOwner: owner)
    return insert(Job(id: try claim(id, prefix: "job"), owner: owner, method: method, params: params))
  }

  /// Gives a job that was read from a document its state.
  public mutating func restoreJob(
    _ id: JobID, _ status: JobStatus, _ progress: JobProgress, _ messages: [JobMessage]
  ) throws(ModelError) {
    try change(id) { (job) throws(ModelError) in
      job.status = status
      job.progress = progress
      job.messages = messages
      job = job.saved
    }
  }

  public mutating func act(_ action: JobAction, on id: JobID) throws(ModelError) {
    let job = try jobs.require(id)
    let now = clock.now
    func become(_ status: JobStatus, _ text: String, run: JobRun?) throws(ModelError) {
      try change(id) { (job) throws(ModelError) in
        (job.status, job.run) = (status, run)
        job.say([text], at: now)
      }
    }
    switch (action, job.status) {
    case (.start, .started), (.resume, .started), (.pause, .paused), (.cancel, .canceling), (.cancel, .succeeded), (.cancel, .failed):
      return
    case (.start, .notStarted): try become(.started, "started", run: JobRun())
    case (.start, .paused), (.resume, .paused): try become(.started, "resumed", run: job.run ?? JobRun())
    case (.pause, .started): try become(.paused, "paused", run: job.run)
    case (.cancel, _) where job.run != nil: try become(.canceling, "canceling", run: job.run)
    case (.cancel, _):
      try become(.failed(Failure(kind: "cancelled", message: "The request was cancelled.")), "cancelled", run: nil)
    case (.start, _), (.pause, _), (.resume, _): throw .jobStatus(id.rawValue, action, found: job.status.name)
    }
  }

  /// Publishes how far an attempt is, unless it is the job's no longer.
  public mutating func report(_ progress: JobProgress, of id: JobID, _ run: JobRun) {
    guard jobs[id]?.run === run else { return }
    changeKnown(id) { $0.progress = progress }
  }

  /// Ends an attempt, unless it is the job's no longer.
  ///
  /// - Parameter messages: said before the end.
  public mutating func end(_ id: JobID, _ run: JobRun, _ status: JobStatus, _ progress: JobProgress, saying messages: [String]) {
    guard jobs[id]?.run === run else { return }
    let now = clock.now
    changeKnown(id) { job in
      (job.status, job.run, job.progress) = (status, nil, progress)
      job.say(messages, at: now)
    }
  }

  /// A paused attempt has given its place up, and begins anew when it is resumed.
  public mutating func restartJob(_ id: JobID, _ run: JobRun) { report(JobProgress(), of: id, run) }
}
