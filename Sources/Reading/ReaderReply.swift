// The replies of a reader. A reader counts as hostile: its replies are checked when they are decoded.

import CReader
import Geometry
import JSON
import Pictures

/// Protections that confine a reader, as far as the system has them.
public enum ReaderConfinement: Sendable, CaseIterable {
  case lifetime, network, systemCalls, memory, files, capabilities

  /// The bit in ``ReaderReply/ready(_:)``.
  public var bit: UInt32 {
    switch self {
    case .lifetime: UInt32(CREADER_DIES_WITH_PARENT)
    case .network: UInt32(CREADER_NETWORK_NAMESPACE)
    case .systemCalls: UInt32(CREADER_SYSTEM_CALLS)
    case .memory: UInt32(CREADER_MEMORY)
    case .files: UInt32(CREADER_FILES)
    case .capabilities: UInt32(CREADER_CAPABILITIES)
    }
  }
}

public enum ReaderReply: Hashable, Sendable {
  /// A template's: the number of the new reader; -1 if it cannot fork.
  case forked(Int)
  /// The reader waits for its first request; bits of `CREADER_` name its protections.
  case ready(UInt32)
  /// The driver that recognized the file.
  case opened(String)
  /// A message of GDAL.
  case complaint(String)
  case progress(Double)
  case source(SourceDescription)
  case layer(LayerDescription)
  /// The message's file is a ``FeatureBlock``.
  case block
  case raster(RasterDescription)
  /// The message's file has ``RasterHeights``, window by window.
  case heights
  /// The message's file has the numbers of pixels; see ``RasterPixels/mapping(_:_:bands:isBytes:)``.
  case pixels
  /// A writer has taken a block of features.
  case taken
  /// An engine's answer to ``ReaderRequest/relate(_:)``.
  case related(Bool)
  /// An engine's answer to ``ReaderRequest/compute(_:_:mends:)``: numbers and a text; the message's file is a ``GeometryList``.
  case computed([Double], String?)
  /// An engine's, where an operand is not valid.
  case invalid(reason: String, at: Point?, operand: Int)
  /// An engine's, where GEOS refuses the geometries.
  case refused(operation: String, reason: String)
  /// Lines of a feed: text of whole lines in `text`, or GeoJSON features in `features` (see ``FeedFormat``), which are read from
  /// the message; and the lines left out before them.
  case chunk(BadLines)
  /// A follower has read all that a growing file has, a second ago or longer.
  case waiting
  /// A painter's: the message's file is the picture.
  case painted(PaintNotes)
  /// A painter's: the message's file has width, height and ascent of each text, as floats.
  case measured
  /// The last reply to a request. Resident memory in bytes, by which the server decides whether to keep the reader.
  case done(Int)
  case failed(ReadError)
}

extension ReaderReply {
  private enum Kind: String {
    case forked, ready, opened, complaint, progress, source, layer, block, raster, heights, pixels, taken, related, computed, invalid, refused, chunk, waiting, painted, measured, done, failed
  }

  private var kind: Kind {
    switch self {
    case .forked: .forked
    case .ready: .ready
    case .opened: .opened
    case .complaint: .complaint
    case .progress: .progress
    case .source: .source
    case .layer: .layer
    case .block: .block
    case .raster: .raster
    case .heights: .heights
    case .pixels: .pixels
    case .taken: .taken
    case .related: .related
    case .computed: .computed
    case .invalid: .invalid
    case .refused: .refused
    case .chunk: .chunk
    case .waiting: .waiting
    case .painted: .painted
    case .measured: .measured
    case .done: .done
    case .failed: .failed
    }
  }

  public func encode(to writer: inout JSONWriter) {
    writer.beginObject()
    encodeMembers(to: &writer)
    writer.endObject()
  }

  /// The members alone, for a reply that carries more.
  public func encodeMembers(to writer: inout JSONWriter) {
    writer.member("type", kind.rawValue)
    switch self {
    case .forked(let process):
      writer.member("process", process)
    case .ready(let protections):
      writer.member("protections", Int(protections))
    case .opened(let driver):
      writer.member("driver", driver)
    case .complaint(let text):
      writer.member("text", text)
    case .progress(let fraction):
      writer.member("fraction", fraction)
    case .source(let source):
      writer.member("driver", source.driver.rawValue)
      writer.member("layers", source.layers)
    case .layer(let layer):
      writer.member("layer", layer)
    case .raster(let raster):
      writer.member("driver", raster.driver)
      writer.member("width", raster.width)
      writer.member("height", raster.height)
      writer.member("reference", raster.spatialReference?.definition)
      writer.member("transform", raster.transform.numbers)
      if let noData = raster.noData {
        writer.key("noData")
        writer.exact(noData)
      }
      writer.member("unknownUnit", raster.unknownUnit)
      if !raster.bands.isEmpty {
        writer.key("bands")
        writer.array(raster.bands) { Self.encode($0, to: &$1) }
      }
    case .block, .heights, .pixels, .taken, .waiting, .measured: break
    case .painted(let notes):
      writer.member("missingGlyphs", notes.missingGlyphs)
      writer.member("missingFamilies", notes.missingFamilies)
    case .related(let holds): writer.member("holds", holds)
    case .computed(let numbers, let text):
      writer.member("numbers", numbers)
      writer.member("text", text)
    case .invalid(let reason, let place, let operand):
      writer.member("reason", reason)
      if let place { writer.member("at", [place.x, place.y]) }
      writer.member("operand", operand)
    case .refused(let operation, let reason):
      writer.member("operation", operation)
      writer.member("reason", reason)
    case .chunk(let bad): bad.encode(to: &writer)
    case .done(let bytes):
      writer.member("residentBytes", bytes)
    case .failed(let error):
      error.encode(to: &writer)
    }
  }

  /// - Parameter path: the file's name in descriptions and errors.
  public init(from json: JSONValue, path: String) throws(JSONError) {
    switch try json["type"].word(Kind.self) {
    case .forked: self = .forked(try json["process"].integer())
    case .ready: self = .ready(UInt32(truncatingIfNeeded: try json["protections"].integer()))
    case .opened: self = .opened(try json["driver"].string())
    case .complaint: self = .complaint(try json["text"].string())
    case .progress: self = .progress(min(max(try json["fraction"].double(), 0), 1))
    case .source:
      self = .source(
        SourceDescription(
          driver: try json["driver"].word(), name: path,
          layers: try json["layers"].array { layer throws(JSONError) in try LayerDescription(from: layer) }))
    case .layer: self = .layer(try LayerDescription(from: json["layer"]))
    case .block: self = .block
    case .raster:
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
          transform: transform, noData: try json["noData"].ifPresent { v throws(JSONError) in try v.number() },
          bands: try json["bands"].ifPresent { bands throws(JSONError) in
            try bands.array { band throws(JSONError) in try Self.band(from: band) }
          } ?? [], unknownUnit: try json.text("unknownUnit")))
    case .heights: self = .heights
    case .pixels: self = .pixels
    case .taken: self = .taken
    case .related: self = .related(try json["holds"].bool())
    case .computed:
      self = .computed(try json["numbers"].array { number throws(JSONError) in try number.double() }, try json.text("text"))
    case .invalid:
      let place = try json["at"].ifPresent { at throws(JSONError) in
        Point(x: try at[0].double(), y: try at[1].double())
      }
      self = .invalid(reason: try json["reason"].string(), at: place, operand: try json["operand"].integer())
    case .refused: self = .refused(operation: try json["operation"].string(), reason: try json["reason"].string())
    case .chunk: self = .chunk(try BadLines(from: json))
    case .waiting: self = .waiting
    case .measured: self = .measured
    case .painted:
      self = .painted(
        PaintNotes(
          missingGlyphs: try json["missingGlyphs"].integer(),
          missingFamilies: try json["missingFamilies"].array { name throws(JSONError) in try name.string() }))
    case .done: self = .done(try json["residentBytes"].integer())
    case .failed: self = .failed(try ReadError(from: json, path: path))
    }
  }

  private static func encode(_ band: RasterBand, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("type", band.type)
    writer.member("isBytes", band.isBytes)
    writer.member("colors", band.colors.map { $0.map { Int($0) } })
    if let noData = band.noData {
      writer.key("noData")
      writer.exact(noData)
    }
    writer.endObject()
  }

  private static func band(from json: JSONValue) throws(JSONError) -> RasterBand {
    RasterBand(
      type: try json["type"].string(), noData: try json["noData"].ifPresent { v throws(JSONError) in try v.number() },
      isBytes: try json["isBytes"].bool(),
      colors: try json["colors"].ifPresent { colors throws(JSONError) in
        try colors.array { color throws(JSONError) in UInt32(truncatingIfNeeded: try color.integer()) }
      })
  }
}
