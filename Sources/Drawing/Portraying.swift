// Symbols, labels and popups of features, for layers and overlays alike.

import FeatureStore
import GeoModel
import GeoProtocol
import TextFormatting
import WireCoding

package enum Portraying {
  /// The rows of ids, in order; throws one error that names all unknown ids.
  package static func rows(_ ids: [Int], of store: FeatureStore, _ noun: String) throws -> [FeatureRow] {
    var rows: [FeatureRow] = []
    var missing: [ItemError] = []
    for (index, id) in ids.enumerated() {
      if let row = store.feature(id: id) {
        rows.append(row)
      } else {
        let failure = Failure(.unknownId, "There is no \(noun) \(id).", expected: "the id of a \(noun)")
        missing.append(ItemError(index: index, .failure(failure)))
      }
    }
    guard missing.isEmpty else { throw ModelError.items(Array(missing.prefix(100)), count: missing.count) }
    return rows
  }

  /// - Parameters:
  ///   - scale: factor by which symbols are enlarged.
  ///   - selection: the colour of selected features.
  package static func symbols(
    _ rows: [FeatureRow], _ bound: BoundSymbols, scale: Double, selection: Color?
  ) -> [SymbologyProtocol.FeatureSymbol] {
    rows.map { row in
      let selected = row.isSelected ? selection?.text : nil
      switch bound.symbol(of: row) {
      // The text is returned as given, without default members.
      case .own(let text)? where scale == 1:
        return .init(id: row.id, symbol: Wire.storedSymbol(text.string), selectionColor: selected)
      case let drawn?:
        return .init(id: row.id, symbol: drawn.evaluated(scale: scale).map(Wire.symbol), selectionColor: selected)
      case nil: return .init(id: row.id)
      }
    }
  }

  /// - Parameter scale: factor by which texts are enlarged.
  package static func labels(_ rows: [FeatureRow], _ bound: BoundLabels, scale: Double) -> [SymbologyProtocol.Label] {
    rows.flatMap { row in bound.labels(of: row).map { Wire.label($0, of: row.id, scale: scale) } }
  }

  package static func popups(
    _ rows: [FeatureRow], _ portrayal: Portrayal, _ schema: FeatureSchema, name: String,
    by conventions: TextConventions
  ) -> [SymbologyProtocol.Popup] {
    rows.compactMap { row in
      portrayal.popup(of: row, schema: schema, name: name, by: conventions).map { Wire.popup($0, of: row.id) }
    }
  }

  /// The legend of a renderer, with the number of rows for each entry if rows are given.
  ///
  /// - Parameter scale: factor by which symbols are enlarged.
  package static func legend(
    _ renderer: Renderer, _ store: FeatureStore?, _ layer: LayerFeatures?, scale: Double,
    by conventions: TextConventions, isCancelled: () -> Bool
  ) throws -> [SymbologyProtocol.LegendEntry] {
    let counts = try store.map { store in
      let bound = BoundRenderer(renderer, schema: store.schema)
      var counts = [Int](repeating: 0, count: bound.entries.count)
      try visit(store, layer, isCancelled) { row in
        if row.symbol == nil, let index = bound.index(of: row) { counts[index] += 1 }
      }
      return counts
    }
    return renderer.legend(by: conventions).enumerated().map { index, entry in
      Wire.legend(entry, scale: scale, count: counts?[index])
    }
  }

  /// The legend of a layer without a renderer: one entry for each kind of shape.
  ///
  /// - Parameter scale: factor by which symbols are enlarged.
  package static func plainLegend(
    name: String, kind: ShapeKind?, counts: Bool, _ store: FeatureStore?, _ layer: LayerFeatures?, scale: Double,
    isCancelled: () -> Bool
  ) throws -> [SymbologyProtocol.LegendEntry] {
    var found: [ShapeKind: Int] = [:]
    if let store, counts || kind == nil {
      try visit(store, layer, isCancelled) { row in if let kind = ShapeKind(row) { found[kind, default: 0] += 1 } }
    }
    if let kind, found[kind] == nil { found[kind] = 0 }
    return [ShapeKind.point, .line, .area].compactMap { kind in
      found[kind].map { count in
        let symbol = Symbol.standard(for: kind).scaled(by: scale)
        return .init(label: name, symbol: Wire.symbol(symbol), count: counts ? count : nil)
      }
    }
  }

  /// Maximum number of entries of a legend by features.
  private static let styledLines = 100

  /// The legend of a layer whose features have their own styles: one entry for each distinct symbol.
  package static func styledLegend(
    name: String, counts: Bool, _ store: FeatureStore, _ symbols: BoundSymbols, _ layer: LayerFeatures,
    scale: Double, isCancelled: () -> Bool
  ) throws -> [SymbologyProtocol.LegendEntry] {
    var lines: [(symbol: Symbol, kind: ShapeKind, count: Int)] = []
    var indexes: [Symbol: Int] = [:]
    try visit(store, layer, isCancelled) { row in
      guard let kind = ShapeKind(row), case .made(let symbol)? = symbols.symbol(of: row) else { return }
      if let index = indexes[symbol] {
        lines[index].count += 1
      } else if lines.count < styledLines {
        indexes[symbol] = lines.count
        lines.append((symbol, kind, 1))
      }
    }
    return [ShapeKind.point, .line, .area].flatMap { kind in
      lines.filter { $0.kind == kind }.map {
        .init(label: name, symbol: Wire.symbol($0.symbol.scaled(by: scale)), count: counts ? $0.count : nil)
      }
    }
  }

  /// Calls `body` with every row that passes the layer's filters (all rows without a layer), and checks for cancellation.
  private static func visit(
    _ store: FeatureStore, _ layer: LayerFeatures?, _ isCancelled: () -> Bool, _ body: (FeatureRow) -> Void
  ) throws {
    var visited = 0
    if let layer, !layer.isUnfiltered {
      let rows = store.rowsInDrawingOrder()
      for start in stride(from: 0, to: rows.count, by: 1024) {
        if isCancelled() { throw CancellationError() }
        for row in layer.shown(Array(rows[start..<min(start + 1024, rows.count)])) {
          if let feature = store[row] { body(feature) }
        }
      }
      return
    }
    store.forEach { row in
      body(row)
      visited += 1
      return !(visited.isMultiple(of: 1024) && isCancelled())
    }
    if isCancelled() { throw CancellationError() }
  }
}
