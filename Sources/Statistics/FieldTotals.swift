// Totals of one column for each group, computed chunk by chunk in loops over the numbers.

import Expressions
import FeatureStore
import Filtering
import Geometry
import Sorting

/// The totals of one column by group.
struct FieldTotals {
  let column: Int
  private let isTime: Bool
  private let needs: Needs
  /// The number of values that are not null, by group.
  private(set) var counts: [Int] = []
  private(set) var numbers: [NumberTotals] = []
  /// Deviations by group; empty if not needed, like the extremes.
  private(set) var deviations: [Deviations] = []
  private(set) var extremes: [Extremes] = []
  /// Sums of integers by group that are not in the totals yet: converting them takes longer than adding them.
  private var pending: [NumberPart<IntegerSum>] = []
  /// All numbers by group.
  private var kept: [[Double]] = []
  private(set) var keptCount = 0
  private var isSorted = false

  /// Totals that only some statistics need.
  struct Needs: OptionSet {
    let rawValue: UInt8
    static let deviations = Needs(rawValue: 1)
    static let extremes = Needs(rawValue: 2)
    static let values = Needs(rawValue: 4)
  }

  /// The first and last value in the order of values.
  struct Extremes {
    fileprivate(set) var least: RankedValue?
    fileprivate(set) var greatest: RankedValue?

    fileprivate mutating func include(_ value: RankedValue?) {
      guard let value else { return }
      if least.map({ value.precedes($0) }) ?? true { least = value }
      if greatest.map({ $0.precedes(value) }) ?? true { greatest = value }
    }
  }

  init(_ column: Int, for kinds: some Sequence<Statistic.Kind>, isTime: Bool) {
    (self.column, self.isTime) = (column, isTime)
    needs = kinds.reduce([]) { $0.union($1.record.needs) }
  }

  mutating func reserve(_ groups: Int) {
    while counts.count < groups {
      counts.append(0)
      numbers.append(NumberTotals())
      if needs.contains(.deviations) { deviations.append(Deviations()) }
      if needs.contains(.extremes) { extremes.append(Extremes()) }
      if needs.contains(.values) { kept.append([]) }
    }
  }

  mutating func removeAll() {
    counts.removeAll(keepingCapacity: true)
    numbers.removeAll(keepingCapacity: true)
    deviations.removeAll(keepingCapacity: true)
    extremes.removeAll(keepingCapacity: true)
    kept.removeAll(keepingCapacity: true)
    pending.removeAll(keepingCapacity: true)
    (keptCount, isSorted) = (0, false)
  }

  // MARK: Quantiles

  /// Called after the last value of chunks. Without it, each quantile sorts a copy.
  mutating func finish(checking check: CancellationCheck) throws {
    for group in pending.indices {
      if group & 0xfff == 0xfff { try check(0) }
      addPending(group)
    }
    pending = []
    for group in kept.indices {
      let done = Double(group) / Double(kept.count)
      try check(done)
      var items = kept[group].map { SortItem(key: Self.key($0), row: 0) }
      try SortItem.sort(&items) { _ in try check(done) }
      kept[group] = items.map { Double(bitPattern: $0.key >> 63 == 0 ? ~$0.key : $0.key ^ 1 << 63) }
    }
    isSorted = true
  }

  /// The bits of a double in the order of numbers.
  private static func key(_ number: Double) -> UInt64 {
    let bits = number.bitPattern
    return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
  }

  /// The number at a fraction of the way through the sorted numbers, interpolated as SQL's `PERCENTILE_CONT`.
  func quantile(_ fraction: Double, of group: Int) -> AttributeValue {
    let numbers = isSorted ? kept[group] : kept[group].sorted()
    guard let last = numbers.last else { return .null }
    let place = fraction * Double(numbers.count - 1)
    let index = Int(place)
    guard index + 1 < numbers.count else { return .finite(last) }
    let (low, high, part) = (numbers[index], numbers[index + 1], place - Double(index))
    let way = high - low
    // The difference of two doubles may be beyond their range.
    guard way.isFinite else { return .finite(low * (1 - part) + high * part) }
    return .finite(part < 0.5 ? low + way * part : high - way * (1 - part))
  }

  // MARK: Rows

  mutating func add(_ row: FeatureRow, to group: Int) {
    row.withAttribute(column) { add($0, to: group) }
  }

  /// Adds rows of a chunk.
  mutating func add(_ rows: UnsafeBufferPointer<UInt16>, of chunk: FeatureChunk, _ groups: borrowing RowGroups) {
    guard let index = chunk.index(of: column) else { return }
    switch chunk.columns[index].layout {
    case .integers where chunk.columns[index].integerBounds.isAddable && !needs.contains(.values):
      let parts = NumberPart<IntegerSum>.parts(of: chunk.columns[index], rows, groups, true, known: pending)
      while pending.count < counts.count { pending.append(NumberPart()) }
      for (part, group) in zip(parts, groups.occurring) {
        if pending[group].count + part.count > NumberPart<IntegerSum>.most { addPending(group) }
        pending[group].add(part)
      }
    case .integers where chunk.columns[index].integerBounds.isSummable && !needs.contains(.values):
      add(
        NumberPart<IntegerSum>.parts(of: chunk.columns[index], rows, groups, needs.contains(.deviations)),
        groups.occurring)
    case .doubles where chunk.columns[index].doubleBounds.isSummable(needs) && !needs.contains(.values):
      add(
        NumberPart<DoubleSum>.parts(of: chunk.columns[index], rows, groups, needs.contains(.deviations)),
        groups.occurring)
    default:
      for (place, row) in rows.enumerated() {
        FeatureRow(chunk: chunk, index: Int(row), row: 0).withAttribute(column) {
          add($0, to: groups.occurring[Int(groups.local[place])])
        }
      }
    }
  }

  /// Adds one value.
  private mutating func add(_ attribute: FeatureRow.Attribute, to group: Int) {
    let scalar = Scalar(attribute)
    if scalar.isNull { return }
    counts[group] += 1
    if needs.contains(.values), let number = scalar.number {
      kept[group].append(number)
      keptCount += 1
    }
    switch scalar {
    case .integer(let number):
      numbers[group].add(integers: number)
      if needs.contains(.deviations) { deviations[group].add(Deviations(count: 1, mean: DoubleDouble(number))) }
    case .double(let number):
      numbers[group].add(double: number)
      if needs.contains(.deviations) { deviations[group].add(Deviations(number)) }
    case .null, .bool, .bytes, .text, .instant, .json: break
    }
    if needs.contains(.extremes) { extremes[group].include(RankedValue(scalar.attribute, isTime: isTime)) }
  }

  private mutating func addPending(_ group: Int) {
    add([pending[group]], [group])
    pending[group] = NumberPart()
  }

  /// Adds the sums of a chunk's groups.
  private mutating func add<Sum>(_ parts: [NumberPart<Sum>], _ occurring: [Int]) {
    for (part, group) in zip(parts, occurring) where part.count > 0 {
      counts[group] += part.count
      part.sum.add(to: &numbers[group], part.count)
      if needs.contains(.deviations) { deviations[group].add(part.deviations) }
      guard needs.contains(.extremes) else { continue }
      extremes[group].include(RankedValue(Sum.value(part.least), isTime: false))
      extremes[group].include(RankedValue(Sum.value(part.greatest), isTime: false))
    }
  }
}

extension ValueBounds<Int64> {
  /// Whether sums of many chunks fit as ``isSummable`` says.
  fileprivate var isAddable: Bool { least > -(1 << 43) && greatest < 1 << 43 }

  /// Whether the sum of a chunk's values fits in 64 bits.
  fileprivate var isSummable: Bool {
    let bound = Int64.max / Int64(FeatureChunk.capacity)
    return least > -bound && greatest < bound
  }
}

extension ValueBounds<Double> {
  /// Whether the needed sums of the values of many chunks cannot overflow.
  fileprivate func isSummable(_ needs: FieldTotals.Needs) -> Bool {
    let bound = needs.contains(.deviations) ? Deviations.bound : WideSum.bound
    return least > -bound && greatest < bound
  }
}
