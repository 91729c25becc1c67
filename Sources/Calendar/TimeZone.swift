// The offset of local time from UTC at any instant. Sources of zones, which read files, are separate.

/// A time zone.
///
/// ```swift
/// let zone = ZoneFiles().zone(named: "Europe/Berlin")
/// zone?.offset(at: 1_751_328_000).abbreviation  // "CEST"
/// ```
public struct TimeZone: Sendable {
  /// The local time between two transitions.
  public struct Offset: Hashable, Sendable {
    /// East of UTC.
    public let seconds: Int64
    /// The common abbreviation, such as `CEST`; a number such as `-03` where there is none.
    public let abbreviation: String
  }

  /// The transitions, ascending, in seconds since 1970-01-01T00:00:00Z.
  let starts: [Int64]
  /// The offset after each transition.
  let offsets: [Offset]
  /// Before the first transition.
  let first: Offset
  /// The rule after the last transition; nil if the last offset stays.
  let rule: TimeZoneRule?

  public static let utc = TimeZone(Offset(seconds: 0, abbreviation: "UTC"))

  /// The offset at an instant, in seconds since 1970-01-01T00:00:00Z.
  ///
  /// - Complexity: O(transitions after it).
  public func offset(at seconds: Int64) -> Offset {
    if let rule, seconds >= starts.last ?? .min { return rule.offset(at: seconds) }
    return starts.lastIndex { $0 <= seconds }.map { offsets[$0] } ?? first
  }
}

extension TimeZone {
  /// A constant offset.
  init(_ offset: Offset) { self.init(starts: [], offsets: [], first: offset, rule: nil) }
}

/// Finds time zones by IANA name.
public protocol TimeZoneSource: Sendable {
  /// The zone of that name; nil if it is unknown, or its data is not installed.
  func zone(named name: String) -> TimeZone?
}

/// Zones without data: `UTC`, `Etc/UTC`, `Etc/GMT`, and `Etc/GMT+12` (twelve hours west) to `Etc/GMT-14`.
public struct FixedTimeZones: TimeZoneSource {
  public init() {}

  public func zone(named name: String) -> TimeZone? {
    if name == "UTC" || name == "Etc/UTC" { return .utc }
    guard name.hasPrefix("Etc/GMT") else { return nil }
    let sign = name.utf8.dropFirst(7).first
    let digits = name.dropFirst(8)
    guard let sign else { return TimeZone(.init(seconds: 0, abbreviation: "GMT")) }
    guard let hours = Int64(digits), String(hours) == digits else { return nil }
    // POSIX counts west of Greenwich as positive, as do these names.
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
