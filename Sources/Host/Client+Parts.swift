// Results in parts: a part is made on a worker thread while the client reads the one before, and sent once it has.

import Handlers
import JSON
import JSONRPC
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

  /// Sends the parts that are ready, while the client reads, and acknowledges them if it does. Parts state a revision, so they
  /// wait where answers do.
  func sendParts() {
    sendResults()
    guard !tasksWithParts.isEmpty, let session else { return }
    session.turn {
      var waiting = tasksWithParts
      tasksWithParts = []
      while SendLimits.hasRoomForParts(session), !session.holdsAnswers,
        let next = waiting.firstIndex(where: \.maySendPart)
      {
        waiting.remove(at: next).sendPart?()
      }
      tasksWithParts = waiting + tasksWithParts
    }
  }
}
