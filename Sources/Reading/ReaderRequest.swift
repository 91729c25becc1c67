// The requests of the server to readers, writers and engines.

import Files
import Geometry
import JSON
import Pictures

/// What a reader is to read: names that have meaning only in messages, and the open files that the message carries.
public struct ReadJob: Hashable, Sendable {
  /// The folder of the files, for messages; nothing is looked up in it.
  public var folder: String
  /// Names in the folder, in the order of the message's files, the main one first.
  public var names: [String]
  /// A path that SQLite opens itself, with the journal. The message's files then only define which files may be opened.
  public var database: String?
  /// The address of data in the network; there are no files then.
  public var address: String?
  /// The file that is meant in the message's file, an archive.
  public var part: ZipEntry?
  public var options: OpenOptions

  public init(
    folder: String, names: [String], database: String? = nil, address: String? = nil, part: ZipEntry? = nil,
    options: OpenOptions = OpenOptions()
  ) {
    self.address = address
    self.part = part
    self.folder = folder
    self.names = names
    self.database = database
    self.options = options
  }
}

public enum ReaderRequest: Hashable, Sendable {
  /// To a template: the message's file is the channel of a new reader.
  case fork
  case describe(ReadJob)
  /// The features of a layer, or of the first layer if nil.
  case readFeatures(ReadJob, layer: String?)
  /// The server has taken a block of features.
  case taken
  case openRaster(ReadJob, RasterUse)
  /// The bytes of a packed entry of an archive.
  case unpack(ReadJob)
  /// Reads from the raster that was opened. The message's file has ``RasterWindow``s.
  case readWindows
  /// Reads the numbers of bands within a level of the raster that was opened. The message's file has ``RasterWindow``s.
  case readPixels(level: Int, bands: [Int], isNearest: Bool)
  /// To a writer: the message's files are the file to fill and a scratch file for the format.
  case write(WriteJob)
  /// To a writer: the message's file is a ``FeatureBlock``.
  case block
  /// To a writer: no block follows.
  case end
  /// To an engine: whether the second of two geometries has the relation to the first, in a map that may go around the world. The
  /// message's file is a ``GeometryList``.
  case relate(SpatialRelation, across: Seam?)
  /// To an engine: an operation by its name and numbers, and whether invalid operands are mended. The message's file is a
  /// ``GeometryList``.
  case compute(String, [Double], mends: Bool)
  /// To a process that follows a feed: the message's file is the feed.
  case follow(FeedJob)
  /// To a painter: the message's file has the words of a picture.
  case paint(PictureJob)
  /// To a painter: the message's file has the words of texts.
  case measure
}

extension ReaderRequest {
  /// The job that the request begins; nil for a request within a job.
  public var job: ReadJob? {
    switch self {
    case .describe(let job), .readFeatures(let job, _), .openRaster(let job, _), .unpack(let job): job
    case .fork, .taken, .readWindows, .readPixels, .write, .block, .end, .relate, .compute, .follow, .paint, .measure: nil
    }
  }

  private enum Kind: String {
    case fork, describe, readFeatures, taken, openRaster, unpack, readWindows, readPixels, write, block, end, relate, compute, follow, paint, measure
  }

  private var kind: Kind {
    switch self {
    case .fork: .fork
    case .describe: .describe
    case .readFeatures: .readFeatures
    case .taken: .taken
    case .openRaster: .openRaster
    case .unpack: .unpack
    case .readWindows: .readWindows
    case .readPixels: .readPixels
    case .write: .write
    case .block: .block
    case .end: .end
    case .relate: .relate
    case .compute: .compute
    case .follow: .follow
    case .paint: .paint
    case .measure: .measure
    }
  }

  public func encode(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("type", kind.rawValue)
    job?.encode(to: &writer)
    switch self {
    case .fork, .describe, .taken, .unpack, .readWindows, .block, .end, .measure: break
    case .openRaster(_, let use):
      if case .pixels(let table) = use {
        writer.member("isDrawn", true)
        writer.member("table", table)
      }
    case .readPixels(let level, let bands, let isNearest):
      writer.member("level", level)
      writer.member("bands", bands)
      writer.member("isNearest", isNearest)
    case .readFeatures(_, let layer): writer.member("layer", layer)
    case .write(let job): job.encode(to: &writer)
    case .follow(let job): job.encode(to: &writer)
    case .paint(let job):
      writer.member("format", job.format.rawValue)
      writer.key("sizes")
      writer.array([job.width, job.height, job.ratio]) { $1.exact($0) }
      writer.member("background", Int(job.background))
      writer.member("isFirst", job.isFirst)
      writer.member("isLast", job.isLast)
    case .compute(let operation, let numbers, let mends):
      writer.member("operation", operation)
      writer.member("numbers", numbers)
      writer.member("mends", mends)
    case .relate(let relation, let seam):
      if let seam {
        writer.member("west", seam.west)
        writer.member("width", seam.width)
      }
      if case .relate(let pattern) = relation { writer.member("pattern", pattern.text) } else {
        writer.member("relation", "\(relation)")
      }
    }
    writer.endObject()
  }

  public init(from json: JSONValue) throws(JSONError) {
    switch try json["type"].word(Kind.self) {
    case .fork: self = .fork
    case .describe: self = .describe(try ReadJob(from: json))
    case .readFeatures:
      self = .readFeatures(
        try ReadJob(from: json), layer: try json.text("layer"))
    case .taken: self = .taken
    case .openRaster:
      let use: RasterUse = json["isDrawn"].isPresent ? .pixels(table: try json.text("table")) : .heights
      self = .openRaster(try ReadJob(from: json), use)
    case .unpack: self = .unpack(try ReadJob(from: json))
    case .readWindows: self = .readWindows
    case .readPixels:
      let bands = try json["bands"].array { band throws(JSONError) in try band.integer() }
      self = .readPixels(level: try json["level"].integer(), bands: bands, isNearest: try json["isNearest"].bool())
    case .write: self = .write(try WriteJob(from: json))
    case .block: self = .block
    case .end: self = .end
    case .follow: self = .follow(try FeedJob(from: json))
    case .measure: self = .measure
    case .paint:
      let sizes = try json["sizes"].array { number throws(JSONError) in try number.double() }
      guard sizes.count == 3 else { throw json.error(expected: "three sizes") }
      var job = PictureJob(
        try json["format"].word(), width: sizes[0], height: sizes[1], ratio: sizes[2],
        background: UInt32(truncatingIfNeeded: try json["background"].integer()))
      (job.isFirst, job.isLast) = (try json["isFirst"].bool(), try json["isLast"].bool())
      self = .paint(job)
    case .compute:
      let numbers = try json["numbers"].array { number throws(JSONError) in try number.double() }
      self = .compute(try json["operation"].string(), numbers, mends: try json["mends"].bool())
    case .relate:
      let relation =
        if let pattern = try json.text("pattern") { IntersectionPattern(pattern).map(SpatialRelation.relate) } else {
          SpatialRelation(word: try json["relation"].string())
        }
      guard let relation else { throw json.error(expected: "a relation") }
      let seam = try json["west"].number.map { west throws(JSONError) in Seam(west: west, width: try json["width"].double()) }
      self = .relate(relation, across: seam)
    }
  }
}

extension ReadJob {
  fileprivate func encode(to writer: inout JSONWriter) {
    writer.member("folder", folder)
    writer.member("names", names)
    writer.member("database", database)
    writer.member("address", address)
    writer.member("driver", options.driver?.rawValue)
    writer.member("x", options.points?.x)
    writer.member("y", options.points?.y)
    writer.member("z", options.points?.z)
    writer.member("encoding", options.encoding)
    if let part {
      writer.member("offset", part.offset)
      writer.member("size", part.size)
      writer.member("packed", part.isPacked ? part.packedSize : nil)
      writer.member("checksum", Int(part.checksum))
    }
  }

  fileprivate init(from json: JSONValue) throws(JSONError) {
    folder = try json["folder"].string()
    names = try json["names"].array { name throws(JSONError) in try name.string() }
    database = try json.text("database")
    address = try json.text("address")
    options = OpenOptions()
    options.driver = try json["driver"].ifPresent { driver throws(JSONError) in try driver.word() }
    if let x = try json.text("x") {
      options.points = OpenOptions.PointFields(x: x, y: try json["y"].string(), z: try json.text("z"))
    }
    options.encoding = try json.text("encoding")
    part = try json["offset"].ifPresent { offset throws(JSONError) in
      let size = try json["size"].integer()
      let packed = try json["packed"].ifPresent { packed throws(JSONError) in try packed.integer() }
      return ZipEntry(
        name: names.first ?? "", offset: try offset.integer(), packedSize: packed ?? size, size: size,
        checksum: UInt32(truncatingIfNeeded: try json["checksum"].integer()), isPacked: packed != nil)
    }
  }
}
