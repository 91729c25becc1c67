// Many rows put in order by a number each, by pieces, so that who asked can be looked at in between.

/// Called now and then while something long goes on, with how much of it is done, in 0...1 and never less than before. What it
/// throws ends it.
public typealias Look = (Double) throws -> Void

extension IndexItem {
  /// So many are sorted at once, in half a millisecond.
  static let block = 1 << 15

  /// Sorts by key and row: blocks by themselves, which are then merged.
  ///
  /// - Parameter look: called between pieces of less than a millisecond.
  static func sort(_ items: inout [IndexItem], looking look: Look) rethrows {
    guard items.count > block else { return sort(&items) }
    let blocks = (items.count + block - 1) / block
    let rounds = Int.bitWidth - (blocks - 1).leadingZeroBitCount
    let total = Double(items.count * (rounds + 1))
    var done = 0
    func step(_ count: Int) throws {
      done += count
      try look(Double(done) / total)
    }
    var sorted: [IndexItem] = []
    sorted.reserveCapacity(items.count)
    for start in stride(from: 0, to: items.count, by: block) {
      var piece = Array(items[start..<min(start + block, items.count)])
      sort(&piece)
      sorted += piece
      try step(piece.count)
    }
    var width = block
    while width < items.count {
      try merge(sorted, width, into: &items, step)
      swap(&items, &sorted)
      width *= 2
    }
    swap(&items, &sorted)
  }

  /// Merges sorted runs of `width` two by two.
  private static func merge(
    _ from: [IndexItem], _ width: Int, into to: inout [IndexItem], _ step: (Int) throws -> Void
  ) rethrows {
    try from.withUnsafeBufferPointer { from in
      try to.withUnsafeMutableBufferPointer { to in
        for start in stride(from: 0, to: from.count, by: 2 * width) {
          let middle = min(start + width, from.count)
          let end = min(middle + width, from.count)
          var (left, right, next) = (start, middle, start)
          while next < end {
            let begin = next
            let pause = min(next + block, end)
            while next < pause, left < middle, right < end {
              // Chosen without a branch, which would be guessed wrong half the time.
              let isRight = from[right].isBefore(from[left].key, from[left].row)
              to[next] = from[isRight ? right : left]
              right &+= isRight ? 1 : 0
              left &+= isRight ? 0 : 1
              next &+= 1
            }
            while next < pause, left < middle, right == end {
              to[next] = from[left]
              left &+= 1
              next &+= 1
            }
            while next < pause, left == middle {
              to[next] = from[right]
              right &+= 1
              next &+= 1
            }
            try step(pause - begin)
          }
        }
      }
    }
  }
}
