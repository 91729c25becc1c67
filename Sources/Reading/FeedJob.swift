// What a process that follows a feed is asked for, and what it sends: whole lines of text, as they arrive.

import JSON

/// The text format of a feed: lines, each complete in itself.
public enum FeedFormat: String, Hashable, Sendable {
  /// Sentences of NMEA 0183.
  case nmea
  /// A GeoJSON feature in each line; also with the separators of RFC 8142.
  case ndjson
}

/// A file, FIFO or character device that is read as long as its source wants it.
public struct FeedJob: Hashable, Sendable {
  public var format: FeedFormat
  /// Whether reading goes on at the end of a regular file, which grows.
  public var follows: Bool
  /// Whether what a regular file has at first is skipped.
  public var skipsOld: Bool

  public init(format: FeedFormat, follows: Bool, skipsOld: Bool = false) {
    self.format = format
    self.follows = follows
    self.skipsOld = skipsOld
  }
}

/// Lines that were not passed on.
public struct BadLines: Hashable, Sendable {
  /// Longer than ``FeedJob/lineLimit``.
  public var tooLong = 0
  /// Of ``FeedFormat/ndjson``: no JSON, or no GeoJSON feature.
  public var malformed = 0

  public init(tooLong: Int = 0, malformed: Int = 0) {
    self.tooLong = tooLong
    self.malformed = malformed
  }

  public var isEmpty: Bool { tooLong == 0 && malformed == 0 }
}

extension FeedJob {
  /// Maximum length of a line in bytes.
  public static let lineLimit = 1 << 20
  /// Length of the lines of one chunk in bytes, unless one line is longer.
  public static let chunkLength = 1 << 16
}

extension FeedJob {
  func encode(to writer: inout JSONWriter) {
    writer.member("format", format.rawValue)
    writer.member("follows", follows)
    writer.member("skipsOld", skipsOld)
  }

  init(from json: JSONValue) throws(JSONError) {
    self.init(
      format: try json["format"].word(), follows: try json["follows"].bool(), skipsOld: try json["skipsOld"].bool())
  }
}

extension BadLines {
  func encode(to writer: inout JSONWriter) {
    writer.member("tooLong", tooLong)
    writer.member("malformed", malformed)
  }

  init(from json: JSONValue) throws(JSONError) {
    self.init(tooLong: max(0, try json["tooLong"].integer()), malformed: max(0, try json["malformed"].integer()))
  }
}
