// The tasks of a session: what runs, for whom, and what replaces or ends it.

import GeoModel
import JSON
import JSONRPC

/// A task that has not been answered.
public final class RunningTask {
  let handle: String
  let method: String
  let scope: ObjectReference?
  let key: String?
  /// The params it was begun with, without `meta`, as text: equal params join.
  let params: String
  let worker: Worker
  /// Puts the world back when the work does not come to its end.
  let abandon: ((inout World) -> Void)?
  var waiters: [PendingReply] = []
  var timer: LoopTimer?
  /// Hands the work to a worker thread.
  var begin: (() -> Void)?
  /// What has to end before it begins.
  var awaited: [RunningTask] = []
  var awaitedCount = 0
  /// Tasks that wait for this one.
  var dependents: [RunningTask] = []
  /// How far it is, in 0...1.
  var fraction = 0.0
  var isUnwanted: Bool { waiters.isEmpty && dependents.isEmpty }

  init(
    handle: String, method: String, scope: ObjectReference?, key: String?, params: String, worker: Worker,
    abandon: ((inout World) -> Void)?
  ) {
    self.handle = handle
    self.method = method
    self.scope = scope
    self.key = key
    self.params = params
    self.worker = worker
    self.abandon = abandon
  }
}

struct Tasks {
  /// In the order they began.
  var running: [RunningTask] = []
  var started = 0
  /// Work under way, cancelled work that has not stopped yet included.
  var working = 0

  func with(scope: ObjectReference?, key: String) -> RunningTask? {
    running.first { $0.key == key && $0.scope == scope }
  }

  func with(handle: String) -> RunningTask? { running.first { $0.handle == handle } }

  mutating func remove(_ task: RunningTask) {
    task.timer?.cancel()
    running.removeAll { $0 === task }
  }
}
