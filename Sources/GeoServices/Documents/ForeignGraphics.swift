// What newer versions know of graphics: found while they are read, of very many that have none, and kept by itself.

import GeoModel
import GeoProtocol
import JSON

/// Looks at graphics for members that are not understood, at any depth.
struct ForeignGraphics {
  /// The symbol that was found to have none last: those of one overlay are often the same.
  private var plainSymbol = ""
  private static let members: Set<String> = [
    "id", "type", "geometry", "spatialReference", "attributes", "properties", "zIndex", "isVisible", "isSelected",
    "symbol",
  ]

  /// What of a graphic is to be kept; nil where all is understood.
  ///
  /// - Parameter graphic: one that has been read without an error.
  mutating func object(of graphic: JSONValue) -> ForeignMembers.Object? {
    var others: [String] = []
    graphic.forEachMember { name, _ in
      let name = String(decoding: name, as: UTF8.self)
      if !Self.members.contains(name) { others.append(name) }
    }
    let geometry = Self.hasForeign(graphic["geometry"]) ? graphic["geometry"] : nil
    let symbol = writtenForeign(graphic["symbol"])
    guard !others.isEmpty || geometry != nil || symbol != nil else { return nil }
    var original = JSONWriter(capacity: 256)
    var written = JSONWriter(capacity: 256)
    original.beginObject()
    written.beginObject()
    if let geometry {
      original.key("geometry")
      Self.write(geometry, with: true, to: &original)
      written.key("geometry")
      Self.write(geometry, with: false, to: &written)
    }
    if let symbol {
      original.key("symbol")
      graphic["symbol"].encode(to: &original)
      written.key("symbol")
      written.raw(symbol)
    }
    for name in others {
      original.key(name)
      graphic.member(name).encode(to: &original)
    }
    original.endObject()
    written.endObject()
    return ForeignMembers.Object(original: original.string, written: written.string)
  }

  // MARK: Geometries

  /// GeoJSON's types, which are written as they were read; the other forms become GeoJSON.
  private static let types: Set<String> = [
    "Point", "LineString", "Polygon", "MultiPoint", "MultiLineString", "MultiPolygon", "GeometryCollection",
  ]

  private static func isOwn(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    name.elementsEqual("type".utf8) || name.elementsEqual("coordinates".utf8) || name.elementsEqual("geometries".utf8)
  }

  private static func hasForeign(_ geometry: JSONValue) -> Bool {
    guard geometry.isPresent else { return false }
    var isForeign = false
    geometry.forEachMember { name, _ in isForeign = isForeign || !isOwn(name) }
    let parts = geometry["geometries"]
    guard isForeign || parts.isPresent else { return false }
    guard let type = try? geometry["type"].string(), types.contains(type) else { return false }
    return isForeign || type == "GeometryCollection" && (0..<parts.count).contains { hasForeign(parts[$0]) }
  }

  /// - Parameter foreign: whether with what is not understood.
  private static func write(_ geometry: JSONValue, with foreign: Bool, to writer: inout JSONWriter) {
    writer.beginObject()
    geometry.forEachMember { name, value in
      guard foreign || isOwn(name) else { return }
      writer.key(utf8: name)
      guard name.elementsEqual("geometries".utf8) else { return value.encode(to: &writer) }
      writer.beginArray()
      for index in 0..<value.count { write(value[index], with: foreign, to: &writer) }
      writer.endArray()
    }
    writer.endObject()
  }

  // MARK: Symbols

  /// A symbol as it will be written, where that is less than was read.
  private mutating func writtenForeign(_ symbol: JSONValue) -> String? {
    guard symbol.isPresent else { return nil }
    let text = symbol.text
    guard text != plainSymbol else { return nil }
    guard let read = try? GraphicReader.symbol(symbol) else { return nil }
    let written = Wire.symbolText(read)
    let isPlain = (try? JSONDocument(written).read { !Self.has(symbol, moreThan: $0) }) ?? true
    guard isPlain else { return written }
    plainSymbol = text
    return nil
  }

  /// Whether a value has members that the other does not have in their places.
  private static func has(_ value: JSONValue, moreThan other: JSONValue) -> Bool {
    switch value.kind {
    case .object:
      var hasMore = false
      value.forEachMember { name, member in
        guard !hasMore, member.isPresent else { return }
        let there = other.member(String(decoding: name, as: UTF8.self))
        hasMore = there.kind == .absent || has(member, moreThan: there)
      }
      return hasMore
    case .array: return value.count == other.count && (0..<value.count).contains { has(value[$0], moreThan: other[$0]) }
    default: return false
    }
  }
}
