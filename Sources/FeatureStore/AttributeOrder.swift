// The order of features by attributes. Values become numeric keys, so that sorted items hold no references.

import Calendar
import Sorting

/// Rows in the order of terms, then of ids.
///
/// Each value is reduced to a 64-bit key. Rows with equal keys are sorted again by the key of the next level: further
/// bytes of a text, the nanoseconds of a time, the next term, finally the id. Comparing two keys needs no access to the
/// store.
struct AttributeOrder {
  private let store: FeatureStore
  private let terms: [SortTerm]
  /// By term, whether texts are ordered as times.
  private let areTimes: [Bool]

  init(_ store: FeatureStore, _ terms: [SortTerm]) {
    (self.store, self.terms) = (store, terms)
    areTimes = terms.map { store.schema.isTime($0.column) }
  }

  /// Identifies a key of a feature: of a term's value, or of its id after the last term.
  private struct Level: BitwiseCopyable {
    var term = 0
    var depth = 0
  }

  /// Rows whose keys are equal up to a level.
  private struct Run: BitwiseCopyable {
    let start: Int
    let end: Int
    let level: Level
  }

  // MARK: Sorting

  /// All rows in order.
  func sorted(_ rows: [UInt32], checking check: CancellationCheck) rethrows -> [UInt32] {
    var items = rows.map { SortItem(key: 0, row: $0) }
    var runs = [Run(start: 0, end: items.count, level: Level())]
    var rest = items.count
    var sinceCheck = 0
    while let run = runs.popLast() {
      // The first level is most of the work. For later levels, progress is the share of rows in final order.
      let isFirst = run.level.term == 0 && run.level.depth == 0
      let done = isFirst ? 0 : 0.8 + 0.2 * (1 - Double(rest) / Double(items.count))
      sinceCheck += run.end - run.start
      if sinceCheck >= SortItem.block {
        sinceCheck = 0
        try check(done)
      }
      let ties = try sort(&items, run) { try check(isFirst ? 0.8 * $0 : done) }
      rest -= run.end - run.start
      for tie in ties { rest += tie.end - tie.start }
      runs += ties
    }
    return items.map(\.row)
  }

  /// Sorts a run by the keys of its level.
  ///
  /// - Returns: The runs inside it whose items have equal keys, and need the next level.
  private func sort(_ items: inout [SortItem], _ run: Run, checking check: CancellationCheck) rethrows -> [Run] {
    try items.withUnsafeMutableBufferPointer { all in
      let part = UnsafeMutableBufferPointer(rebasing: all[run.start..<run.end])
      for start in stride(from: 0, to: part.count, by: SortItem.block) {
        fill(UnsafeMutableBufferPointer(rebasing: part[start..<min(start + SortItem.block, part.count)]), run.level)
        if part.count > SortItem.block { try check(0.5 * Double(start) / Double(part.count)) }
      }
      try SortItem.sortByKind(part) { try check(0.5 + 0.5 * $0) }
      return ties(in: UnsafeBufferPointer(part), run)
    }
  }

  private func ties(in items: UnsafeBufferPointer<SortItem>, _ run: Run) -> [Run] {
    var ties: [Run] = []
    var start = 0
    while start + 1 < items.count {
      let first = items[start]
      var end = start + 1
      while end < items.count, items[end].key == first.key, items[end].source == first.source { end &+= 1 }
      if end - start > 1, let level = level(after: run.level, first) {
        ties.append(Run(start: run.start + start, end: run.start + end, level: level))
      }
      start = end
    }
    return ties
  }

  // MARK: The first of many

  /// The first `count` of the rows in order.
  ///
  /// Twice as many are collected before the excess is dropped; most of the other rows then fail one comparison.
  func first(_ count: Int, of rows: [UInt32], checking check: CancellationCheck) rethrows -> [UInt32] {
    let limit = max(2 * count, 4096)
    guard limit < rows.count else { return Array(try sorted(rows, checking: check).prefix(count)) }
    var kept: [UInt32] = []
    kept.reserveCapacity(limit)
    var last: SortItem?
    var block: [SortItem] = []
    for start in stride(from: 0, to: rows.count, by: 1 << 13) {
      let done = Double(start) / Double(rows.count)
      try check(done)
      block = rows[start..<min(start + 1 << 13, rows.count)].map { SortItem(key: 0, row: $0) }
      block.withUnsafeMutableBufferPointer { fill($0, Level()) }
      for item in block {
        if let last, !isBefore(item, last) { continue }
        kept.append(item.row)
        guard kept.count == limit else { continue }
        kept = Array(try sorted(kept) { _ in try check(done) }.prefix(count))
        last = kept.last.map { self.item(of: $0, Level()) }
      }
    }
    return Array(try sorted(kept) { _ in try check(1) }.prefix(count))
  }

  /// Whether a row precedes another; both have their keys of the first level.
  private func isBefore(_ item: SortItem, _ other: SortItem) -> Bool {
    var (own, other, level) = (item, other, Level())
    while own.source == other.source && own.key == other.key {
      guard let next = self.level(after: level, own) else { return false }
      level = next
      own = self.item(of: own.row, level)
      other = self.item(of: other.row, level)
    }
    return own.source != other.source ? own.source < other.source : own.key < other.key
  }

  private func item(of row: UInt32, _ level: Level) -> SortItem {
    var item = SortItem(key: 0, row: row)
    withUnsafeMutablePointer(to: &item) { fill(UnsafeMutableBufferPointer(start: $0, count: 1), level) }
    return item
  }

  // MARK: Numbers

  /// Kinds of values in their order.
  private enum Kind: UInt32 {
    case number, instant, text, bool, none
  }

  /// The level that distinguishes rows with equal keys of this one: a further part of the same value, the next term, or the id;
  /// nil after the id.
  @inline(__always)
  private func level(after level: Level, _ item: SortItem) -> Level? {
    guard level.term < terms.count else { return nil }
    let isDescending = terms[level.term].isDescending
    let key = isDescending ? ~item.key : item.key
    let hasMore =
      switch kind(of: item, isDescending) {
      // Beyond 2^53 a double represents several integers.
      case .number: level.depth == 0 && (key >= Self.number(0x1p53) || key <= Self.number(-0x1p53))
      case .instant: level.depth == 0
      case .text: key & 0xff == 8
      case .bool, .none: false
      }
    return hasMore ? Level(term: level.term, depth: level.depth + 1) : Level(term: level.term + 1)
  }

  @inline(__always)
  private func kind(of item: SortItem, _ isDescending: Bool) -> Kind {
    let rank = isDescending && item.source < Kind.none.rawValue ? 3 - item.source : item.source
    return Kind(rawValue: rank) ?? .none
  }

  /// Sets the keys of a level; `source` is the rank of the value's kind.
  private func fill(_ items: UnsafeMutableBufferPointer<SortItem>, _ level: Level) {
    guard level.term < terms.count else {
      for index in items.indices {
        items[index].key = UInt64(store[items[index].row]?.id ?? 0)
        items[index].source = 0
      }
      return
    }
    let term = terms[level.term]
    let isTime = areTimes[level.term]
    store.forEachValue(of: term.column, in: items) { item, value in
      let (kind, key) = Self.number(of: value, at: level.depth, isTime)
      item.key = term.isDescending ? ~key : key
      item.source = term.isDescending && kind != .none ? 3 - kind.rawValue : kind.rawValue
    }
  }

  @inline(__always)
  private static func number(of value: FeatureRow.Attribute, at depth: Int, _ isTime: Bool) -> (Kind, UInt64) {
    switch value {
    case .null, .json: (.none, 0)
    case .bool(let flag): (.bool, flag ? 1 : 0)
    case .integer(let integer): (.number, depth == 0 ? number(Double(integer)) : rounding(of: integer))
    case .double(let double):
      double.isNaN ? (.none, 0) : (.number, depth == 0 ? number(double) : rounding(of: 0))
    case .string(let text):
      if isTime, let time = CivilTime(utf8: text) {
        (.instant, depth == 0 ? UInt64(bitPattern: time.seconds) ^ 1 << 63 : UInt64(time.nanoseconds))
      } else {
        (.text, text.orderKey(from: 7 * depth))
      }
    }
  }

  /// A double's bits, mapped so that they sort like the values; both zeros are equal.
  @inline(__always)
  private static func number(_ double: Double) -> UInt64 {
    let bits = (double + 0).bitPattern
    return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
  }

  /// The difference between an integer and the nearest double.
  private static func rounding(of integer: Int64) -> UInt64 {
    let nearest = Double(integer)
    // For 2^63 the wrapped difference is correct, because the difference is small.
    let whole = nearest < 0x1p63 ? Int64(nearest) : .min
    return UInt64(bitPattern: integer &- whole) ^ 1 << 63
  }
}

extension FeatureStore {
  /// Calls `body` with each item and its row's value in a column; rows that do not exist are skipped.
  @inline(__always)
  fileprivate func forEachValue(
    of column: Int, in items: UnsafeMutableBufferPointer<SortItem>,
    _ body: (inout SortItem, FeatureRow.Attribute) -> Void
  ) {
    forEachChunk(of: items.lazy.map(\.row)) { slot, range in
      let (chunk, base) = (slot.chunk, slot.base)
      let index = chunk.index(of: column)
      chunk.withReader { reader in
        for next in range {
          let row = Int(items[next].row &- base)
          if let index, let values = reader.columns?[index], !values.isElsewhere {
            body(&items[next], values.attribute(row))
          } else {
            FeatureRow(chunk: chunk, index: row, row: items[next].row).withAttribute(column) { body(&items[next], $0) }
          }
        }
      }
    }
  }
}
