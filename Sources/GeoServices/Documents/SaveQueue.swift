// Saves of one file, in the order in which they were asked for, whichever worker comes first.

import Geometry
import Synchronization

final class SaveQueue: Sendable {
  static let shared = SaveQueue()
  private let begun = Atomic(0)
  /// The number of what was last written, by path.
  private let written = Mutex<[Text: Int]>([:])

  /// The place in the order; to be taken on the loop.
  func next() -> Int { begun.add(1, ordering: .relaxed).newValue }

  /// Runs `write`, one at a time, unless something newer stands in the file already.
  func run(_ number: Int, _ path: String, _ write: () throws -> Void) throws {
    let path = Text(path)
    try written.withLock { written in
      if let last = written[path], last > number { return }
      try write()
      written[path] = number
    }
  }
}
