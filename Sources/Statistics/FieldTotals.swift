// What is known of one column for each group: filled chunk by chunk, in loops over its numbers.

import Expressions
import FeatureStore
import Filtering
import Geometry

/// The totals of one column by group.
struct FieldTotals {
  let column: Int
  private let isTime: Bool
  private let needsExtremes: Bool
  private let needsVariance: Bool
  /// By group, the number of values that are not null.
  private var counts: [Int] = []
  private var numbers: [NumberTotals] = []
  /// Empty unless needed, as the next two.
  private var deviations: [Deviations] = []
  private var least: [RankedValue?] = []
  private var greatest: [RankedValue?] = []

  init(_ column: Int, for kinds: Set<Statistic.Kind>, isTime: Bool) {
    (self.column, self.isTime) = (column, isTime)
    needsExtremes = !kinds.isDisjoint(with: [.min, .max])
    needsVariance = !kinds.isDisjoint(with: [.variance, .standardDeviation])
  }

  mutating func reserve(_ groups: Int) {
    while counts.count < groups {
      counts.append(0)
      numbers.append(NumberTotals())
      if needsVariance { deviations.append(Deviations()) }
      if needsExtremes {
        least.append(nil)
        greatest.append(nil)
      }
    }
  }

  mutating func removeAll() {
    counts.removeAll(keepingCapacity: true)
    numbers.removeAll(keepingCapacity: true)
    deviations.removeAll(keepingCapacity: true)
    least.removeAll(keepingCapacity: true)
    greatest.removeAll(keepingCapacity: true)
  }

  func result(_ kind: Statistic.Kind, of group: Int) -> AttributeValue {
    let totals = numbers[group]
    func value(_ number: Double?) -> AttributeValue {
      number.flatMap { $0.isFinite ? .double($0) : nil } ?? .null
    }
    switch kind {
    case .count: return .integer(Int64(counts[group]))
    case .sum: return totals.count == 0 ? .null : totals.integer.map(AttributeValue.integer) ?? value(totals.sum)
    case .mean: return value(totals.mean)
    case .variance: return value(deviations[group].variance)
    case .standardDeviation: return value(deviations[group].variance?.squareRoot())
    case .min: return least[group]?.value ?? .null
    case .max: return greatest[group]?.value ?? .null
    }
  }

  // MARK: Rows

  mutating func add(_ row: FeatureRow, to group: Int) {
    row.withAttribute(column) { add($0, to: group) }
  }

  /// Adds rows of a chunk.
  mutating func add(_ rows: UnsafeBufferPointer<UInt16>, of chunk: FeatureChunk, _ groups: borrowing RowGroups) {
    guard let index = chunk.index(of: column) else { return }
    switch chunk.columns[index].layout {
    case .integers where chunk.columns[index].integerBounds.isSummable:
      add(NumberPart<IntegerSum>.parts(of: chunk.columns[index], rows, groups, needsVariance), groups.occurring)
    case .doubles where chunk.columns[index].doubleBounds.isSummable:
      add(NumberPart<DoubleSum>.parts(of: chunk.columns[index], rows, groups, needsVariance), groups.occurring)
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
    switch scalar {
    case .integer(let number):
      numbers[group].add(integers: number)
      if needsVariance { deviations[group].add(Deviations(count: 1, mean: DoubleDouble(number))) }
    case .double(let number):
      numbers[group].add(double: number)
      if needsVariance { deviations[group].add(Deviations(count: 1, mean: DoubleDouble(number))) }
    default: break
    }
    if needsExtremes { include(RankedValue(scalar.attribute, isTime: isTime), in: group) }
  }

  /// Adds the parts of a chunk's groups.
  private mutating func add<Sum>(_ parts: [NumberPart<Sum>], _ occurring: [Int]) {
    for (part, group) in zip(parts, occurring) where part.count > 0 {
      counts[group] += part.count
      part.sum.add(to: &numbers[group], part.count)
      if needsVariance { deviations[group].add(part.deviations) }
      guard needsExtremes else { continue }
      include(RankedValue(Sum.value(part.least), isTime: false), in: group)
      include(RankedValue(Sum.value(part.greatest), isTime: false), in: group)
    }
  }

  private mutating func include(_ value: RankedValue?, in group: Int) {
    guard let value else { return }
    if least[group].map({ value.precedes($0) }) ?? true { least[group] = value }
    if greatest[group].map({ $0.precedes(value) }) ?? true { greatest[group] = value }
  }
}

extension ValueBounds<Int64> {
  /// Whether the values of a chunk have a sum of 64 bits.
  fileprivate var isSummable: Bool {
    let bound = Int64.max / Int64(FeatureChunk.capacity)
    return least > -bound && greatest < bound
  }
}

extension ValueBounds<Double> {
  /// Whether the values of many chunks have a sum.
  fileprivate var isSummable: Bool { least > -WideSum.bound && greatest < WideSum.bound }
}
