// The largest symbol among the features' own.

import Synchronization

extension FeatureStore {
  /// The greatest measure of a feature's own symbol; nil if no feature has one. May count symbols of removed features.
  ///
  /// - Parameter measure: the measure of a symbol's text, not negative; has to be the same function in each call, since chunks
  ///   cache it.
  /// - Complexity: O(chunks), and O(rows) for chunks whose symbols have changed.
  public func greatestSymbol<E: Error>(_ measure: (String) throws(E) -> Double) throws(E) -> Double? {
    var greatest: Double?
    for slot in slots where slot.chunk.symbols.count > 0 {
      greatest = max(greatest ?? 0, try slot.chunk.greatestSymbol(measure))
    }
    return greatest
  }
}

extension FeatureChunk {
  fileprivate func greatestSymbol<E: Error>(_ measure: (String) throws(E) -> Double) throws(E) -> Double {
    let known = Double(bitPattern: symbolMeasure.load(ordering: .relaxed))
    guard known.isNaN else { return known }
    var (greatest, last) = (0.0, "")
    for row in 0..<symbols.count {
      // Neighbours often have the same symbol.
      guard case .json(let text) = symbols[row], text != last else { continue }
      greatest = max(greatest, try measure(text))
      last = text
    }
    symbolMeasure.store(greatest.bitPattern, ordering: .relaxed)
    return greatest
  }
}
