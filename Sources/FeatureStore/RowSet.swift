// A set of rows as bits, for membership tests.

/// A set of rows.
public struct RowSet: Sendable {
  private var words: [UInt64]

  /// - Complexity: O(n).
  public init(_ rows: [UInt32]) {
    words = [UInt64](repeating: 0, count: rows.last.map { Int($0) / 64 + 1 } ?? 0)
    for row in rows { insert(row) }
  }

  public mutating func insert(_ row: UInt32) {
    let word = Int(row) / 64
    while words.count <= word { words.append(0) }
    words[word] |= 1 << UInt64(row & 63)
  }

  @inline(__always)
  public func contains(_ row: UInt32) -> Bool {
    let word = Int(row &>> 6)
    return word < words.count && words[word] &>> UInt64(row & 63) & 1 == 1
  }
}
