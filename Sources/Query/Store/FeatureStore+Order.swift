// Features in the order of their attributes, as questions ask for pages of them.

import Geometry

/// One attribute to put features in order by.
public struct SortTerm: Hashable, Sendable {
  public let column: Int
  public let isDescending: Bool

  public init(column: Int, isDescending: Bool) {
    self.column = column
    self.isDescending = isDescending
  }
}

extension FeatureStore {
  /// The first of the rows by the terms, the first of which counts most.
  ///
  /// Numbers come before texts, which go by code points, and those before truth values. Fields declared as dates go by time. What has
  /// no value, or JSON, is last in both directions. Equal features are in the order of their ids.
  ///
  /// - Parameters:
  ///   - rows: of features that are there; others are left out.
  ///   - count: how many are wanted.
  ///   - check: called now and then; what it throws ends it.
  /// - Complexity: O(n log count), and a value read for each row.
  public func ordered(
    _ rows: [UInt32], by terms: [SortTerm], first count: Int, checking check: () throws -> Void = {}
  ) throws -> [UInt32] {
    guard let first = terms.first, count > 0 else { return [] }
    var steps = 0
    @inline(__always) func step() throws {
      steps &+= 1
      if steps & 0x3fff == 0 { try check() }
    }
    @inline(__always) func precedes(_ left: Entry, _ right: Entry) throws -> Bool {
      try step()
      // Here, and not in a call that takes copies of two keys, most comparisons end.
      if left.key.rank == right.key.rank, left.key.hint != right.key.hint {
        return (left.key.hint < right.key.hint) != first.isDescending
      }
      if let isFirst = left.key.precedes(right.key, first.isDescending) { return isFirst }
      for term in terms.dropFirst() {
        let (own, other) = (key(of: left.row, term), key(of: right.row, term))
        if let isFirst = own.precedes(other, term.isDescending) { return isFirst }
      }
      return left.id < right.id
    }
    var entries: [Entry] = []
    // Twice as many as wanted are gathered before those too many are dropped; most of the rest then fails one comparison.
    let limit = count < rows.count / 4 ? count * 2 : rows.count
    entries.reserveCapacity(limit)
    var last: Entry?
    for row in rows {
      try step()
      guard let id = self[row]?.id else { continue }
      let entry = Entry(key: key(of: row, first), row: row, id: id)
      if let last, try !precedes(entry, last) { continue }
      entries.append(entry)
      guard entries.count == limit, limit < rows.count else { continue }
      try entries.sort(by: precedes)
      entries.removeLast(entries.count - count)
      last = entries.last
    }
    try entries.sort(by: precedes)
    return entries.prefix(count).map(\.row)
  }

  private struct Entry {
    let key: SortKey
    let row: UInt32
    let id: Int
  }

  private func key(of row: UInt32, _ term: SortTerm) -> SortKey {
    guard let feature = self[row] else { return SortKey(.null) }
    let value = feature.value(term.column)
    switch schema.declaredType(of: term.column) {
    case .date, .dateTime:
      if case .string(let text) = value, let time = CivilTime(text) {
        return SortKey(.instant(InstantLiteral(time: time, text: text)))
      }
    default: break
    }
    return SortKey(Scalar(value))
  }
}

/// A value, the place of its type among all, and a number that most comparisons are settled by.
private struct SortKey {
  let value: Scalar
  let rank: UInt8
  /// Of one rank never greater for what comes first; equal for what only the values tell apart.
  let hint: UInt64
  private static let last: UInt8 = 4

  init(_ value: Scalar) {
    self.value = value
    switch value {
    case .integer(let number): (rank, hint) = (0, Self.hint(Double(number)))
    case .double(let number): (rank, hint) = (0, Self.hint(number))
    case .instant(let instant): (rank, hint) = (1, UInt64(bitPattern: instant.time.seconds) ^ 1 << 63)
    case .bytes, .text: (rank, hint) = (2, value.withText(Self.hint) ?? 0)
    case .bool(let flag): (rank, hint) = (3, flag ? 1 : 0)
    case .null, .json: (rank, hint) = (Self.last, 0)
    }
  }

  /// A double's bits in an order that goes with its value; both zeros are one.
  private static func hint(_ number: Double) -> UInt64 {
    let bits = (number + 0).bitPattern
    return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
  }

  /// The first eight bytes of a text.
  private static func hint(_ text: UnsafeRawBufferPointer) -> UInt64 {
    var hint: UInt64 = 0
    for place in 0..<8 { hint = hint << 8 | (place < text.count ? UInt64(text[place]) : 0) }
    return hint
  }

  /// Nil when neither comes first.
  @inline(__always)
  func precedes(_ other: SortKey, _ isDescending: Bool) -> Bool? {
    if rank != other.rank {
      if rank == Self.last || other.rank == Self.last { return rank < other.rank }
      return (rank < other.rank) != isDescending
    }
    if hint != other.hint { return (hint < other.hint) != isDescending }
    switch value.order(to: other.value) {
    case .less?: return !isDescending
    case .greater?: return isDescending
    case .same?, nil: return nil
    }
  }
}
