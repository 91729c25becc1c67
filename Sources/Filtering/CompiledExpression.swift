// An expression over the columns of a store: evaluates one feature, or filters many.

import Expressions
import FeatureStore
import Geometry
import SpatialRelations
import TextFormatting

/// An expression whose properties are resolved to columns of one schema. Cheap to copy, and usable on any thread.
///
/// Column numbers of a store never change, so it stays valid when the store changes. For another schema, as after reloading a
/// layer, compile again.
///
/// ```swift
/// let filter = try Expression("population > 1000").compiled(for: store.schema, as: .condition)
/// let rows = store.rows(where: filter)
/// ```
public struct CompiledExpression: Sendable {
  let tree: ExpressionTree
  /// The column of each property.
  let columns: [Int]
  let plan: FilterPlan
  let conventions: TextConventions

  init(tree: ExpressionTree, columns: [Int], conventions: TextConventions) {
    self.tree = tree
    self.columns = columns
    self.conventions = conventions
    plan = FilterPlan(tree, tree.root, isWanted: true)
  }

  /// The value for a feature of the store for which it was compiled.
  public func value(of row: FeatureRow) -> AttributeValue {
    // Texts are read in place, so the chunk must be held until the value has been copied.
    defer { withExtendedLifetime(row.chunk) {} }
    return tree.withEvaluator(RowValues(chunk: row.chunk, index: row.index, columns: columns), by: conventions) {
      $0.value(tree.root).attribute
    }
  }

  /// The type of the values over the schema for which it was compiled, as far as fields of declared types determine it.
  ///
  /// - Parameter arithmetic: columns whose declared type is not exact.
  package func resultType(over schema: FeatureSchema, arithmetic: some Sequence<Int>) -> ResultType? {
    tree.resultType { property in
      let column = columns[property]
      let type = column == .max ? nil : schema.declaredType(of: column)
      return type.map { ResultType($0, isExact: !arithmetic.contains(column)) }
    }
  }

  /// Whether the value is true: neither false nor null.
  public func isTrue(for row: FeatureRow) -> Bool { holds(plan, row.chunk, row.index) }

  /// Whether a plan is true for a row of a chunk. A plan over one column does not need the evaluator.
  private func holds(_ plan: FilterPlan, _ chunk: FeatureChunk, _ index: Int) -> Bool {
    switch plan {
    case .never: return false
    case .always: return true
    case .all(let parts): return parts.allSatisfy { holds($0, chunk, index) }
    case .any(let parts): return parts.contains { holds($0, chunk, index) }
    case .test(let property, let test):
      defer { withExtendedLifetime(chunk) {} }
      return test.holds(chunk.scalar(columns[property], at: index))
    case .node(let node, let isWanted):
      defer { withExtendedLifetime(chunk) {} }
      return tree.withEvaluator(RowValues(chunk: chunk, index: index, columns: columns), by: conventions) {
        $0.truth(node) == isWanted
      }
    }
  }

  /// The rows for which it is true, in order; rows that are not in the store are left out.
  ///
  /// - Complexity: O(n). Rows that are near each other in the store are tested column by column, without creating values.
  public func filter(_ rows: [UInt32], of store: FeatureStore) -> [UInt32] {
    let result = [UInt32](unsafeUninitializedCapacity: rows.count) { result, count in
      rows.withUnsafeBufferPointer { rows in
        RowMask.withRows { mask in
          store.forEachChunk(of: rows) { slot, range in
            filter(rows[range], slot.base, slot.chunk, mask, into: result, &count)
          }
        }
      }
    }
    // A result that is much smaller than its buffer is copied, to free the buffer.
    return result.count < rows.count / 2 ? result.withUnsafeBufferPointer { Array($0) } : result
  }

  /// Boxes that contain all features for which it is true; nil if features anywhere may match.
  public var indexBoxes: [Envelope]? { tree.boxes(of: plan) }

  /// The estimated cost of its spatial functions for one feature, in units of a simple test.
  public var spatialCost: Int { tree.spatialCost }

  /// Filters rows of one chunk. `result` has room for them after `count`.
  private func filter(
    _ rows: Slice<UnsafeBufferPointer<UInt32>>, _ base: UInt32, _ chunk: FeatureChunk, _ mask: RowMask,
    into result: UnsafeMutableBufferPointer<UInt32>, _ count: inout Int
  ) {
    // Resolving a chunk's columns costs about as much as testing this many features.
    guard rows.count >= 16 else {
      for row in rows where chunk.isLive(Int(row - base)) && holds(plan, chunk, Int(row - base)) {
        result.initializeElement(at: count, to: row)
        count += 1
      }
      return
    }
    mask.update(repeating: 0)
    for row in rows { mask[Int(row &- base)] = 1 }
    chunk.unmarkRemoved(mask)
    narrow(mask, to: plan, chunk)
    // Each row is written, but counted only if kept: the processor would mispredict half of the branches.
    for row in rows {
      result.initializeElement(at: count, to: row)
      count &+= Int(mask[Int(row &- base)])
    }
  }

}

extension FeatureChunk {
  package func unmarkRemoved(_ mask: RowMask) { mask.unmark(removed) }

  func holds(_ predicate: SpatialPredicate, at index: Int) -> Bool? {
    if let point = withReader({ $0.point(index) }) { return try? predicate.holds(x: point.x, y: point.y) }
    guard let geometry = geometry[index] else { return nil }
    do throws(SpatialError) { return try predicate.holds(for: geometry) } catch {
      blame(at: index)
      return nil
    }
  }

  /// Whoever runs the query reads what went wrong from the allowance.
  func blame(at index: Int) { SpatialError.blame(FeatureRow(chunk: self, index: index, row: 0).id) }

  /// The value in a column. Its text points into the chunk, which the caller holds while using it.
  @inline(__always)
  func scalar(_ column: Int, at index: Int) -> Scalar {
    guard let number = self.index(of: column) else { return .null }
    return withReader { reader in
      guard let column = reader.columns?[number] else { return .null }
      return column.isElsewhere ? Scalar(columns[number][index]) : Scalar(column.attribute(index))
    }
  }
}

extension Scalar {
  @inline(__always)
  package init(_ value: FeatureRow.Attribute) {
    switch value {
    case .null: self = .null
    case .bool(let value): self = .bool(value)
    case .integer(let value): self = .integer(value)
    case .double(let value): self = Scalar(number: value)
    case .string(let text): self = .bytes(text)
    case .json(let text): self = .json(String(decoding: text, as: UTF8.self))
    }
  }
}

/// A feature's columns by property number. The caller holds the chunk, which contains the texts.
private struct RowValues: PropertySource {
  let chunk: FeatureChunk
  let index: Int
  let columns: [Int]

  @inline(__always)
  func value(_ property: Int) -> Scalar { chunk.scalar(columns[property], at: index) }

  var geometry: Geometry? { chunk.geometry[index] }

  func holds(_ predicate: SpatialPredicate) -> Bool? { chunk.holds(predicate, at: index) }

  func blame() { chunk.blame(at: index) }
}
