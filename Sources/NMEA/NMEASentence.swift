// One sentence of NMEA 0183: its checksum, and fields of the sentences that tell a position.

/// Why a sentence was skipped.
public enum NMEAFault: String, Error, Hashable, Sendable, CaseIterable {
  /// The checksum is missing, or is not that of the sentence.
  case checksum
  /// A field is missing, or is not what the sentence says there.
  case malformed
  /// Another sentence begins before the line ends.
  case cut
  /// Longer than ``NMEAReader/longestSentence``.
  case tooLong
  /// Well formed, but none that is read.
  case unsupported
  /// The line is no sentence.
  case noise
  /// The sentence of an epoch that has been given before.
  case repeated = "repeatedSentence"
}

/// The fields of a sentence whose checksum is right.
struct NMEASentence {
  /// Two letters: the satellite system, `GN` for several.
  let talker: String
  /// Three letters.
  let type: String
  let fields: [Substring]

  /// - Parameter line: from `$` on, without the line end.
  /// - Throws: ``NMEAFault``.
  init(_ line: [UInt8]) throws(NMEAFault) {
    guard line.first == UInt8(ascii: "$") else { throw .noise }
    guard let star = line.lastIndex(of: UInt8(ascii: "*")), line.count - star == 3,
      let stated = UInt8(String(decoding: line[(star + 1)...], as: UTF8.self), radix: 16),
      stated == line[1..<star].reduce(0, ^)
    else { throw .checksum }
    let texts = String(decoding: line[1..<star], as: UTF8.self).split(separator: ",", omittingEmptySubsequences: false)
    // Proprietary sentences begin with P.
    guard let address = texts.first, address.utf8.count == 5, address.first != "P" else { throw .unsupported }
    (talker, type) = (String(address.prefix(2)), String(address.suffix(3)))
    fields = Array(texts.dropFirst())
  }

  /// A field by its number from 0; empty where the sentence has fewer.
  subscript(index: Int) -> Substring { index < fields.count ? fields[index] : "" }

  /// A number; nil if the field is empty.
  func number(_ index: Int) throws(NMEAFault) -> Double? {
    let text = self[index]
    guard !text.isEmpty else { return nil }
    // Only digits, sign and point: `Double` would take `nan` and `0x1p9`.
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E || $0 == 0x2D || $0 == 0x2B }),
      let number = Double(text)
    else { throw .malformed }
    return number
  }

  func integer(_ index: Int) throws(NMEAFault) -> Int? {
    guard let number = try number(index) else { return nil }
    guard let integer = Int(exactly: number) else { throw .malformed }
    return integer
  }

  /// A latitude or longitude in degrees: `ddmm.mmm` and the hemisphere in the next field; nil if both are empty.
  func angle(_ index: Int, _ positive: Substring, _ negative: Substring, limit: Double) throws(NMEAFault) -> Double? {
    guard let value = try number(index) else { return nil }
    let degrees = (value / 100).rounded(.down)
    let minutes = value - degrees * 100
    let hemisphere = self[index + 1]
    guard value >= 0, minutes < 60, hemisphere == positive || hemisphere == negative else { throw .malformed }
    let angle = degrees + minutes / 60
    guard angle <= limit else { throw .malformed }
    return hemisphere == positive ? angle : -angle
  }

  /// Longitude and latitude; nil if they are empty.
  func position(_ index: Int) throws(NMEAFault) -> (longitude: Double, latitude: Double)? {
    guard let latitude = try angle(index, "N", "S", limit: 90), let longitude = try angle(index + 2, "E", "W", limit: 180)
    else { return nil }
    return (longitude, latitude)
  }

  /// Milliseconds since midnight of `hhmmss.sss`; nil if the field is empty.
  func time(_ index: Int) throws(NMEAFault) -> Int? {
    guard let value = try number(index) else { return nil }
    guard self[index].prefix(6).utf8.allSatisfy({ (0x30...0x39).contains($0) }), self[index].utf8.count >= 6, value >= 0
    else { throw .malformed }
    let whole = Int(value)
    let (hour, minute, second) = (whole / 10_000, whole / 100 % 100, whole % 100)
    guard hour < 24, minute < 60, second <= 60 else { throw .malformed }
    return (hour * 3600 + minute * 60) * 1000 + second * 1000 + Int(((value - Double(whole)) * 1000).rounded())
  }
}
