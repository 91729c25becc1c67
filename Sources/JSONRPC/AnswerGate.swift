// Answers that are made and not written: they state what is still being told, and have to come behind it.

import JSON

/// What waits for its turn, in order.
struct AnswerGate {
  enum Item {
    /// The body of a frame.
    case answer([UInt8])
    /// What has to happen right behind the answer before it.
    case work(() -> Void)
  }

  fileprivate var items: [(mark: Int, item: Item)] = []
  /// How many of ``items`` have gone already.
  fileprivate var gone = 0
  fileprivate var mark = 0
  /// The earliest mark that has to wait.
  fileprivate var first: Int?
  fileprivate var isOpening = false
  /// The bytes of the answers that wait.
  fileprivate(set) var bytes = 0

  var isEmpty: Bool { gone == items.count }
  /// Whether an answer that is made now has to wait: none overtakes another.
  var isShut: Bool { first != nil || !isEmpty }
}

extension Session {
  /// Holds back the answers that state what the client has not been told.
  ///
  /// Each answer takes the mark that counts when it is made. Those from `first` on wait, in order, until a later call says that
  /// less is owed. They count as unread. Cancelled requests are answered at once, and so is whatever no handler was asked for.
  ///
  /// - Parameters:
  ///   - first: the earliest mark of what is still to be told; nil lets everything go.
  ///   - mark: what answers take from now on; never smaller than before.
  public func holdAnswers(from first: Int?, marking mark: Int) {
    gate.mark = mark
    gate.first = first
    if !gate.isEmpty { openGate() }
  }

  /// Makes an answer that waits.
  func holdAnswer(_ write: (inout JSONWriter) -> Void) {
    var body = JSONWriter(capacity: 256)
    write(&body)
    gate.items.append((gate.mark, .answer(Array(body.bytes))))
    gate.bytes += body.count
    checkUnread()
  }

  /// Runs `work` right behind the last answer, which may wait.
  func afterAnswers(_ work: @escaping () -> Void) {
    guard gate.isShut else { return work() }
    gate.items.append((gate.mark, .work(work)))
  }

  private func openGate() {
    guard !gate.isOpening else { return }
    gate.isOpening = true
    turn {
      while !gate.isEmpty {
        let (mark, item) = gate.items[gate.gone]
        if let first = gate.first, mark >= first { break }
        gate.items[gate.gone] = (mark, .answer([]))
        gate.gone += 1
        switch item {
        case .answer(let body):
          gate.bytes -= body.count
          body.withUnsafeBytes { writeFrame($0) }
        // It may shut the gate again for those behind it.
        case .work(let work): work()
        }
      }
      if gate.isEmpty || gate.gone > 1000 {
        gate.items.removeFirst(gate.gone)
        gate.gone = 0
      }
      gate.isOpening = false
    }
  }
}
