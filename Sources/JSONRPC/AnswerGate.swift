// Holds back answers until the notifications that precede them have been sent.

import DequeModule
import JSON

/// Answers and work in the queue, in order.
struct AnswerGate {
  enum Item {
    /// The body of a frame.
    case answer(JSONOpaque, count: Int)
    /// Work that runs directly after the previous answer.
    case work(() -> Void)
  }

  fileprivate var items: Deque<(mark: Int, item: Item)> = []
  fileprivate var mark = 0
  /// The earliest mark that has to wait.
  fileprivate var first: Int?
  fileprivate var isOpening = false
  /// Bytes of the queued answers.
  fileprivate(set) var bytes = 0

  var isEmpty: Bool { items.isEmpty }
  /// Whether a new answer has to wait: answers never overtake each other.
  var isShut: Bool { first != nil || !isEmpty }
}

extension Session {
  /// Holds back answers that state changes not yet sent to the client.
  ///
  /// Each answer takes the mark that is current when it is made. Answers with marks from `first` on wait, in order,
  /// until a later call raises or clears `first`. They count as unread. Cancelled requests, and errors that no handler
  /// made, are answered at once.
  ///
  /// - Parameters:
  ///   - first: the earliest mark not yet sent; nil releases all answers.
  ///   - mark: the mark of answers made from now on; never decreases.
  public func holdAnswers(from first: Int?, marking mark: Int) {
    gate.mark = mark
    gate.first = first
    if !gate.isEmpty { openGate() }
  }

  /// Whether an answer that is given now waits for notifications.
  public var holdsAnswers: Bool { gate.isShut }

  /// Queues an answer.
  func holdAnswer(_ write: (inout JSONWriter) -> Void) {
    var count = 0
    let body = JSONOpaque.made(isAttaching: attaches) { writer in
      write(&writer)
      count = writer.count + writer.attachedCount
    }
    gate.items.append((gate.mark, .answer(body, count: count)))
    gate.bytes += count
    checkUnread()
  }

  /// Runs `work` directly after the last answer, which may be queued.
  func afterAnswers(_ work: @escaping () -> Void) {
    guard gate.isShut else { return work() }
    gate.items.append((gate.mark, .work(work)))
  }

  private func openGate() {
    guard !gate.isOpening else { return }
    gate.isOpening = true
    turn {
      while let (mark, item) = gate.items.first, mark < gate.first ?? .max {
        gate.items.removeFirst()
        switch item {
        case .answer(let body, let count):
          gate.bytes -= count
          writeFrame { body.encode(to: &$0) }
        // The work may close the gate again for later items.
        case .work(let work): work()
        }
      }
      gate.isOpening = false
    }
  }
}
