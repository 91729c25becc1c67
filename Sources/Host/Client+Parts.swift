// Results in parts: a worker thread makes a part while the client reads the previous one; it is sent when that has been read.

import Handlers
import JSON
import JSONRPC
import Subscriptions

extension Client {
  /// Sends a part of a result once there is room, and starts making the next one.
  ///
  /// A client that does not read blocks no thread: its task waits with one finished part, which is freed with the task.
  func hold<R: JSONEncodable & Sendable>(
    _ part: JSONOpaque, of task: RunningTask, _ next: @escaping Plan<R>.Work
  ) {
    guard task.isRunning else { return }
    task.sendPart = { [unowned self, unowned task] in
      task.sendPart = nil
      task.partsAhead += 1
      for waiter in task.waiters.all { waiter.send(part: part) }
      work(on: task, next)
    }
    tasksWithParts.append(task)
    sendParts()
  }

  /// Sends finished parts and results while the client reads, and while it acknowledges parts, if it acknowledges any. They state
  /// a revision, so they are held back with other answers.
  func sendParts() {
    guard !tasksWithParts.isEmpty, let session else { return }
    session.turn {
      var unacknowledged: [RunningTask] = []
      while SendLimits.hasRoomForParts(session), !session.holdsAnswers, let task = tasksWithParts.popFirst() {
        if task.maySendPart { task.sendPart?() } else { unacknowledged.append(task) }
      }
      tasksWithParts.prepend(contentsOf: unacknowledged)
    }
    beginPostponed()
  }
}
