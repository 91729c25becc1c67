// What server and reader say to each other. A reader counts as hostile: what it sends is checked when it is decoded.

import CReader
import Geometry
import JSON

/// What a reader is to read: names without meaning outside, and the open files that the message carries.
public struct ReadJob: Hashable, Sendable {
  /// The folder of the files, for messages; nothing is looked up in it.
  public var folder: String
  /// Names in the folder, in the order of the message's files: the main one first, then those that belong to it.
  public var names: [String]
  /// A path to be opened by SQLite itself, with its journal. The message's files then only say what may be opened.
  public var database: String?
  public var options: OpenOptions

  public init(folder: String, names: [String], database: String? = nil, options: OpenOptions = OpenOptions()) {
    self.folder = folder
    self.names = names
    self.database = database
    self.options = options
  }
}

/// A rectangle of pixels.
public struct RasterWindow: Hashable, Sendable {
  public let column: Int
  public let row: Int
  public let width: Int
  public let height: Int

  public init(column: Int, row: Int, width: Int, height: Int) {
    self.column = column
    self.row = row
    self.width = width
    self.height = height
  }
}

/// What confines a reader, where the system has it.
public enum ReaderConfinement: String, Sendable, CaseIterable {
  case lifetime, network, systemCalls, memory, files

  /// The bit in ``ReaderReply/ready(_:)``.
  public var bit: UInt32 {
    switch self {
    case .lifetime: UInt32(CREADER_DIES_WITH_PARENT)
    case .network: UInt32(CREADER_NETWORK_NAMESPACE)
    case .systemCalls: UInt32(CREADER_SYSTEM_CALLS)
    case .memory: UInt32(CREADER_MEMORY)
    case .files: UInt32(CREADER_FILES)
    }
  }
}

public enum ReaderRequest: Hashable, Sendable {
  case describe(ReadJob)
  /// The features of a layer, of the first when nil.
  case readFeatures(ReadJob, layer: String?)
  /// A block of features has been taken.
  case taken
  case openRaster(ReadJob)
  /// Of the raster that was opened.
  case readWindow(RasterWindow)
}

public enum ReaderReply: Hashable, Sendable {
  /// It waits for its first request, and what confines it: bits of `CREADER_`.
  case ready(UInt32)
  /// The driver that recognized the file.
  case opened(String)
  /// A message of GDAL's.
  case complaint(String)
  case progress(Double)
  case source(SourceDescription)
  case layer(LayerDescription)
  /// A ``FeatureBlock`` is the message's file.
  case block
  case raster(RasterDescription)
  /// Heights in metres, doubles row by row, NaN without a value, are the message's file.
  case window
  /// Ends the replies to a request. Resident memory in bytes, from which the server judges whether to go on with the reader.
  case done(Int)
  case failed(ReadError)
}

extension ReaderRequest {
  /// What begins with this request; nil for one about what was begun.
  public var job: ReadJob? {
    switch self {
    case .describe(let job), .readFeatures(let job, _), .openRaster(let job): job
    case .taken, .readWindow: nil
    }
  }

  public func encode(to writer: inout JSONWriter) {
    writer.beginObject()
    switch self {
    case .describe(let job): encode("describe", job, to: &writer)
    case .readFeatures(let job, let layer):
      encode("readFeatures", job, to: &writer)
      writer.optional("layer", layer)
    case .taken: writer.member("type", "taken")
    case .openRaster(let job): encode("openRaster", job, to: &writer)
    case .readWindow(let window):
      writer.member("type", "readWindow")
      writer.member("column", window.column)
      writer.member("row", window.row)
      writer.member("width", window.width)
      writer.member("height", window.height)
    }
    writer.endObject()
  }

  private func encode(_ type: String, _ job: ReadJob, to writer: inout JSONWriter) {
    writer.member("type", type)
    writer.member("folder", job.folder)
    writer.key("names")
    writer.array(job.names) { $1.value($0) }
    writer.optional("database", job.database)
    writer.optional("driver", job.options.driver?.rawValue)
    writer.optional("x", job.options.points?.x)
    writer.optional("y", job.options.points?.y)
  }

  public init(from json: JSONValue) throws(JSONError) {
    switch try json["type"].string() {
    case "describe": self = .describe(try ReadJob(from: json))
    case "readFeatures":
      self = .readFeatures(
        try ReadJob(from: json), layer: try json["layer"].ifPresent { v throws(JSONError) in try v.string() })
    case "taken": self = .taken
    case "openRaster": self = .openRaster(try ReadJob(from: json))
    case "readWindow":
      self = .readWindow(
        RasterWindow(
          column: try json["column"].integer(), row: try json["row"].integer(), width: try json["width"].integer(),
          height: try json["height"].integer()))
    default: throw json["type"].error(expected: "a type of request")
    }
  }
}

extension ReadJob {
  fileprivate init(from json: JSONValue) throws(JSONError) {
    folder = try json["folder"].string()
    names = try json["names"].array { name throws(JSONError) in try name.string() }
    database = try json["database"].ifPresent { v throws(JSONError) in try v.string() }
    options = OpenOptions()
    options.driver = try json["driver"].ifPresent { v throws(JSONError) in try v.string() }.flatMap {
      FeatureDriver(rawValue: $0)
    }
    if let x = try json["x"].ifPresent({ v throws(JSONError) in try v.string() }) {
      options.points = OpenOptions.PointFields(x: x, y: try json["y"].string())
    }
  }
}

extension ReaderReply {
  public func encode(to writer: inout JSONWriter) {
    writer.beginObject()
    switch self {
    case .ready(let protections):
      writer.member("type", "ready")
      writer.member("protections", Int(protections))
    case .opened(let driver):
      writer.member("type", "opened")
      writer.member("driver", driver)
    case .complaint(let text):
      writer.member("type", "complaint")
      writer.member("text", text)
    case .progress(let fraction):
      writer.member("type", "progress")
      writer.key("fraction")
      writer.value(fraction)
    case .source(let source):
      writer.member("type", "source")
      writer.member("driver", source.driver.rawValue)
      writer.key("layers")
      writer.array(source.layers) { $0.encode(to: &$1) }
    case .layer(let layer):
      writer.member("type", "layer")
      writer.key("layer")
      layer.encode(to: &writer)
    case .block: writer.member("type", "block")
    case .raster(let raster):
      writer.member("type", "raster")
      writer.member("driver", raster.driver)
      writer.member("width", raster.width)
      writer.member("height", raster.height)
      writer.optional("reference", raster.spatialReference?.definition)
      writer.key("transform")
      writer.array(raster.transform.numbers) { $1.value($0) }
      writer.optional("noData", raster.noData)
    case .window: writer.member("type", "window")
    case .done(let bytes):
      writer.member("type", "done")
      writer.member("residentBytes", bytes)
    case .failed(let error):
      writer.member("type", "failed")
      error.encode(to: &writer)
    }
    writer.endObject()
  }

  /// - Parameter path: what names the file in descriptions and errors.
  public init(from json: JSONValue, path: String) throws(JSONError) {
    switch try json["type"].string() {
    case "ready": self = .ready(UInt32(truncatingIfNeeded: try json["protections"].integer()))
    case "opened": self = .opened(try json["driver"].string())
    case "complaint": self = .complaint(try json["text"].string())
    case "progress": self = .progress(min(max(try json["fraction"].double(), 0), 1))
    case "source":
      guard let driver = FeatureDriver(rawValue: try json["driver"].string()) else {
        throw json["driver"].error(expected: "a driver")
      }
      self = .source(
        SourceDescription(
          driver: driver, name: path,
          layers: try json["layers"].array { layer throws(JSONError) in try LayerDescription(from: layer) }))
    case "layer": self = .layer(try LayerDescription(from: json["layer"]))
    case "block": self = .block
    case "raster":
      let numbers = try json["transform"].array { number throws(JSONError) in try number.double() }
      let (width, height) = (try json["width"].integer(), try json["height"].integer())
      let sizes = 1...Int(Int32.max)
      guard let transform = RasterTransform(numbers), sizes.contains(width), sizes.contains(height) else {
        throw json.error(expected: "a raster's size and transform")
      }
      self = .raster(
        RasterDescription(
          path: path, driver: try json["driver"].string(), width: width, height: height,
          spatialReference: try json["reference"].ifPresent { v throws(JSONError) in SpatialReference(try v.string()) },
          transform: transform, noData: try json["noData"].ifPresent { v throws(JSONError) in try v.number() }))
    case "window": self = .window
    case "done": self = .done(try json["residentBytes"].integer())
    case "failed": self = .failed(try ReadError(from: json, path: path))
    default: throw json["type"].error(expected: "a type of reply")
    }
  }
}

extension LayerDescription {
  fileprivate func encode(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("name", name)
    writer.optional("geometryType", geometryType)
    writer.key("fields")
    writer.array(fields) { field, writer in
      writer.beginArray()
      writer.value(field.name.string)
      writer.value(field.type.rawValue)
      writer.endArray()
    }
    writer.optional("featureCount", featureCount)
    if let extent {
      writer.key("extent")
      writer.array([extent.xMin, extent.yMin, extent.xMax, extent.yMax]) { $1.exact($0) }
    }
    writer.optional("reference", spatialReference?.definition)
    writer.optional("fidColumn", fidColumn)
    writer.endObject()
  }

  fileprivate init(from json: JSONValue) throws(JSONError) {
    let extent = try json["extent"].ifPresent { v throws(JSONError) in
      try v.array { number throws(JSONError) in try number.number() }
    }
    if let extent, extent.count != 4 { throw json["extent"].error(expected: "four numbers") }
    self.init(
      name: try json["name"].string(),
      geometryType: try json["geometryType"].ifPresent { v throws(JSONError) in try v.string() },
      fields: try json["fields"].array { field throws(JSONError) in
        guard let type = FieldType(rawValue: try field[1].string()) else { throw field[1].error(expected: "a type") }
        return Field(name: try field[0].string(), type: type)
      },
      featureCount: try json["featureCount"].ifPresent { v throws(JSONError) in try v.integer() },
      extent: extent.map { Envelope(xMin: $0[0], yMin: $0[1], xMax: $0[2], yMax: $0[3]) },
      spatialReference: try json["reference"].ifPresent { v throws(JSONError) in SpatialReference(try v.string()) },
      fidColumn: try json["fidColumn"].ifPresent { v throws(JSONError) in try v.string() })
  }
}

extension ReadError {
  /// Of the errors those that a reader meets; the others are the server's own.
  fileprivate func encode(to writer: inout JSONWriter) {
    switch self {
    case .openFailed(let driver, _, let reason):
      writer.member("kind", "openFailed")
      writer.optional("driver", driver)
      writer.member("reason", reason)
    case .readFailed(let driver, _, let layer, let reason):
      writer.member("kind", "readFailed")
      writer.optional("driver", driver)
      writer.optional("layer", layer)
      writer.member("reason", reason)
    case .noSuchLayer(let name, let available):
      writer.member("kind", "noSuchLayer")
      writer.member("name", name)
      writer.key("available")
      writer.array(available) { $1.value($0) }
    case .missingField(let name, let available):
      writer.member("kind", "missingField")
      writer.member("name", name)
      writer.key("available")
      writer.array(available) { $1.value($0) }
    case .changedWhileRead: writer.member("kind", "changedWhileRead")
    case .unavailable(let reason):
      writer.member("kind", "unavailable")
      writer.member("reason", reason)
    case .unrecognized, .file, .cancelled, .readerFailed:
      writer.member("kind", "unrecognized")
    }
  }

  fileprivate init(from json: JSONValue, path: String) throws(JSONError) {
    func text(_ name: StaticString) throws(JSONError) -> String { try json[name].string() }
    func optional(_ name: StaticString) throws(JSONError) -> String? {
      try json[name].ifPresent { v throws(JSONError) in try v.string() }
    }
    func available() throws(JSONError) -> [String] {
      try json["available"].array { name throws(JSONError) in try name.string() }
    }
    switch try text("kind") {
    case "openFailed": self = .openFailed(driver: try optional("driver"), path: path, reason: try text("reason"))
    case "readFailed":
      self = .readFailed(
        driver: try optional("driver"), path: path, layer: try optional("layer"), reason: try text("reason"))
    case "noSuchLayer": self = .noSuchLayer(try text("name"), available: try available())
    case "missingField": self = .missingField(try text("name"), available: try available())
    case "changedWhileRead": self = .changedWhileRead(path: path)
    case "unavailable": self = .unavailable(reason: try text("reason"))
    default: self = .unrecognized(path: path)
    }
  }
}

// MARK: Coding helpers

extension JSONWriter {
  fileprivate mutating func member(_ name: StaticString, _ value: String) {
    key(name)
    self.value(value)
  }

  fileprivate mutating func member(_ name: StaticString, _ value: Int) {
    key(name)
    self.value(value)
  }

  fileprivate mutating func optional(_ name: StaticString, _ value: String?) {
    if let value { member(name, value) }
  }

  fileprivate mutating func optional(_ name: StaticString, _ value: Int?) {
    if let value { member(name, value) }
  }

  fileprivate mutating func optional(_ name: StaticString, _ value: Double?) {
    guard let value else { return }
    key(name)
    exact(value)
  }

  /// A number, or the text of what JSON has no number for.
  fileprivate mutating func exact(_ value: Double) {
    if value.isFinite { self.value(value) } else { self.value(value.description) }
  }
}

extension JSONValue {
  fileprivate func ifPresent<Value>(
    _ read: (JSONValue) throws(JSONError) -> Value
  ) throws(JSONError) -> Value? {
    isPresent ? try read(self) : nil
  }

  /// As ``JSONWriter/exact(_:)`` wrote it.
  fileprivate func number() throws(JSONError) -> Double {
    guard kind == .string else { return try double() }
    guard let value = Double(try string()) else { throw error(expected: "a number") }
    return value
  }
}
