// Reads NMEA 0183 (4.11) as it comes: cut anywhere, one fix an epoch. Knows no world, no clock.
//
// An epoch is the sentences with the same time, and those without a time between them. Where it ends is not said in the text: it ends with the
// first sentence of another time, with the sentence that was the last of the epoch before, or when whoever pushes the text says so (`endEpoch`).

import Calendar

public struct NMEAReader: Sendable {
  public enum Event: Hashable, Sendable {
    case fix(NMEAFix)
    /// An epoch in which the receiver has no position.
    case noFix
  }

  /// In bytes. The standard allows 82; some receivers write more.
  public static let longestSentence = 255

  /// Skipped sentences, by reason.
  public private(set) var faults: [NMEAFault: Int] = [:]
  /// Sentences that were read.
  public private(set) var sentences = 0
  /// In view, ordered by system and number.
  public private(set) var satellites: [NMEASatellite] = []

  /// The beginning of a sentence that is not complete.
  private var rest: [UInt8] = []
  /// Whether the line is longer than a sentence may be: it is skipped.
  private var isSkipping = false
  private var epoch = Epoch()
  /// Time of the last epoch that ended.
  private var endedTime: Int?
  /// The sentence with which epochs end.
  private var lastKind: String?
  /// Days since 1970 of the last date told, and the time for which it holds.
  private var day: Int64?
  private var dayTime = 0
  private var inView: [String: [NMEASatellite]] = [:]
  private var collected: [String: [NMEASatellite]] = [:]
  private var used: [String: Set<Int>] = [:]

  /// The sentences of one time.
  private struct Epoch: Hashable, Sendable {
    var time: Int?
    var kinds: Set<String> = []
    var lastKind: String?
    var position: Position?
    var altitude: Double?
    var isInvalid = false
    var horizontalDilution: Double?
    var verticalDilution: Double?
    var horizontalError: Double?
    var verticalError: Double?
    var speed: Double?
    var course: Double?

    struct Position: Hashable, Sendable { let longitude: Double, latitude: Double }
  }

  public init() {}

  /// Whether an epoch has begun that has not ended.
  public var isInEpoch: Bool { !epoch.kinds.isEmpty }

  /// Reads a piece of text, which may end within a sentence.
  public mutating func read(_ text: some Sequence<UInt8>) -> [Event] {
    var events: [Event] = []
    for byte in text {
      switch byte {
      case UInt8(ascii: "\r"), UInt8(ascii: "\n"): endLine(&events)
      case UInt8(ascii: "$") where !rest.isEmpty:
        count(rest.first == byte ? .cut : .noise)
        (rest, isSkipping) = ([byte], false)
      case _ where isSkipping: break
      default:
        rest.append(byte)
        if rest.count > Self.longestSentence {
          count(rest.first == UInt8(ascii: "$") ? .tooLong : .noise)
          isSkipping = true
        }
      }
    }
    return events
  }

  /// Ends the epoch that has begun: no more sentences of it come.
  public mutating func endEpoch() -> Event? {
    guard isInEpoch else { return nil }
    let last = epoch
    epoch = Epoch()
    (endedTime, lastKind) = (last.time, last.lastKind)
    satellites = inView.values.joined().map { satellite in
      var satellite = satellite
      satellite.isUsed = used[satellite.system]?.contains(satellite.id) == true || used[""]?.contains(satellite.id) == true
      return satellite
    }.sorted { ($0.system, $0.id) < ($1.system, $1.id) }
    used = [:]
    let time = last.time.flatMap { instant($0) }
    guard let position = last.position, !last.isInvalid else {
      // Satellites or a speed alone say nothing of the position.
      return last.isInvalid || last.kinds.contains { ["GGA", "GLL", "RMC"].contains($0.suffix(3)) } ? .noFix : nil
    }
    return .fix(
      NMEAFix(
        longitude: position.longitude, latitude: position.latitude, altitude: last.altitude,
        time: time,
        horizontalAccuracy: last.horizontalError ?? last.horizontalDilution.map { $0 * NMEAFix.assumedError },
        verticalAccuracy: last.verticalError ?? last.verticalDilution.map { $0 * NMEAFix.assumedError },
        speed: last.speed, course: last.course))
  }

  /// Forgets what has begun: the text that follows is another's.
  public mutating func reset() {
    let (faults, sentences) = (faults, sentences)
    self = NMEAReader()
    (self.faults, self.sentences) = (faults, sentences)
  }

  // MARK: Sentences

  private mutating func count(_ fault: NMEAFault) { faults[fault, default: 0] += 1 }

  private mutating func endLine(_ events: inout [Event]) {
    defer { (rest, isSkipping) = ([], false) }
    guard !rest.isEmpty, !isSkipping else { return }
    do throws(NMEAFault) {
      try take(NMEASentence(rest), &events)
      sentences += 1
    } catch { count(error) }
  }

  /// Adds a sentence to its epoch. One that is refused adds nothing, but may have ended the epoch before.
  private mutating func take(_ sentence: NMEASentence, _ events: inout [Event]) throws(NMEAFault) {
    let kind = sentence.talker + sentence.type
    var next = epoch
    var time: Int?
    var date: Int64?
    switch sentence.type {
    case "GGA":
      time = try sentence.time(0)
      try begin(&next, kind, time, &events)
      let quality = try sentence.integer(5)
      try Self.set(&next, try sentence.position(1), isValid: quality ?? 0 > 0)
      next.horizontalDilution = try sentence.number(7) ?? next.horizontalDilution
      next.altitude = try sentence.number(8) ?? next.altitude
    case "GLL":
      time = try sentence.time(4)
      try begin(&next, kind, time, &events)
      try Self.set(&next, try sentence.position(0), isValid: try Self.isValid(sentence[5]))
    case "RMC":
      time = try sentence.time(0)
      date = try Self.day(sentence[8])
      try begin(&next, kind, time, &events)
      try Self.set(&next, try sentence.position(2), isValid: try Self.isValid(sentence[1]))
      next.speed = try sentence.number(6).map { $0 * 1852 / 3600 } ?? next.speed
      next.course = try Self.course(sentence, 7) ?? next.course
    case "GST":
      time = try sentence.time(0)
      try begin(&next, kind, time, &events)
      if let north = try sentence.number(5), let east = try sentence.number(6) {
        next.horizontalError = (north * north + east * east).squareRoot()
      }
      next.verticalError = try sentence.number(7) ?? next.verticalError
    case "VTG":
      guard !next.kinds.contains(kind) else { throw .repeated }
      next.course = try Self.course(sentence, 0) ?? next.course
      let (knots, kilometres) = (try sentence.number(4), try sentence.number(6))
      next.speed = kilometres.map { $0 / 3.6 } ?? knots.map { $0 * 1852 / 3600 } ?? next.speed
    case "GSA":
      guard let mode = try sentence.integer(1), (1...3).contains(mode) else { throw .malformed }
      var ids: Set<Int> = []
      for index in 2..<14 { if let id = try sentence.integer(index) { ids.insert(id) } }
      let horizontal = try sentence.number(15)
      let vertical = try sentence.number(16)
      let system = NMEASatellite.system(numbered: try sentence.integer(17))
      next.horizontalDilution = horizontal ?? next.horizontalDilution
      next.verticalDilution = vertical ?? next.verticalDilution
      used[system ?? (sentence.talker == "GN" ? "" : NMEASatellite.system(ofTalker: sentence.talker)), default: []].formUnion(ids)
    case "GSV":
      try takeSatellites(sentence)
    default: throw .unsupported
    }
    next.time = next.time ?? time
    next.kinds.insert(kind)
    // Of several messages of satellites, the last one is the end.
    let isPart = sentence.type == "GSV" && sentence[0] != sentence[1]
    next.lastKind = kind
    epoch = next
    if let date, let time { (day, dayTime) = (date, time) }
    if !isPart, kind == lastKind, next.time != nil, let event = endEpoch() { events.append(event) }
  }

  /// Ends the epoch if the sentence begins another: by its time, or where a time is missing, as the epoch has such a sentence already.
  ///
  /// - Throws: `repeated` if the epoch has the sentence, or has ended.
  private mutating func begin(
    _ next: inout Epoch, _ kind: String, _ time: Int?, _ events: inout [Event]
  ) throws(NMEAFault) {
    let hasKind = next.kinds.contains(kind)
    let isSame = time != nil && time == next.time
    if isSame, hasKind { throw .repeated }
    if hasKind || time != nil && next.time != nil && !isSame {
      if let event = endEpoch() { events.append(event) }
      next = Epoch()
    }
    if next.time == nil, let time, time == endedTime { throw .repeated }
  }

  private static func set(
    _ epoch: inout Epoch, _ position: (longitude: Double, latitude: Double)?, isValid: Bool
  ) throws(NMEAFault) {
    guard isValid else {
      epoch.isInvalid = true
      return
    }
    guard let position else { throw .malformed }
    epoch.position = epoch.position ?? .init(longitude: position.longitude, latitude: position.latitude)
  }

  private static func isValid(_ status: Substring) throws(NMEAFault) -> Bool {
    guard status == "A" || status == "V" else { throw .malformed }
    return status == "A"
  }

  private static func course(_ sentence: NMEASentence, _ index: Int) throws(NMEAFault) -> Double? {
    guard let course = try sentence.number(index) else { return nil }
    guard (0...360).contains(course) else { throw .malformed }
    return course == 360 ? 0 : course
  }

  /// Days since 1970 of `ddmmyy`, of 1980 to 2079; nil if the field is empty.
  private static func day(_ text: Substring) throws(NMEAFault) -> Int64? {
    guard !text.isEmpty else { return nil }
    guard text.utf8.count == 6, let value = Int64(text) else { throw .malformed }
    let (day, month, short) = (value / 10_000, value / 100 % 100, value % 100)
    let year = short + (short < 80 ? 2000 : 1900)
    guard (1...12).contains(month), (1...CalendarDay.days(in: month, of: year)).contains(day) else { throw .malformed }
    return CalendarDay(year: year, month: month, day: day).number
  }

  /// Milliseconds since 1970 of a time on the last date told; half a day back or more is the next day.
  private mutating func instant(_ time: Int) -> Int64? {
    guard var day else { return nil }
    if time + 43_200_000 < dayTime { day += 1 }
    (self.day, dayTime) = (day, time)
    return day * 86_400_000 + Int64(time)
  }

  /// Number of talkers and signals whose satellites are kept.
  private static let talkerLimit = 32

  /// Takes the satellites of one message; the last message of its talker and signal replaces those in view.
  private mutating func takeSatellites(_ sentence: NMEASentence) throws(NMEAFault) {
    guard let total = try sentence.integer(0), let number = try sentence.integer(1), (1...9).contains(total),
      (1...total).contains(number)
    else { throw .malformed }
    // Groups of four; one field more is the signal (4.10 and later).
    let groups = (sentence.fields.count - 3) / 4
    let signal = (sentence.fields.count - 3) % 4 == 1 ? String(sentence[sentence.fields.count - 1].prefix(2)) : ""
    let system = NMEASatellite.system(ofTalker: sentence.talker)
    var satellites: [NMEASatellite] = []
    for group in 0..<max(0, min(groups, 4)) {
      let first = 3 + group * 4
      guard let id = try sentence.integer(first) else { continue }
      satellites.append(
        NMEASatellite(
          system: system, id: id, elevation: try sentence.number(first + 1), azimuth: try sentence.number(first + 2),
          signal: try sentence.number(first + 3)))
    }
    let key = sentence.talker + signal
    guard collected.count < Self.talkerLimit || collected[key] != nil else { throw .unsupported }
    let before = number == 1 ? [] : collected[key] ?? []
    guard before.count <= 4 * (number - 1) else { throw .malformed }
    collected[key] = before + satellites
    guard number == total else { return }
    // The same satellite is told with each of its signals.
    var best: [Int: NMEASatellite] = [:]
    for (_, list) in collected.filter({ $0.key.hasPrefix(sentence.talker) }).sorted(by: { $0.key < $1.key }) {
      for satellite in list where best[satellite.id].map({ $0.signal ?? -1 < satellite.signal ?? -1 }) ?? true {
        best[satellite.id] = satellite
      }
    }
    inView[system] = Array(best.values)
  }
}
