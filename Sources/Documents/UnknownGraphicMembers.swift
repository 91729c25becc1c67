// Finds the unknown members of graphics while a document is read. Most graphics have none, so the check makes no allocation.

import GeoModel
import Geometry
import JSON
import WireCoding

/// Collects members of graphics that this version does not know, at any depth, so that saving writes them back.
struct UnknownGraphicMembers {
  /// Text of the last symbol without unknown members: graphics of an overlay often have equal symbols, and then only one is parsed.
  private var plainSymbol = ""
  private static let members: Set<String> = [
    "id", "type", "geometry", "spatialReference", "attributes", "properties", "zIndex", "isVisible", "isSelected",
    "symbol",
  ]

  /// The graphic's unknown members; nil when there are none.
  ///
  /// - Parameters:
  ///   - graphic: the part of the graphic that was understood.
  ///   - omitted: names of omitted members.
  ///   - whole: the graphic as read.
  mutating func object(
    of graphic: JSONValue, omitting omitted: [String] = [], of whole: JSONValue
  ) -> UnknownMembers.Object? {
    var others = omitted
    graphic.forEachMember { name, _ in
      let name = String(decoding: name, as: UTF8.self)
      if !Self.members.contains(name) { others.append(name) }
    }
    let geometry = Self.hasUnknownMembers(graphic["geometry"]) ? graphic["geometry"] : nil
    let symbol = writtenSymbol(graphic["symbol"])
    guard !others.isEmpty || geometry != nil || symbol != nil else { return nil }
    var original = JSONWriter(capacity: 256)
    var written = JSONWriter(capacity: 256)
    original.beginObject()
    written.beginObject()
    if let geometry {
      original.key("geometry")
      Self.write(geometry, withUnknown: true, to: &original)
      written.key("geometry")
      Self.write(geometry, withUnknown: false, to: &written)
    }
    if let symbol {
      original.member("symbol", graphic["symbol"])
      written.key("symbol")
      written.raw(symbol)
    }
    for name in others {
      original.key(name)
      whole.member(name).encode(to: &original)
    }
    // A graphic without a geometry is written with null.
    if omitted.contains("geometry") {
      written.key("geometry")
      written.null()
    }
    original.endObject()
    written.endObject()
    return UnknownMembers.Object(original: original.string, written: written.string)
  }

  // MARK: Geometries

  private static func isKnown(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    name.elementsEqual("type".utf8) || name.elementsEqual("coordinates".utf8) || name.elementsEqual("geometries".utf8)
  }

  private static func hasUnknownMembers(_ geometry: JSONValue) -> Bool {
    guard geometry.isPresent else { return false }
    var hasUnknown = false
    geometry.forEachMember { name, _ in hasUnknown = hasUnknown || !isKnown(name) }
    let parts = geometry["geometries"]
    guard hasUnknown || parts.isPresent else { return false }
    guard let type = try? geometry["type"].string(), Geometry.typeNames.contains(type) else { return false }
    return hasUnknown || type == "GeometryCollection" && (0..<parts.count).contains { hasUnknownMembers(parts[$0]) }
  }

  private static func write(_ geometry: JSONValue, withUnknown: Bool, to writer: inout JSONWriter) {
    writer.beginObject()
    geometry.forEachMember { name, value in
      guard withUnknown || isKnown(name) else { return }
      writer.key(utf8: name)
      guard name.elementsEqual("geometries".utf8) else { return value.encode(to: &writer) }
      writer.array(0..<value.count) { write(value[$0], withUnknown: withUnknown, to: &$1) }
    }
    writer.endObject()
  }

  // MARK: Symbols

  /// The symbol's text as this version writes it; nil if a member would be lost.
  private mutating func writtenSymbol(_ symbol: JSONValue) -> String? {
    guard symbol.isPresent else { return nil }
    let text = symbol.jsonText
    guard text != plainSymbol else { return nil }
    guard let read = try? GraphicReader.symbol(symbol) else { return nil }
    let written = Wire.symbolText(read)
    let isPlain = (try? JSONDocument(written).read { !Self.has(symbol, moreThan: $0) }) ?? true
    guard isPlain else { return written }
    plainSymbol = text
    return nil
  }

  /// Whether a value has members that `other` lacks, at any depth.
  private static func has(_ value: JSONValue, moreThan other: JSONValue) -> Bool {
    switch value.kind {
    case .object:
      return value.members.contains { name, member in
        let counterpart = other.member(name)
        return member.isPresent && (counterpart.kind == .absent || has(member, moreThan: counterpart))
      }
    case .array: return value.count == other.count && (0..<value.count).contains { has(value[$0], moreThan: other[$0]) }
    default: return false
    }
  }
}
