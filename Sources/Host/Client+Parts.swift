// Results in parts: a part is made on a worker thread while the client reads the one before, and sent once it has.

import Handlers
import JSON
import JSONRPC
import Planning
import Subscriptions

extension Client {
  /// Sends a part of a result as soon as there is room, and has the next one made.
  ///
  /// A client that does not read holds up no thread: its task waits with one part made, which ends with the task.
  func hold<R: JSONEncodable & Sendable>(
    _ part: [UInt8], of task: RunningTask, _ next: @escaping Plan<R>.Work
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

  /// Sends the parts and results that are ready, while the client reads, and acknowledges parts if it does. They state a revision, so
  /// they wait where answers do.
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
