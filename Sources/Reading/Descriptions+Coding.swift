// Descriptions and errors in messages.

import Geometry
import JSON

extension LayerDescription: JSONEncodable {
  public func encode(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("name", name)
    writer.member("geometryType", geometryType)
    writer.member("geometryName", geometryName)
    writer.member("fields", fields.map { [$0.name.string, $0.type.rawValue] })
    writer.member("featureCount", featureCount)
    if let extent {
      writer.key("extent")
      writer.array([extent.xMin, extent.yMin, extent.xMax, extent.yMax]) { $1.exact($0) }
    }
    writer.member("reference", spatialReference?.definition)
    writer.member("fidColumn", fidColumn)
    writer.endObject()
  }

  init(from json: JSONValue) throws(JSONError) {
    let extent = try json["extent"].ifPresent { v throws(JSONError) in
      try v.array { number throws(JSONError) in try number.number() }
    }
    if let extent, extent.count != 4 { throw json["extent"].error(expected: "four numbers") }
    self.init(
      name: try json["name"].string(),
      geometryType: try json.text("geometryType"),
      fields: try json["fields"].array { field throws(JSONError) in
        Field(name: try field[0].string(), type: try field[1].word())
      },
      featureCount: try json["featureCount"].ifPresent { v throws(JSONError) in try v.integer() },
      extent: extent.map { Envelope(xMin: $0[0], yMin: $0[1], xMax: $0[2], yMax: $0[3]) },
      spatialReference: try json.text("reference").map { SpatialReference($0) },
      fidColumn: try json.text("fidColumn"), geometryName: try json.text("geometryName"))
  }
}

extension ReadError {
  private enum Kind: String {
    case openFailed, readFailed, noSuchLayer, missingField, changedWhileRead, unavailable, writeFailed, driverMissing
    case unrecognized, layerExists, address
  }

  /// The kind of an error in a message. Only errors that a reader meets have one of their own; the others are the server's.
  private var kind: Kind {
    switch self {
    case .openFailed: .openFailed
    case .readFailed: .readFailed
    case .noSuchLayer: .noSuchLayer
    case .layerExists: .layerExists
    case .missingField: .missingField
    case .address: .address
    case .changedWhileRead: .changedWhileRead
    case .unavailable: .unavailable
    case .writeFailed: .writeFailed
    case .driverMissing: .driverMissing
    case .unrecognized, .file, .cancelled, .readerFailed, .writerFailed: .unrecognized
    }
  }

  func encode(to writer: inout JSONWriter) {
    writer.member("kind", kind.rawValue)
    switch self {
    case .openFailed(let driver, _, let reason):
      writer.member("driver", driver)
      writer.member("reason", reason)
    case .readFailed(let driver, _, let layer, let reason):
      writer.member("driver", driver)
      writer.member("layer", layer)
      writer.member("reason", reason)
    case .noSuchLayer(let name, let available), .missingField(let name, let available),
      .layerExists(let name, let available):
      writer.member("name", name)
      writer.member("available", available)
    case .address(_, let fault):
      writer.member("cause", fault.cause.rawValue)
      writer.member("reason", fault.reason)
      writer.member("status", fault.status)
    case .unavailable(let reason), .writeFailed(_, let reason): writer.member("reason", reason)
    case .driverMissing(let driver, let available):
      writer.member("name", driver.rawValue)
      writer.member("available", available.map(\.rawValue))
    case .changedWhileRead, .unrecognized, .file, .cancelled, .readerFailed, .writerFailed: break
    }
  }

  init(from json: JSONValue, path: String) throws(JSONError) {
    func text(_ name: StaticString) throws(JSONError) -> String { try json[name].string() }
    func available() throws(JSONError) -> [String] {
      try json["available"].array { name throws(JSONError) in try name.string() }
    }
    switch try json["kind"].word(Kind.self) {
    case .openFailed: self = .openFailed(driver: try json.text("driver"), path: path, reason: try text("reason"))
    case .readFailed:
      self = .readFailed(
        driver: try json.text("driver"), path: path, layer: try json.text("layer"), reason: try text("reason"))
    case .noSuchLayer: self = .noSuchLayer(try text("name"), available: try available())
    case .layerExists: self = .layerExists(try text("name"), available: try available())
    case .missingField: self = .missingField(try text("name"), available: try available())
    case .address:
      let status = try json["status"].ifPresent { v throws(JSONError) in try v.integer() }
      self = .address(path: path, AddressFault(try json["cause"].word(), try text("reason"), status: status))
    case .changedWhileRead: self = .changedWhileRead(path: path)
    case .writeFailed: self = .writeFailed(path: path, reason: try text("reason"))
    case .driverMissing:
      self = .driverMissing(
        try json["name"].word(),
        available: try json["available"].array { driver throws(JSONError) in try driver.word() })
    case .unavailable: self = .unavailable(reason: try text("reason"))
    case .unrecognized: self = .unrecognized(path: path)
    }
  }
}

// MARK: Coding helpers

extension JSONWriter {
  /// A number; as text if JSON cannot represent it.
  mutating func exact(_ value: Double) {
    if value.isFinite { self.value(value) } else { self.value(value.description) }
  }
}

extension JSONValue {
  /// The enum case whose raw value is the text.
  func word<Word: RawRepresentable<String>>(_ type: Word.Type = Word.self) throws(JSONError) -> Word {
    guard let word = Word(rawValue: try string()) else { throw error(expected: "a word of \(type)") }
    return word
  }

  func ifPresent<Value>(_ read: (JSONValue) throws(JSONError) -> Value) throws(JSONError) -> Value? {
    isPresent ? try read(self) : nil
  }

  /// The text of a member; nil if absent.
  func text(_ name: StaticString) throws(JSONError) -> String? {
    try self[name].ifPresent { text throws(JSONError) in try text.string() }
  }

  /// A number as written by ``JSONWriter/exact(_:)``.
  func number() throws(JSONError) -> Double {
    guard kind == .string else { return try double() }
    guard let value = Double(try string()) else { throw error(expected: "a number") }
    return value
  }
}
