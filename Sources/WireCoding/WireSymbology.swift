// Converts symbols between the wire and the model.

import GeoModel
import GeoProtocol
import Geometry
import JSON

extension Wire {
  /// Maximum nesting of composite symbols.
  private static let maxSymbolDepth = 8

  /// A colour from text that the decoder has validated.
  package static func color(_ text: String) -> Color { Color(text) ?? .lightGray }

  // MARK: From the wire

  package static func symbol(_ symbol: SymbologyProtocol.Symbol, depth: Int = 0) throws(SymbologyError) -> Symbol {
    switch symbol {
    case .simpleMarker(let marker):
      return .simpleMarker(
        SimpleMarkerSymbol(
          style: .init(marker.style), color: color(marker.color), size: marker.size, angle: marker.angle,
          xOffset: marker.xOffset, yOffset: marker.yOffset, outline: marker.outline.map(outline)))
    case .simpleLine(let line):
      return .simpleLine(
        SimpleLineSymbol(style: .init(line.style), color: color(line.color), width: line.width))
    case .simpleFill(let fill):
      return .simpleFill(
        SimpleFillSymbol(
          style: .init(fill.style), color: color(fill.color), outline: fill.outline.map(outline)))
    case .text(let text): return .text(self.text(text))
    case .composite(let parts):
      guard depth < maxSymbolDepth else {
        throw SymbologyError(
          .form, at: ["symbols"], expected: "at most \(maxSymbolDepth) nested composites", found: "more")
      }
      return .composite(
        try each("symbols", parts) { (part) throws(SymbologyError) in try self.symbol(part, depth: depth + 1) })
    }
  }

  /// Converts a symbol; the paths of errors begin with the name of its member.
  static func symbol(_ symbol: SymbologyProtocol.Symbol, at member: String) throws(SymbologyError) -> Symbol {
    try within(member) { () throws(SymbologyError) in try self.symbol(symbol) }
  }

  private static func outline(_ outline: SymbologyProtocol.Outline) -> SimpleLineSymbol {
    SimpleLineSymbol(style: .init(outline.style), color: color(outline.color), width: outline.width)
  }

  private static func text(_ text: SymbologyProtocol.Symbol.Text) -> TextSymbol {
    var result = TextSymbol(text: text.text, color: color(text.color), size: text.size)
    result.angle = text.angle
    result.xOffset = text.xOffset
    result.yOffset = text.yOffset
    result.haloColor = text.haloColor.map(color)
    result.haloWidth = text.haloWidth
    result.fontFamily = Text(text.fontFamily)
    result.fontStyle = .init(text.fontStyle)
    result.fontWeight = .init(text.fontWeight)
    result.horizontalAlignment = .init(text.horizontalAlignment)
    result.verticalAlignment = .init(text.verticalAlignment)
    return result
  }

  /// Runs `body` and prefixes the path of its error with `segments`.
  package static func within<R>(
    _ segments: String..., body: () throws(SymbologyError) -> R
  ) throws(SymbologyError) -> R {
    do { return try body() } catch { throw error.under(segments) }
  }

  /// Converts the elements of a list; the paths of errors begin with its name and the element's index.
  static func each<Element, R>(
    _ list: String, _ elements: [Element], _ convert: (Element) throws(SymbologyError) -> R
  ) throws(SymbologyError) -> [R] {
    var results: [R] = []
    for (index, element) in elements.enumerated() {
      do { results.append(try convert(element)) } catch { throw error.under([list, String(index)]) }
    }
    return results
  }

  // MARK: To the wire

  package static func symbol(_ symbol: Symbol) -> SymbologyProtocol.Symbol {
    switch symbol {
    case .simpleMarker(let marker):
      .simpleMarker(
        .init(
          style: marker.style.wire, color: marker.color.text, size: marker.size, angle: marker.angle,
          xOffset: marker.xOffset, yOffset: marker.yOffset, outline: marker.outline.map(outline)))
    case .simpleLine(let line):
      .simpleLine(.init(style: line.style.wire, color: line.color.text, width: line.width))
    case .simpleFill(let fill):
      .simpleFill(.init(style: fill.style.wire, color: fill.color.text, outline: fill.outline.map(outline)))
    case .text(let text): self.text(text)
    case .composite(let parts): .composite(parts.map(self.symbol))
    }
  }

  private static func outline(_ outline: SimpleLineSymbol) -> SymbologyProtocol.Outline {
    .init(style: outline.style.wire, color: outline.color.text, width: outline.width)
  }

  package static func text(_ text: TextSymbol) -> SymbologyProtocol.Symbol {
    .text(
      .init(
        text: text.text.string, color: text.color.text, size: text.size, angle: text.angle, xOffset: text.xOffset,
        yOffset: text.yOffset, haloColor: text.haloColor?.text, haloWidth: text.haloWidth,
        fontFamily: text.fontFamily?.string,
        fontStyle: text.fontStyle.wire, fontWeight: text.fontWeight.wire,
        horizontalAlignment: text.horizontalAlignment.wire,
        verticalAlignment: text.verticalAlignment.wire))
  }

  // MARK: As JSON text, the stored form of a graphic's own symbol

  package static func symbolText(_ symbol: Symbol) -> String { self.symbol(symbol).jsonText }

  /// A symbol from its stored text; nil for invalid text.
  package static func storedSymbol(_ text: String) -> SymbologyProtocol.Symbol? {
    guard let document = try? JSONDocument(text) else { return nil }
    return try? document.read { (value) throws(JSONError) in try SymbologyProtocol.Symbol(from: value) }
  }
}
