// The least and greatest value of a column of a chunk (a zone map): a chunk is skipped if no value between them passes a test.

/// Bounds of numbers: no number is outside. They do not cover NaN, which is null.
package struct ValueBounds<Number: Comparable & BitwiseCopyable & Sendable>: Sendable {
  package private(set) var least: Number
  package private(set) var greatest: Number

  @inline(__always)
  mutating func include(_ number: Number) {
    if number < least { least = number }
    if number > greatest { greatest = number }
  }

  /// Whether the difference between `number` and any number within the bounds fits 64 bits.
  package func isWithinSpan(of number: Int64) -> Bool where Number == Int64 {
    !number.subtractingReportingOverflow(least).overflow && !number.subtractingReportingOverflow(greatest).overflow
      && !least.subtractingReportingOverflow(number).overflow && !greatest.subtractingReportingOverflow(number).overflow
  }
}
