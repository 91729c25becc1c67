// What a receiver tells with one epoch, and its satellites.

/// A position with what is known of it. Nil is unknown.
public struct NMEAFix: Hashable, Sendable {
  /// In degrees on WGS 84.
  public internal(set) var longitude: Double
  public internal(set) var latitude: Double
  /// Metres above mean sea level.
  public internal(set) var altitude: Double?
  /// Milliseconds since 1970, in UTC; nil while no sentence has told the date, or without a time.
  public internal(set) var time: Int64?
  /// In metres: of GST where the receiver tells it, else ``assumedError`` times the dilution of precision.
  public internal(set) var horizontalAccuracy: Double?
  public internal(set) var verticalAccuracy: Double?
  /// In metres per second.
  public internal(set) var speed: Double?
  /// In degrees clockwise from true north.
  public internal(set) var course: Double?

  /// The error of one range in metres, by which dilutions of precision are multiplied.
  public static let assumedError = 5.0
}

/// A satellite in view.
public struct NMEASatellite: Hashable, Sendable {
  /// `gps`, `glonass`, `galileo`, `beidou`, `qzss`, `navic`, else the talker.
  public let system: String
  public let id: Int
  /// In degrees.
  public internal(set) var elevation: Double?
  /// In degrees clockwise from true north.
  public internal(set) var azimuth: Double?
  /// Carrier to noise ratio in dB-Hz; the best of its signals. Nil if it is not tracked.
  public internal(set) var signal: Double?
  public internal(set) var isUsed = false

  /// The system of a talker.
  static func system(ofTalker talker: String) -> String {
    switch talker {
    case "GP": "gps"
    case "GL": "glonass"
    case "GA": "galileo"
    case "GB", "BD": "beidou"
    case "GQ", "QZ": "qzss"
    case "GI": "navic"
    default: talker
    }
  }

  /// The system by its number in GSA (4.11).
  static func system(numbered number: Int?) -> String? {
    switch number {
    case 1: "gps"
    case 2: "glonass"
    case 3: "galileo"
    case 4: "beidou"
    case 5: "qzss"
    case 6: "navic"
    default: nil
    }
  }
}
