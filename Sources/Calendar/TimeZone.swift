// How far local time is from UTC, at any instant: what a time is shown in. Zones come from whoever reads files.

/// The local time of a place.
public struct TimeZone: Sendable {
  /// What holds from one transition to the next.
  public struct Offset: Hashable, Sendable {
    /// East of UTC.
    public let seconds: Int64
    /// What people call it, such as `CEST`; a number such as `-03` where they have no name for it.
    public let abbreviation: String

    public init(seconds: Int64, abbreviation: String) {
      self.seconds = seconds
      self.abbreviation = abbreviation
    }
  }

  /// When another offset begins, ascending, in seconds since 1970-01-01T00:00:00Z.
  let starts: [Int64]
  /// What begins then.
  let offsets: [Offset]
  /// Before the first transition.
  let first: Offset
  /// From the last transition on; nil when that goes on for ever.
  let rule: TimeZoneRule?

  init(starts: [Int64], offsets: [Offset], first: Offset, rule: TimeZoneRule?) {
    self.starts = starts
    self.offsets = offsets
    self.first = first
    self.rule = rule
  }

  /// Always the same offset.
  public init(_ offset: Offset) { self.init(starts: [], offsets: [], first: offset, rule: nil) }

  public static let utc = TimeZone(Offset(seconds: 0, abbreviation: "UTC"))

  /// What holds at an instant, in seconds since 1970-01-01T00:00:00Z.
  ///
  /// - Complexity: O(log transitions).
  public func offset(at seconds: Int64) -> Offset {
    if let rule, seconds >= starts.last ?? .min { return rule.offset(at: seconds) }
    var low = 0
    var high = starts.count
    while low < high {
      let middle = (low + high) / 2
      if starts[middle] <= seconds { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? first : offsets[low - 1]
  }
}

/// Knows time zones by their IANA names.
public protocol TimeZoneSource: Sendable {
  /// The zone of a name; nil when there is none, or its data is not here.
  func zone(named name: String) -> TimeZone?
}

/// The zones that need no data: `UTC`, `Etc/UTC`, `Etc/GMT`, and `Etc/GMT+12` (twelve hours west of it) to `Etc/GMT-14`.
public struct FixedTimeZones: TimeZoneSource {
  public init() {}

  public func zone(named name: String) -> TimeZone? {
    if name == "UTC" || name == "Etc/UTC" { return .utc }
    guard name.hasPrefix("Etc/GMT") else { return nil }
    let sign = name.utf8.dropFirst(7).first
    let digits = name.dropFirst(8)
    guard let sign else { return TimeZone(.init(seconds: 0, abbreviation: "GMT")) }
    guard let hours = Int64(digits), String(hours) == digits else { return nil }
    // POSIX counts to the west, and so do these names.
    switch sign {
    case UInt8(ascii: "+") where (0...12).contains(hours): return Self.zone(hours: -hours)
    case UInt8(ascii: "-") where (0...14).contains(hours): return Self.zone(hours: hours)
    default: return nil
    }
  }

  private static func zone(hours: Int64) -> TimeZone {
    let digits = (hours.magnitude < 10 ? "0" : "") + String(hours.magnitude)
    let name = hours == 0 ? "GMT" : (hours < 0 ? "-" : "+") + digits
    return TimeZone(.init(seconds: hours * 3600, abbreviation: name))
  }
}
