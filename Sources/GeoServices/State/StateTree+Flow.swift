// View models in the tree: their members are the properties that clients define.

import GeoModel

extension StateTree {
  /// One property, without a look at the others.
  static func member(_ name: String, of model: ViewModel) -> StateNode? {
    model.value(of: name).map { StateNode($0.memberValue, .whole) }
  }
}
