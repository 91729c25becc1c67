// Location sources: devices whose locations are pushed, lines and tracks along which the clock moves, and sources over sources.

import Geometry
import NMEA

/// A location with its accuracy, speed and course. Nil members are unknown.
public struct Location: Hashable, Sendable {
  /// When it was measured.
  public var timestamp: Instant?
  /// Longitude and latitude, in degrees on WGS 84.
  public var position: Point?
  /// In metres; 0 is exact, or unknown.
  public var horizontalAccuracy = 0.0
  public var verticalAccuracy = 0.0
  /// In metres per second.
  public var speed: Double?
  /// In degrees clockwise from true north.
  public var course: Double?
  public var isLastKnown = false
  /// When it came, by the clock; nil for those that the server made itself.
  public var receivedAt: Instant?

  public init(
    timestamp: Instant? = nil, position: Point?, horizontalAccuracy: Double = 0, verticalAccuracy: Double = 0,
    speed: Double? = nil, course: Double? = nil
  ) {
    (self.timestamp, self.position) = (timestamp, position)
    (self.horizontalAccuracy, self.verticalAccuracy) = (horizontalAccuracy, verticalAccuracy)
    (self.speed, self.course) = (speed, course)
  }
}

/// Why a location was not published.
public enum LocationRefusal: String, Hashable, Sendable {
  /// The position is not on the earth.
  case offEarth
  /// Speed, course or an accuracy is no number, or negative.
  case notANumber
  /// Measured before the last location.
  case late
  /// Has the time of the last location.
  case repeated
  /// A filter left it out.
  case filtered
  /// No line is near enough.
  case notSnapped
  /// A replayed feature has no point, or no time.
  case incomplete
  /// A replay has more locations than it takes.
  case tooMany
}

/// The state of a location source.
public enum LocationStatus: Hashable, Sendable {
  case stopped, starting, started, stopping
  case failedToStart(Failure)
}

/// Whether the user allows a device to tell the location.
public enum LocationAuthorization: String, MemberSettable { case notDetermined, granted, denied }

/// Where the locations of a source come from, with the state of each kind.
public enum LocationFeed: Sendable {
  case simulated(Simulation)
  case external(LocationAuthorization)
  case nmea(NMEAFeed)
  case replay(Replay)
  case filtered(LocationFilter)
  case snapped(LocationSnap)
  case tracked(TrackedEntity)
}

/// Movement along a line at a constant velocity.
public struct Simulation: Sendable {
  /// In metres per second.
  public let velocity: Double
  /// Seconds between two locations.
  public let interval: Double
  public let loops: Bool
  /// Timestamp of the first location; nil for the clock's time at the first start.
  public let startTime: Instant?
  /// Longitude and latitude.
  public let line: Geometry
  let drive: Drive
}

/// Text of a receiver.
public struct NMEAFeed: Sendable {
  var reader = NMEAReader()
  /// Nil if clients push the text.
  public internal(set) var file: FeedFile?
  /// When the last sentence of the epoch that has begun came; nil between two epochs.
  var epochTime: Instant?
  /// Seconds after which an epoch ends in which no more sentences come.
  static let epochEnd = 0.3

  public init() {}
}

/// The points of a layer in the order of their times.
public struct Replay: Sendable {
  public let layer: LayerID
  public let timeField: String
  /// Seconds of the track in a second of the clock.
  public let factor: Double
  public let loops: Bool
  /// Read when the source starts from the beginning; not empty while it runs.
  var locations = Shared<[Location]>([])
  /// The number of the reading under way; nil if none is.
  var reading: Int?
  /// Maximum number of locations; and of features that are read on the loop.
  static let (limit, onLoop) = (1_000_000, 2000)

  public init(layer: LayerID, timeField: String, factor: Double, loops: Bool) {
    (self.layer, self.timeField, self.factor, self.loops) = (layer, timeField, factor, loops)
  }

  var start: Instant { locations.value.first?.timestamp ?? .manualStart }

  /// Seconds of the track up to a location. A further loop begins as much after the end as two locations are apart on average.
  func offset(_ number: Int) -> Double {
    let locations = locations.value
    let index = number % locations.count
    return Double(number / locations.count) * period + (locations[index].timestamp ?? start).seconds(since: start)
  }

  private var period: Double {
    let count = locations.value.count
    let span = (locations.value.last?.timestamp ?? start).seconds(since: start)
    return count > 1 && span > 0 ? span + span / Double(count - 1) : 1
  }
}

/// Which locations of another source pass.
public struct LocationFilter: Sendable {
  public let source: LocationSourceID
  /// In metres; locations of unknown accuracy pass.
  public internal(set) var maxAccuracy: Double?
  /// In metres from the last one that passed.
  public internal(set) var minDistance: Double?
  /// Seconds from the last one that passed.
  public internal(set) var minInterval: Double?
  /// The time of the last one that passed.
  var passedAt: Instant?

  public init(source: LocationSourceID, maxAccuracy: Double?, minDistance: Double?, minInterval: Double?) {
    (self.source, self.maxAccuracy, self.minDistance, self.minInterval) = (source, maxAccuracy, minDistance, minInterval)
  }
}

/// Locations of another source moved to the nearest line of a layer.
public struct LocationSnap: Sendable {
  public let source: LocationSourceID
  public let layer: LayerID
  /// In metres.
  public internal(set) var maxDistance: Double

  public init(source: LocationSourceID, layer: LayerID, maxDistance: Double) {
    (self.source, self.layer, self.maxDistance) = (source, layer, maxDistance)
  }
}

/// The entity of a source with a track id, whether it is there or not.
public struct TrackedEntity: Hashable, Sendable {
  public let source: EntitySourceID
  public let track: TrackID

  public init(source: EntitySourceID, track: TrackID) { (self.source, self.track) = (source, track) }
}

/// A source of locations, and of headings.
public struct LocationSource: Sendable {
  public let id: LocationSourceID
  public var revision = 0
  /// The object that closes the source when it closes.
  public let owner: ObjectReference?
  public internal(set) var feed: LocationFeed
  public internal(set) var status = LocationStatus.stopped
  public internal(set) var location: Location?
  /// Where the device points, in degrees clockwise from true north.
  public internal(set) var heading: Double?
  /// Seconds without a location after which the last one is outdated; nil for never.
  public internal(set) var staleAfter: Double?
  public internal(set) var isStale = false
  /// Locations that were not published and sentences that were skipped, by reason.
  public internal(set) var refusals: [String: Int] = [:]
  /// Satellites in view.
  public internal(set) var satellites: [NMEASatellite] = []
  /// When the source was last heard of, by the clock; nil if not since its start.
  var heardAt: Instant?
  /// Requests that wait for the start.
  var waiting: [ProcessID] = []

  // What the clock moves along a line or a track.

  /// Number of locations emitted.
  var emitted = 0
  /// Time at which the location numbered `emittedAtResume` is emitted, while the source runs.
  var resumedAt: Instant?
  var emittedAtResume = 0
  var firstTimestamp: Instant?

  init(id: LocationSourceID, owner: ObjectReference?, feed: LocationFeed, staleAfter: Double? = nil) {
    (self.id, self.owner, self.feed, self.staleAfter) = (id, owner, feed, staleAfter)
  }

  public enum Kind: String, MemberSettable { case simulated, external, nmea, replay, filtered, snapped, tracked }

  public var kind: Kind {
    switch feed {
    case .simulated: .simulated
    case .external: .external
    case .nmea: .nmea
    case .replay: .replay
    case .filtered: .filtered
    case .snapped: .snapped
    case .tracked: .tracked
    }
  }

  /// Whether it was created as a source of this kind with these settings would be.
  public func isAlike(_ other: LocationFeed) -> Bool {
    switch (feed, other) {
    case (.external, .external), (.nmea, .nmea): true
    case (.filtered(let own), .filtered(let other)):
      own.source == other.source && own.maxAccuracy == other.maxAccuracy && own.minDistance == other.minDistance
        && own.minInterval == other.minInterval
    case (.snapped(let own), .snapped(let other)):
      own.source == other.source && own.layer == other.layer && own.maxDistance == other.maxDistance
    case (.replay(let own), .replay(let other)):
      own.layer == other.layer && own.timeField == other.timeField && own.factor == other.factor && own.loops == other.loops
    case (.tracked(let own), .tracked(let other)): own == other
    case (.simulated, _), (.external, _), (.nmea, _), (.replay, _), (.filtered, _), (.snapped, _), (.tracked, _): false
    }
  }

  /// The source whose locations this one passes on.
  public var upstream: LocationSourceID? {
    switch feed {
    case .filtered(let filter): filter.source
    case .snapped(let snap): snap.source
    case .simulated, .external, .nmea, .replay, .tracked: nil
    }
  }

  /// Whether the clock emits its locations.
  var isTimed: Bool {
    switch feed {
    case .simulated, .replay: true
    case .external, .nmea, .filtered, .snapped, .tracked: false
    }
  }

  /// Whether the last location of the line or track has been emitted.
  var hasEnded: Bool {
    switch feed {
    case .simulated(let it): !it.loops && emitted > 0 && Double(emitted - 1) * it.interval * it.velocity >= it.drive.length
    case .replay(let it): !it.loops && emitted >= it.locations.value.count
    case .external, .nmea, .filtered, .snapped, .tracked: false
    }
  }

  /// Time of the next location, while the clock moves the source.
  var nextTime: Instant? {
    guard let resumedAt else { return nil }
    switch feed {
    case .simulated(let it): return resumedAt.advanced(by: Double(emitted - emittedAtResume) * it.interval)
    case .replay(let it):
      return resumedAt.advanced(by: (it.offset(emitted) - it.offset(emittedAtResume)) / it.factor)
    case .external, .nmea, .filtered, .snapped, .tracked: return nil
    }
  }

  /// When the last location is outdated unless another one comes; nil for never.
  var staleTime: Instant? {
    guard status == .started, !isStale, let heardAt, let staleAfter else { return nil }
    return heardAt.advanced(by: staleAfter)
  }

  /// Moves what is measured by the clock with it.
  mutating func shift(by nanoseconds: Int64) {
    resumedAt?.nanoseconds &+= nanoseconds
    heardAt?.nanoseconds &+= nanoseconds
    if case .nmea(var it) = feed {
      it.epochTime?.nanoseconds &+= nanoseconds
      feed = .nmea(it)
    }
  }

  /// When the epoch of a receiver ends unless more of it comes.
  var epochEnd: Instant? {
    if case .nmea(let feed) = feed { feed.epochTime?.advanced(by: NMEAFeed.epochEnd) } else { nil }
  }
}
