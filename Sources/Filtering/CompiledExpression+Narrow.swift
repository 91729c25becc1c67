// Filters a chunk: each part of a plan clears rows of a mask, mostly column by column.

import Expressions
import FeatureStore
import Geometry
import SpatialRelations

extension CompiledExpression {
  /// Keeps the marked rows for which `plan` is true. Recursion is as deep as the nesting of the text.
  func narrow(_ mask: RowMask, to plan: FilterPlan, _ chunk: FeatureChunk) {
    switch plan {
    case .always: break
    case .never: mask.update(repeating: 0)
    case .all(let parts):
      for part in parts {
        narrow(mask, to: part, chunk)
        if !mask.isAnyMarked { return }
      }
    case .any(let parts): narrow(mask, toAny: parts, chunk)
    case .test(let property, let test): mask.narrow(to: test, columns[property], chunk)
    case .node(let node, let isWanted):
      withChunkValues(chunk) { values in
        tree.withEvaluator(values, by: conventions) { evaluator in
          mask.forEachMarked { row in
            evaluator.source.index = row
            evaluator.textLeft.pointee = Expression.textLimit
            if evaluator.truth(node) != isWanted { mask[row] = 0 }
          }
        }
      }
    }
  }

  private func narrow(_ mask: RowMask, toAny parts: [FilterPlan], _ chunk: FeatureChunk) {
    // One allocation for both masks, not on the stack, which nested alternatives could exhaust.
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 2 * FeatureChunk.capacity) { masks in
      masks.initialize(repeating: 0)
      let found = RowMask(rebasing: masks[..<FeatureChunk.capacity])
      let rest = RowMask(rebasing: masks[FeatureChunk.capacity...])
      for part in parts {
        for row in mask.indices { rest[row] = mask[row] & ~found[row] }
        guard rest.isAnyMarked else { break }
        narrow(rest, to: part, chunk)
        for row in mask.indices { found[row] |= rest[row] }
      }
      for row in mask.indices { mask[row] = found[row] }
    }
  }
}

/// The rows of one chunk, with their columns resolved once. Valid while the chunk is held.
struct ChunkValues: PropertySource {
  let chunk: FeatureChunk
  /// The reader of each property's column; nil if the chunk does not have the column.
  let readers: UnsafeBufferPointer<ColumnReader?>
  let columns: UnsafeBufferPointer<Int>
  var index = 0

  var geometry: Geometry? { chunk.geometry[index] }

  func holds(_ predicate: SpatialPredicate) -> Bool? { chunk.holds(predicate, at: index) }

  func blame() { chunk.blame(at: index) }

  @inline(__always)
  func value(_ property: Int) -> Scalar {
    guard let reader = readers[property] else { return .null }
    return reader.isElsewhere ? Scalar(chunk.value(columns[property], at: index)) : Scalar(reader.attribute(index))
  }
}

extension CompiledExpression {
  private func withChunkValues(_ chunk: FeatureChunk, _ body: (ChunkValues) -> Void) {
    chunk.withReader { reader in
      let readers = columns.map { column in chunk.index(of: column).flatMap { reader.columns?[$0] } }
      readers.withUnsafeBufferPointer { readers in
        columns.withUnsafeBufferPointer { body(ChunkValues(chunk: chunk, readers: readers, columns: $0)) }
      }
    }
  }
}
