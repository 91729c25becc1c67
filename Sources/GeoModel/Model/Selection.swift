// Changes of selections, for graphics and features.

import Query

/// How given ids change a selection.
public enum SelectionMode: Hashable, Sendable { case replace, add, remove }

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
    let wanted = Set(ids)
    let (on, off): (Set<Int>, Set<Int>) =
      switch mode {
      case .add: (wanted.subtracting(selected), [])
      case .remove: ([], wanted.intersection(selected))
      case .replace: (wanted.subtracting(selected), selected.subtracting(wanted))
      }
    return on.union(off).sorted().map { id in
      var edit = FeatureEdit(id: id)
      edit.isSelected = on.contains(id)
      return edit
    }
  }
}
