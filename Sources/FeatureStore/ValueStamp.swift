// Numbers of changes of attributes, unique in the process: copies of a store change independently, and share indexes of values.

import Synchronization

enum ValueStamp {
  private static let last = Atomic<UInt64>(0)

  static func next() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
}
