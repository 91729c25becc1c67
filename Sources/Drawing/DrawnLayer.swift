// A layer or an overlay of a view snapshot, and its items.

import GeoModel
import GeoProtocol
import Geometry
import Query
import TextFormatting
import WireCoding

/// A layer or an overlay that a view draws.
package struct DrawnLayer: Sendable {
  /// The part of the view that a layer belongs to, bottom first.
  package enum Stratum: Hashable, Sendable { case base, operational, reference, overlay }

  package let object: ObjectReference
  /// Empty for an overlay without a name.
  package let name: String
  package let stratum: Stratum
  /// 0 clear, 1 solid; the opacities of groups around it multiplied in.
  package let opacity: Double
  /// The reference of the items' geometries.
  package let reference: SpatialReference
  let symbolScale: Double
  let selectionColor: Color?
  package let store: FeatureStore
  /// The filters; nil for an overlay.
  package let features: LayerFeatures?
  let symbols: BoundSymbols
  let labels: BoundLabels
  package let portrayal: Portrayal
  /// For formatting.
  let conventions: TextConventions

  /// Calls `body` with each item, first drawn first: those that match the filters and have a geometry, by zIndex, then by insertion.
  ///
  /// - Complexity: O(features), O(n log n) where any has a zIndex.
  package func forEachItem(_ body: (DrawnItem) throws -> Void) rethrows {
    let rows = store.rowsInDrawingOrder()
    for row in features?.shown(rows) ?? rows {
      if let row = store[row], let item = item(of: row) { try body(item) }
    }
  }

  /// The popups of rows; none where popups are disabled.
  package func popups(of rows: [FeatureRow]) -> [SymbologyProtocol.Popup] {
    Portraying.popups(rows, portrayal, store.schema, name: name, by: conventions)
  }

  /// A row's item; nil where nothing is drawn of it.
  private func item(of row: FeatureRow) -> DrawnItem? {
    guard row.isVisible, let geometry = row.geometry else { return nil }
    let symbol = symbols.symbol(of: row)?.evaluated(scale: symbolScale)
    let labels = labels.labels(of: row).map { $0.scaled(by: symbolScale) }
    guard symbol != nil || !labels.isEmpty else { return nil }
    return DrawnItem(
      id: row.id, geometry: geometry, symbol: symbol, labels: labels,
      selectionColor: row.isSelected ? selectionColor : nil)
  }
}

/// A feature or graphic that is drawn.
package struct DrawnItem: Sendable {
  package let id: Int
  /// In its layer's reference.
  package let geometry: Geometry
  /// As large as it is drawn; nil where only labels are.
  package let symbol: Symbol?
  /// As large as they are drawn.
  package let labels: [Label]
  /// Nil where the item is not selected.
  package let selectionColor: Color?
}

extension DrawnSymbol {
  /// The symbol as large as it is drawn; nil where a symbol of its own cannot be read.
  ///
  /// - Parameter scale: by how much it grows.
  func evaluated(scale: Double) -> Symbol? {
    switch self {
    case .made(let symbol): symbol.scaled(by: scale)
    case .own(let text): Wire.storedSymbol(text.string).flatMap { try? Wire.symbol($0) }?.scaled(by: scale)
    }
  }
}
