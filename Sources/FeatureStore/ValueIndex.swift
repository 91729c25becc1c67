// Rows by the values of one column: finds features by equality without a scan.

import Geometry
import Sorting

/// The rows of a store at one time, in buckets by a hash of their value in a column. Rows without a value are not included. For
/// comparisons other than equality use ``ValueBounds``.
///
/// Results have to be tested: a bucket also contains rows of other values, and of features that have changed since. Chunks whose
/// column has changed since are detected by their stamps, and have to be scanned; so an index serves any copy of its store.
/// Removed rows are included, because undo may restore them.
///
/// Memory: six to eight bytes per row.
package final class ValueIndex: Sendable {
  private struct Chunk: BitwiseCopyable {
    let base: UInt32
    /// The stamps of the slot and of its column.
    let stamps: (slot: UInt64, column: UInt64)
  }

  private let column: Int
  /// By ascending base.
  private let chunks: [Chunk]
  /// Where each bucket starts in ``rows``, and the end of the last.
  private let starts: [UInt32]
  /// Ascending in each bucket.
  private let rows: [UInt32]

  /// - Parameter check: called every few thousand rows.
  /// - Complexity: O(n); about 50 nanoseconds for a text.
  package init(_ store: FeatureStore, column: Int, checking check: CancellationCheck) rethrows {
    self.column = column
    chunks = store.slots.map { slot in
      Chunk(base: slot.base, stamps: (slot.stamp, slot.chunk.stamp(of: column)))
    }
    let bits = max(4, Int.bitWidth - (store.count / 2).leadingZeroBitCount)
    var counts = [UInt32](repeating: 0, count: 1 << bits + 1)
    var hashed: [(bucket: UInt32, row: UInt32)] = []
    hashed.reserveCapacity(store.count)
    for (number, slot) in store.slots.enumerated() {
      if number & 7 == 7 { try check(0.5 * Double(number) / Double(store.slots.count)) }
      slot.chunk.forEachHash(of: column) { row, hash in
        let bucket = Int(truncatingIfNeeded: hash >> UInt64(64 - bits))
        counts[bucket + 1] += 1
        hashed.append((UInt32(truncatingIfNeeded: bucket), slot.base + UInt32(truncatingIfNeeded: row)))
      }
    }
    for bucket in 0..<1 << bits { counts[bucket + 1] += counts[bucket] }
    starts = counts
    var sorted = [UInt32](repeating: 0, count: hashed.count)
    for start in stride(from: 0, to: hashed.count, by: 1 << 14) {
      try check(0.5 + 0.5 * Double(start) / Double(hashed.count))
      for (bucket, row) in hashed[start..<min(start + 1 << 14, hashed.count)] {
        sorted[Int(counts[Int(bucket)])] = row
        counts[Int(bucket)] += 1
      }
    }
    rows = sorted
  }

  /// The rows that may have one of the values, ascending, except those of the chunks that start at `stale` rows.
  package func rows(of values: [AttributeValue], except stale: Set<UInt32>) -> [UInt32] {
    var found: [UInt32] = []
    for bucket in Set(values.compactMap(bucket)).sorted() {
      found += rows[Int(starts[bucket])..<Int(starts[bucket + 1])]
    }
    let capacity = UInt32(FeatureChunk.capacity)
    if !stale.isEmpty { found.removeAll { stale.contains($0 / capacity * capacity) } }
    return values.count == 1 ? found : found.sorted()
  }

  /// An upper bound of the number of ``rows(of:except:)``.
  package func count(of values: [AttributeValue]) -> Int {
    Set(values.compactMap(bucket)).reduce(0) { $0 + Int(starts[$1 + 1] - starts[$1]) }
  }

  private func bucket(of value: AttributeValue) -> Int? {
    // `starts` has one entry more than there are buckets, whose number is a power of two.
    let bits = (starts.count - 1).trailingZeroBitCount
    return value.equalityHash.map { Int(truncatingIfNeeded: $0 >> UInt64(64 - bits)) }
  }

  /// The numbers of the slots whose column has changed since the index was built.
  ///
  /// - Complexity: O(chunks): a microsecond for a million rows without changed attributes.
  package func staleSlots(of store: FeatureStore) -> [Int] {
    var stale: [Int] = []
    var next = 0
    for (number, slot) in store.slots.enumerated() {
      while next < chunks.count, chunks[next].base < slot.base { next += 1 }
      guard next < chunks.count, chunks[next].base == slot.base else {
        stale.append(number)
        continue
      }
      let stamps = chunks[next].stamps
      if stamps.slot != slot.stamp, stamps.column != slot.chunk.stamp(of: column) { stale.append(number) }
    }
    return stale
  }
}

extension FeatureChunk {
  /// The stamp of a column; 0 if no row has a value.
  fileprivate func stamp(of column: Int) -> UInt64 { index(of: column).map { columns[$0].stamp } ?? 0 }

  /// Calls `body` with the hashes of all comparable values, each at least once.
  package func forEachDistinctHash(of column: Int, _ body: (UInt64) -> Void) {
    guard let index = index(of: column) else { return }
    let isOfCodes = withReader { reader in
      guard let values = reader.columns?[index], values.layout == .codes else { return false }
      for code in 0..<values.distinctCount {
        if let hash = values.distinctText(code).flatMap({ FeatureRow.Attribute.string($0).equalityHash }) { body(hash) }
      }
      return true
    }
    if !isOfCodes { forEachHash(of: column) { body($1) } }
  }

  /// Calls `body` with each row that has a comparable value, and the hash of the value.
  func forEachHash(of column: Int, _ body: (Int, UInt64) -> Void) {
    guard let index = index(of: column) else { return }
    let end = min(count, columns[index].count)
    withReader { reader in
      guard let values = reader.columns?[index], !values.isElsewhere else {
        let column = columns[index]
        for row in 0..<end { if let hash = column[row].equalityHash { body(row, hash) } }
        return
      }
      for row in 0..<end { if let hash = values.attribute(row).equalityHash { body(row, hash) } }
    }
  }
}

extension AttributeValue {
  fileprivate var equalityHash: UInt64? { withAttribute(\.equalityHash) }
}

extension FeatureRow.Attribute {
  /// A hash that is equal for values that compare as equal; nil for values that are not comparable.
  fileprivate var equalityHash: UInt64? {
    switch self {
    case .null, .json: nil
    case .bool(let flag): Self.mixed(flag ? 1 : 2)
    case .integer(let number): Self.mixed(UInt64(bitPattern: number))
    case .double(let number):
      number.isNaN
        ? nil : Self.mixed(Int64(exactly: number).map { UInt64(bitPattern: $0) } ?? number.bitPattern)
    case .string(let text): Self.mixed(text.quickHash)
    }
  }

  /// Distributes the bits: the finalizer of splitmix64 (Steele, Lea, Flood, OOPSLA 2014).
  private static func mixed(_ number: UInt64) -> UInt64 {
    var bits = (number ^ number >> 30) &* 0xbf58_476d_1ce4_e5b9
    bits = (bits ^ bits >> 27) &* 0x94d0_49bb_1331_11eb
    return bits ^ bits >> 31
  }
}
