// Results of queries: written on the worker that found them, sent as fast as the client reads.

import Handlers
import JSON
import JSONRPC
import Synchronization

/// A result as JSON text.
struct WrittenResult: Sendable {
  let json: JSONOpaque
  let byteCount: Int

  /// - Parameter isAttaching: whether bytes may follow the answer.
  init(_ result: some JSONEncodable, isAttaching: Bool) {
    var count = 0
    json = .made(isAttaching: isAttaching) { writer in
      result.encode(to: &writer)
      count = writer.count + writer.attachedCount
    }
    byteCount = count
  }
}

/// Total size of the results that wait for the client to read earlier output. Many large results requested at once are computed
/// faster than a pipe can be read.
final class WaitingSize: Sendable {
  private let bytes = Atomic(0)
  private let limit: Int

  /// - Parameter limit: the maximum size of one result, in bytes. Memory is bounded by this, plus one result per thread.
  init(limit: Int) { self.limit = limit }

  /// Whether no further query should start.
  var isFull: Bool { bytes.load(ordering: .relaxed) > limit }

  fileprivate func add(_ count: Int) { bytes.add(count, ordering: .relaxed) }
}

/// A result that waits for room in the output, for one or more requests.
private final class WaitingResult {
  let result: WrittenResult
  private let size: WaitingSize
  private var waiters: ArraySlice<PendingReply> = []

  init(_ result: WrittenResult, in size: WaitingSize) {
    (self.result, self.size) = (result, size)
    size.add(result.byteCount)
  }

  deinit { size.add(-result.byteCount) }

  /// Removes the next request that waits for the task.
  func nextWaiter(of task: RunningTask) -> PendingReply? {
    while true {
      if waiters.isEmpty { waiters = task.waiters.all[...] }
      guard let waiter = waiters.popFirst() else { return nil }
      if task.waiters.remove(waiter) { return waiter }
    }
  }
}

extension Client {
  /// Sends the answer once there is room. Until then, the task is running: it is listed, and can be cancelled or superseded.
  func hold(_ result: WrittenResult, of task: RunningTask) {
    guard task.isRunning else { return }
    flushHeldBack()
    let waiting = WaitingResult(result, in: waitingSize)
    task.hasResult = true
    task.sendPart = { [unowned self, unowned task] in
      guard let waiter = waiting.nextWaiter(of: task) else { return stop(task) }
      if task.waiters.isEmpty {
        task.sendPart = nil
        tasks.remove(task)
        if let request = task.request { tasks.finished.remember(request, result.json) }
      } else {
        tasksWithParts.prepend(task)
      }
      waiter.reply(result.json)
      if !task.isRunning { releaseDependents(of: task) }
    }
    tasksWithParts.append(task)
    sendParts()
  }

  /// Begins the work once few enough results wait.
  func postpone(_ work: @escaping () -> Void) {
    if waitingSize.isFull { postponed.append(work) } else { work() }
  }

  /// Begins postponed work if few enough results wait.
  func beginPostponed() {
    guard !postponed.isEmpty, !waitingSize.isFull else { return }
    let works = postponed
    postponed = []
    for work in works { postpone(work) }
  }
}
