// Orders the saves of one file by their requests, whichever worker runs first.

import Geometry
import Synchronization

/// Runs saves one at a time, and skips one when a later one has been written to the same file.
final class SaveQueue: Sendable {
  static let shared = SaveQueue()
  private let lastNumber = Atomic(0)
  /// The number of the last save written, by path.
  private let written = Mutex<[Text: Int]>([:])

  /// The number of a new save. Called on the loop, so that numbers follow the order of requests.
  func next() -> Int { lastNumber.add(1, ordering: .relaxed).newValue }

  /// Runs `write` unless a save with a higher number has been written to `path`.
  func run(_ number: Int, _ path: String, _ write: () throws -> Void) throws {
    let path = Text(path)
    try written.withLock { written in
      if let last = written[path], last > number { return }
      try write()
      written[path] = number
    }
  }
}
