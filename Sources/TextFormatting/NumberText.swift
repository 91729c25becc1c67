// Digits of a number, as printf formats them in the C locale.

import Platform

package enum NumberText {
  /// - Parameters:
  ///   - value: not negative.
  ///   - conversion: one of `e E f g G`.
  package static func printed(_ value: Double, _ conversion: UInt8, _ precision: Int) -> String {
    let pattern = "%.*" + String(Unicode.Scalar(conversion))
    // At most 309 digits, a point and 100 decimals. The process stays in the C locale, so the separator is a point.
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer in
      guard let start = buffer.baseAddress else { return "" }
      let count = withVaList([CInt(truncatingIfNeeded: precision), value]) {
        vsnprintf(start, buffer.count, pattern, $0)
      }
      let bytes = UnsafeRawBufferPointer(start: start, count: max(0, min(Int(count), buffer.count - 1)))
      return String(decoding: bytes, as: UTF8.self)
    }
  }
}
