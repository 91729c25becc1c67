// Changes of selections, for graphics and features.

import Query

/// How given ids change a selection.
public enum SelectionMode: String, Hashable, Sendable {
  case new, add, subtract

  /// The given ids that are to be selected or deselected, and those selected before that are to be deselected.
  func changes(of selected: Set<Int>, by ids: Set<Int>) -> Set<Int> {
    switch self {
    case .add: ids.subtracting(selected)
    case .subtract: ids.intersection(selected)
    case .new: ids.symmetricDifference(selected)
    }
  }
}

extension FeatureStore {
  /// The edits that change the selection; features already in the wanted state have none.
  ///
  /// - Throws: ``StoreFailure`` with each id that does not exist.
  func selecting(_ ids: [Int], _ mode: SelectionMode) throws(StoreFailure) -> [FeatureEdit] {
    let unknown = ids.enumerated().filter { !contains(id: $0.element) }
    guard unknown.isEmpty else {
      throw StoreFailure(unknown.map { .init(index: $0.offset, error: .noSuchID($0.element)) })
    }
    let selected = Set(selectedIDs)
    return mode.changes(of: selected, by: Set(ids)).sorted().map { id in
      var edit = FeatureEdit(id: id)
      edit.isSelected = !selected.contains(id)
      return edit
    }
  }
}

extension World {
  /// Changes the selection of a layer or an overlay by what there still is of `ids`, which an earlier state of it had.
  ///
  /// - Returns: those ids, and the number of selected features; nil if the object is gone or no longer loaded.
  public mutating func select(
    existing ids: [Int], _ mode: SelectionMode, of object: ObjectReference
  ) throws(ModelError) -> (ids: [Int], count: Int)? {
    if object.collection == .overlays {
      guard let ids = overlays[OverlayID(object.id)].map({ ids.filter($0.store.contains(id:)) }) else { return nil }
      return (ids, try selectGraphics(ids, mode, of: OverlayID(object.id)))
    }
    guard let ids = layers[LayerID(object.id)]?.store.map({ ids.filter($0.contains(id:)) }) else { return nil }
    return (ids, try selectFeatures(ids, mode, of: LayerID(object.id)))
  }
}
