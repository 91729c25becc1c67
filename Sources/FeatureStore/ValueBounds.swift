// The least and greatest value of a column of a chunk: a test that no value between them passes skips the chunk (a zone map).

/// Bounds of numbers, of which none is outside. NaN, which is null, is in any.
package struct ValueBounds<Number: Comparable & BitwiseCopyable & Sendable>: Sendable {
  package private(set) var least: Number
  package private(set) var greatest: Number

  @inline(__always)
  mutating func include(_ number: Number) {
    if number < least { least = number }
    if number > greatest { greatest = number }
  }

  /// Whether the difference of `number` and any number within the bounds is one of 64 bits.
  package func isWithinSpan(of number: Int64) -> Bool where Number == Int64 {
    !number.subtractingReportingOverflow(least).overflow && !number.subtractingReportingOverflow(greatest).overflow
      && !least.subtractingReportingOverflow(number).overflow && !greatest.subtractingReportingOverflow(number).overflow
  }
}
