// Changes of selections, for graphics and features.

import Query

/// How given ids change a selection.
public enum SelectionMode: String, Hashable, Sendable {
  case replace, add, remove

  /// The given ids that are to be selected or deselected, and those selected before that are to be deselected.
  func changes(of selected: Set<Int>, by ids: Set<Int>) -> Set<Int> {
    switch self {
    case .add: ids.subtracting(selected)
    case .remove: ids.intersection(selected)
    case .replace: ids.symmetricDifference(selected)
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
