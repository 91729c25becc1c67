// What a reader answers. It counts as hostile: what it sends is checked when it is decoded.

import CReader
import Geometry
import JSON

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
  /// A writer has taken a block of features.
  case taken
  /// Ends the replies to a request. Resident memory in bytes, from which the server judges whether to go on with the reader.
  case done(Int)
  case failed(ReadError)
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
      writer.member("fraction", fraction)
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
      writer.member("reference", raster.spatialReference?.definition)
      writer.key("transform")
      writer.array(raster.transform.numbers) { $1.value($0) }
      if let noData = raster.noData {
        writer.key("noData")
        writer.exact(noData)
      }
    case .window: writer.member("type", "window")
    case .taken: writer.member("type", "taken")
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
          spatialReference: try json.text("reference").map { SpatialReference($0) },
          transform: transform, noData: try json["noData"].ifPresent { v throws(JSONError) in try v.number() }))
    case "window": self = .window
    case "taken": self = .taken
    case "done": self = .done(try json["residentBytes"].integer())
    case "failed": self = .failed(try ReadError(from: json, path: path))
    default: throw json["type"].error(expected: "a type of reply")
    }
  }
}
