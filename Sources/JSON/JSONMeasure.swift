// Depth and number of values of a text, measured without parsing, so that readers can refuse it early.

/// Measures JSON text that comes in pieces.
///
/// ```swift
/// var measure = JSONMeasure()
/// measure.add(bytes)  // {"a": [1, 2]}
/// measure.depth  // 2
/// ```
public struct JSONMeasure: Sendable {
  /// Whether the last piece ended in a string, and after a backslash.
  private var isInString = false
  private var isEscaped = false
  private var open = 0
  public private(set) var bytes = 0
  /// An upper bound of the number of values: commas and opening brackets outside strings.
  public private(set) var values = 1
  /// The deepest nesting of arrays and objects.
  public private(set) var depth = 0

  public init() {}

  /// - Complexity: O(n) in bytes.
  public mutating func add(_ text: UnsafeRawBufferPointer) {
    bytes += text.count
    for byte in text {
      if isInString {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isInString = true
      case UInt8(ascii: ","): values += 1
      case UInt8(ascii: "["), UInt8(ascii: "{"):
        values += 1
        open += 1
        depth = max(depth, open)
      case UInt8(ascii: "]"), UInt8(ascii: "}"): open -= 1
      default: break
      }
    }
  }
}
