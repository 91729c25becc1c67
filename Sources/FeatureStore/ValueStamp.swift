// Stamps of attribute changes, unique in the process, because copies of a store change independently and share value indexes.

import Synchronization

enum ValueStamp {
  private static let last = Atomic<UInt64>(0)

  static func next() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
}
