// How large texts are with the fonts with which they are drawn, each measured once.

import GeoModel
import Geometry
import Pictures
import Synchronization

/// What is known of a text whatever its colours.
private struct TextKey: Hashable {
  let text: Text
  let font: Font
  let anchor: Anchor

  init(_ symbol: TextSymbol) {
    var font = symbol.font
    (font.color, font.haloColor, font.haloWidth) = (0, 0, 0)
    (text, self.font, anchor) = (symbol.text, font, Anchor(symbol.anchor.horizontal, .top))
  }
}

/// Sizes that were measured. They depend on the machine's fonts alone, so they hold as long as the process.
package final class TextMemory: Sendable {
  private static let limit = 1 << 16
  private let sizes = Mutex<[TextKey: TextSize]>([:])

  package init() {}

  fileprivate func known(_ keys: some Sequence<TextKey>) -> [TextKey: TextSize] {
    sizes.withLock { sizes in
      var known: [TextKey: TextSize] = [:]
      for key in keys { known[key] = sizes[key] }
      return known
    }
  }

  fileprivate func keep(_ measured: [TextKey: TextSize]) {
    sizes.withLock { sizes in
      if sizes.count + measured.count > Self.limit { sizes = [:] }
      if measured.count <= Self.limit { sizes.merge(measured) { $1 } }
    }
  }
}

/// The sizes of the texts of one piece of work.
package struct TextMeter {
  package typealias Measure = (PictureWriter) throws -> [TextSize]

  private let memory: TextMemory?
  private let measure: Measure
  private var sizes: [TextKey: TextSize] = [:]

  /// - Parameter measure: the sizes of the texts of a list, in order.
  package init(_ memory: TextMemory? = nil, measuredBy measure: @escaping Measure) {
    (self.memory, self.measure) = (memory, measure)
  }

  /// Measures texts, all in one go.
  mutating func learn(_ symbols: some Sequence<TextSymbol>) throws {
    var unknown: Set<TextKey> = []
    var keys: [TextKey] = []
    for symbol in symbols {
      let key = TextKey(symbol)
      if sizes[key] == nil, unknown.insert(key).inserted { keys.append(key) }
    }
    guard !keys.isEmpty else { return }
    let known = memory?.known(keys) ?? [:]
    sizes.merge(known) { $1 }
    keys.removeAll { known[$0] != nil }
    guard !keys.isEmpty else { return }
    var writer = PictureWriter()
    for key in keys {
      writer.set(key.font)
      writer.text(key.text.string, at: .zero, key.anchor)
    }
    let measured = Dictionary(zip(keys, try measure(writer))) { $1 }
    sizes.merge(measured) { $1 }
    memory?.keep(measured)
  }

  /// The size of a text that was measured; zero for others.
  subscript(symbol: TextSymbol) -> TextSize { sizes[TextKey(symbol)] ?? TextSize(width: 0, height: 0, ascent: 0) }
}

extension Symbol {
  /// The texts that it draws.
  var texts: [TextSymbol] {
    switch self {
    case .text(let text): [text]
    case .composite(let parts): parts.flatMap(\.texts)
    case .simpleMarker, .simpleLine, .simpleFill: []
    }
  }
}
