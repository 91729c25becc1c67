// Reads TZif, the format of time zone data (RFC 8536).

extension TimeZone {
  /// Reads the 64-bit data and the rule of a file of version 2 or later; nil if it is damaged or of another format.
  ///
  /// Times are POSIX times, without leap seconds. A file that counts leap seconds is refused, since its times would be off by
  /// their number.
  public init?(tzif bytes: [UInt8]) {
    var rest = TZifReader(bytes: bytes[...])
    guard let old = rest.header(), rest.skip(old.byteCount(ofTimes: 4)), let counts = rest.header(), counts.leaps == 0,
      counts.types > 0, counts.characters > 0
    else { return nil }
    guard let times = rest.take(counts.times * 8), let kinds = rest.take(counts.times),
      let types = rest.take(counts.types * 6), let names = rest.take(counts.characters),
      rest.skip(counts.standardFlags + counts.utcFlags), let footer = rest.footer()
    else { return nil }
    var known: [Offset] = []
    for start in stride(from: types.startIndex, to: types.endIndex, by: 6) {
      let seconds = Int64(Int32(truncatingIfNeeded: TZifReader.integer(types[start..<start + 4])))
      let name = names.startIndex + Int(types[start + 5])
      // No zone has been further from UTC than a day; RFC 8536 allows 25 to 26 hours.
      guard seconds.magnitude < 26 * 3600, name < names.endIndex else { return nil }
      known.append(
        Offset(seconds: seconds, abbreviation: String(decoding: names[name...].prefix { $0 != 0 }, as: UTF8.self)))
    }
    let starts = stride(from: times.startIndex, to: times.endIndex, by: 8).map {
      TZifReader.integer(times[$0..<$0 + 8])
    }
    guard kinds.allSatisfy({ Int($0) < known.count }), zip(starts, starts.dropFirst()).allSatisfy(<) else { return nil }
    var rule: TimeZoneRule?
    if !footer.isEmpty {
      rule = TimeZoneRule(footer)
      if rule == nil { return nil }
    }
    self.init(starts: starts, offsets: kinds.map { known[Int($0)] }, first: known[0], rule: rule)
  }
}

/// The unread bytes.
private struct TZifReader {
  struct Counts {
    let utcFlags: Int
    let standardFlags: Int
    let leaps: Int
    let times: Int
    let types: Int
    let characters: Int

    func byteCount(ofTimes size: Int) -> Int {
      times * (size + 1) + types * 6 + characters + leaps * (size + 4) + standardFlags + utcFlags
    }
  }

  var bytes: ArraySlice<UInt8>

  /// Big-endian, in two's complement when there are eight.
  static func integer(_ bytes: ArraySlice<UInt8>) -> Int64 { bytes.reduce(0) { $0 << 8 | Int64($1) } }

  mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
    guard bytes.count >= count else { return nil }
    defer { bytes = bytes.dropFirst(count) }
    return bytes.prefix(count)
  }

  mutating func skip(_ count: Int) -> Bool { take(count) != nil }

  mutating func header() -> Counts? {
    guard let header = take(44), header.starts(with: "TZif".utf8), header[header.startIndex + 4] >= UInt8(ascii: "2")
    else { return nil }
    let numbers = (0..<6).map { index in
      let start = header.startIndex + 20 + index * 4
      return Int(Self.integer(header[start..<start + 4]))
    }
    return Counts(
      utcFlags: numbers[0], standardFlags: numbers[1], leaps: numbers[2], times: numbers[3], types: numbers[4],
      characters: numbers[5])
  }

  /// The text between two line feeds; empty if there is no rule after the last transition.
  mutating func footer() -> ArraySlice<UInt8>? {
    guard take(1)?.first == UInt8(ascii: "\n"), let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    return bytes[..<end]
  }
}
