// Holds back answers until the notifications that precede them have been sent.

import JSON

/// Answers and work in the queue, in order.
struct AnswerGate {
  enum Item {
    /// The body of a frame.
    case answer([UInt8])
    /// Work that runs directly after the previous answer.
    case work(() -> Void)
  }

  fileprivate var items: [(mark: Int, item: Item)] = []
  /// The number of ``items`` already processed.
  fileprivate var processed = 0
  fileprivate var mark = 0
  /// The earliest mark that has to wait.
  fileprivate var first: Int?
  fileprivate var isOpening = false
  /// Bytes of the queued answers.
  fileprivate(set) var bytes = 0

  var isEmpty: Bool { processed == items.count }
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

  /// Queues an answer.
  func holdAnswer(_ write: (inout JSONWriter) -> Void) {
    var body = JSONWriter(capacity: 256)
    write(&body)
    gate.items.append((gate.mark, .answer(Array(body.bytes))))
    gate.bytes += body.count
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
      while !gate.isEmpty {
        let (mark, item) = gate.items[gate.processed]
        if let first = gate.first, mark >= first { break }
        gate.items[gate.processed] = (mark, .answer([]))
        gate.processed += 1
        switch item {
        case .answer(let body):
          gate.bytes -= body.count
          body.withUnsafeBytes { writeFrame($0) }
        // The work may close the gate again for later items.
        case .work(let work): work()
        }
      }
      if gate.isEmpty || gate.processed > 1000 {
        gate.items.removeFirst(gate.processed)
        gate.processed = 0
      }
      gate.isOpening = false
    }
  }
}
