// Arithmetic on whole columns of a chunk.

import Expressions
import FeatureStore

extension CompiledExpression {
  /// The values for all rows of a chunk, if it is arithmetic on columns without nulls; nil where rows have to be evaluated one by one.
  package func numbers(of chunk: FeatureChunk) -> ValueColumn? {
    tree.numbers(chunk.count) { chunk.numbers(columns[$0]) }.map { ValueColumn(words: $0.words, areIntegers: $0.areIntegers) }
  }
}

extension FeatureChunk {
  /// The numbers of a column, one a row; nil for another column.
  fileprivate func numbers(_ column: Int) -> NumberVector? {
    withReader { reader in
      guard let values = reader.values(ofAligned: column), values.words.count == count, values.nullWords.allSatisfy({ $0 == 0 })
      else { return nil }
      switch values.layout {
      case .integers, .doubles: return NumberVector(words: Array(values.words), areIntegers: values.layout == .integers)
      case .sparse, .mixed, .bools, .codes, .strings, .json: return nil
      }
    }
  }
}
