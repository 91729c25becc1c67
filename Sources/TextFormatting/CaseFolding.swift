// CASEI: folds case, for case-insensitive comparison.

/// Full case folding of the Unicode Standard (section 5.18), as CQL2 requires: `ß`, `ẞ` and `SS` become `ss`, `Σ` and
/// `ς` become `σ`.
///
/// The standard library has no case folding, so it is derived from the case mappings: each code point is upper-cased and then
/// lower-cased, with three exceptions. The result is CaseFolding.txt, status C and F, of version 14.
package enum CaseFolding {
  /// - Complexity: O(n).
  package static func folded(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.lowercased() }
    var result = ""
    for scalar in text.unicodeScalars { append(scalar, to: &result) }
    return result
  }

  private static func append(_ scalar: Unicode.Scalar, to result: inout String) {
    switch scalar.value {
    // The dotless i matches no other letter.
    case 0x131: result.unicodeScalars.append(scalar)
    case 0x1E9E: result += "ss"
    // Cherokee folds to upper case, which is the older form.
    case 0x13A0...0x13FD, 0xAB70...0xABBF: result += scalar.properties.uppercaseMapping
    default:
      for upper in scalar.properties.uppercaseMapping.unicodeScalars { result += upper.properties.lowercaseMapping }
    }
  }
}
