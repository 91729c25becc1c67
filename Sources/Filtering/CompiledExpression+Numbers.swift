// Arithmetic on whole columns of a chunk.

import Expressions
import FeatureStore

extension CompiledExpression {
  /// The values for all rows of a chunk, if it is arithmetic on columns without nulls; nil where rows have to be evaluated one by one.
  package func numbers(of chunk: FeatureChunk) -> BatchColumn? {
    switch tree.numbers(chunk.count, { chunk.numbers(columns[$0]) }) {
    case .integers(let values): BatchColumn(integers: values)
    case .doubles(let values): BatchColumn(doubles: values)
    case nil: nil
    }
  }
}

extension FeatureChunk {
  /// The numbers of a column, one a row; nil for another column.
  fileprivate func numbers(_ column: Int) -> NumberVector? {
    withReader { reader in
      guard let values = reader.values(ofAligned: column), values.words.count == count, values.nullWords.allSatisfy({ $0 == 0 })
      else { return nil }
      switch values.layout {
      case .integers: return .integers(Array(UnsafeRawBufferPointer(values.words).bindMemory(to: Int64.self)))
      case .doubles: return .doubles(Array(UnsafeRawBufferPointer(values.words).bindMemory(to: Double.self)))
      case .sparse, .mixed, .bools, .codes, .strings, .json: return nil
      }
    }
  }
}
