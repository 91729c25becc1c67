// Objects with many members, which are written a few members at a time.

import FeatureStore
import GeoModel
import JSON
import WireCoding

/// The members of an object, in units of one or a few. They share storage with the model.
package struct StateItems {
  package typealias Visit = (_ name: String, _ write: (inout JSONWriter) -> Void) -> Void

  /// The number of units.
  package let count: Int
  private let visit: (Int, Visit) -> Void

  init(_ store: FeatureStore) {
    let rows = store.rowsAscending { _ in }
    count = rows.count
    visit = { index, body in
      guard let feature = store[rows[index]] else { return }
      body(String(feature.id)) { FeatureWriter.writeGraphic(feature, store.schema, to: &$0) }
    }
  }

  /// A unit is a top-level layer with its subtree.
  init(_ states: ViewLayerStates) {
    count = states.topLayers.count
    visit = { index, body in
      for (layer, state) in states.states(of: index..<index + 1) {
        body(layer.rawValue) { MemberValue.write(state, to: &$0) }
      }
    }
  }

  /// Passes the members of a unit to `body`.
  package func forEachMember(of unit: Int, _ body: Visit) { visit(unit, body) }
}
