// Numbers of JSON text, exact: by integer arithmetic where that suffices, else by the C library.

import Platform

/// A number as JSON writes it: an integer has neither fraction nor exponent.
struct TextNumber {
  let isInteger: Bool
  /// An `Int64`, or the bit pattern of a `Double`.
  let bits: UInt64

  @inline(__always) var integer: Int64 { Int64(bitPattern: bits) }
  @inline(__always) var double: Double { isInteger ? Double(integer) : Double(bitPattern: bits) }
}

/// 10^0 to 10^22, which are exact.
private let powers: [Double] = [
  1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
  1e21, 1e22,
]

extension TextScanner {
  /// Whether a number begins with this byte.
  @inline(__always)
  static func beginsNumber(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 || byte == UInt8(ascii: "-") }

  @inline(__always)
  mutating func number() throws(TextStop) -> TextNumber {
    let first = at
    let isNegative = at.pointee == UInt8(ascii: "-")
    if isNegative { at += 1 }
    var mantissa: UInt64 = 0
    let digits = at
    if at.pointee == UInt8(ascii: "0") { at += 1 } else { try skipDigits(&mantissa) }
    var count = at - digits
    var exponent = 0
    var isInteger = true
    if at.pointee == UInt8(ascii: ".") {
      isInteger = false
      at += 1
      let fraction = at
      try skipDigits(&mantissa)
      exponent = fraction - at
      count -= exponent
    }
    if at.pointee | 0x20 == UInt8(ascii: "e") {
      isInteger = false
      exponent += try self.exponent()
    }
    // The number may continue after the buffer.
    guard at < end else { throw .more }
    if isInteger {
      if count < 19 { return TextNumber(isInteger: true, bits: isNegative ? 0 &- mantissa : mantissa) }
      return try longInteger(from: digits, isNegative)
    }
    // Clinger's fast path: with a mantissa of at most 53 bits and an exact power of ten, a single operation rounds correctly.
    if count <= 19, mantissa <= 1 << 53, exponent >= -22, exponent <= 22 {
      let value = Double(mantissa)
      let scaled = powers.withUnsafeBufferPointer { exponent < 0 ? value / $0[-exponent] : value * $0[exponent] }
      return TextNumber(isInteger: false, bits: (isNegative ? -scaled : scaled).bitPattern)
    }
    return try longNumber(from: first)
  }

  @inline(__always)
  private mutating func skipDigits(_ mantissa: inout UInt64) throws(TextStop) {
    guard at.pointee &- 0x30 < 10 else { throw stop(at: at, "a digit") }
    repeat {
      mantissa = mantissa &* 10 &+ UInt64(at.pointee &- 0x30)
      at += 1
    } while at.pointee &- 0x30 < 10
  }

  @inline(never)
  private mutating func exponent() throws(TextStop) -> Int {
    at += 1
    let isNegative = at.pointee == UInt8(ascii: "-")
    if isNegative || at.pointee == UInt8(ascii: "+") { at += 1 }
    let digits = at
    var value: UInt64 = 0
    try skipDigits(&value)
    let bounded = at - digits > 6 ? 999_999 : Int(value)
    return isNegative ? -bounded : bounded
  }

  @inline(never)
  private func longInteger(from digits: UnsafePointer<UInt8>, _ isNegative: Bool) throws(TextStop) -> TextNumber {
    var value: Int64 = 0
    var place = digits
    while place < at {
      let (product, tooLarge) = value.multipliedReportingOverflow(by: 10)
      let digit = Int64(place.pointee &- 0x30)
      let (sum, over) =
        isNegative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
      guard !tooLarge, !over else { throw .odd("an integer beyond 64 bits") }
      value = sum
      place += 1
    }
    return TextNumber(isInteger: true, bits: UInt64(bitPattern: value))
  }

  /// The number is followed by a byte that is not part of it, or by the zeros after the buffer, so `strtod` stops there.
  @inline(never)
  private func longNumber(from first: UnsafePointer<UInt8>) throws(TextStop) -> TextNumber {
    let value = UnsafeRawPointer(first).withMemoryRebound(to: CChar.self, capacity: at - first) { strtod($0, nil) }
    guard value.isFinite else { throw .odd("a number beyond all doubles") }
    return TextNumber(isInteger: false, bits: value.bitPattern)
  }
}
