// The hash of FIPS 180-4 by which a server proves to a page that it knows their token, without saying it.

enum SHA256 {
  /// - Returns: 64 hexadecimal digits.
  static func digits(of message: [UInt8]) -> String {
    var state: [UInt32] = [
      0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]
    var padded = message + [0x80]
    while padded.count % 64 != 56 { padded.append(0) }
    padded += (0..<8).map { UInt8(truncatingIfNeeded: (message.count * 8) >> (56 - 8 * $0)) }
    for start in stride(from: 0, to: padded.count, by: 64) { absorb(padded[start..<start + 64], into: &state) }
    return state.map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 8 - digits.count) + digits
    }.joined()
  }

  private static func absorb(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
    var words = stride(from: block.startIndex, to: block.endIndex, by: 4).map { at in
      block[at..<at + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    }
    for index in 16..<64 {
      let (early, late) = (words[index - 15], words[index - 2])
      let first = turned(early, 7) ^ turned(early, 18) ^ early >> 3
      let second = turned(late, 17) ^ turned(late, 19) ^ late >> 10
      words.append(words[index - 16] &+ first &+ words[index - 7] &+ second)
    }
    var (a, b, c, d, e, f, g, h) = (state[0], state[1], state[2], state[3], state[4], state[5], state[6], state[7])
    for index in 0..<64 {
      let first = h &+ (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) &+ (e & f ^ ~e & g) &+ roots[index] &+ words[index]
      let second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) &+ (a & b ^ a & c ^ b & c)
      (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ second)
    }
    for (index, value) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= value }
  }

  private static func turned(_ word: UInt32, _ count: UInt32) -> UInt32 { word >> count | word << (32 - count) }

  /// The first 32 bits of the fractions of the cube roots of the first 64 primes.
  private static let roots: [UInt32] = {
    var roots: [UInt32] = []
    var number: UInt64 = 2
    while roots.count < 64 {
      if (2..<number).allSatisfy({ number % $0 != 0 }) { roots.append(fraction(number)) }
      number += 1
    }
    return roots
  }()

  /// The greatest r with r³ <= n · 2⁹⁶, without its whole part; r has at most 35 bits.
  private static func fraction(_ number: UInt64) -> UInt32 {
    var root: UInt64 = 0
    for bit in stride(from: 34, through: 0, by: -1) {
      let next = root | 1 << bit
      // Squares have at most 70 bits, cubes 105.
      let square = next.multipliedFullWidth(by: next)
      let low = square.low.multipliedFullWidth(by: next)
      let high = square.high &* next &+ low.high
      if high < number << 32 || high == number << 32 && low.low == 0 { root = next }
    }
    return UInt32(truncatingIfNeeded: root)
  }
}
