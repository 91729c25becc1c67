// Random edits of every kind that can be reverted.

import Geometry

@testable import FeatureStore

extension RandomEdits {
  /// A random edit, and the same in the oracle; nil if it changes nothing.
  ///
  /// - Parameter selecting: whether it may be a selection.
  mutating func apply(
    to store: inout FeatureStore, _ oracle: inout PlainStore, selecting: Bool
  ) throws -> StoreUndoRecord? {
    var undoRecord: StoreUndoRecord?
    switch random.below(selecting ? 11 : 10) {
    case 0, 1, 2:
      let size = random.chance(0.25) ? random.below(2500) : random.below(60)
      _ = try store.append(batch(size, for: &oracle), recording: &undoRecord)
    case 3, 4:
      let share = random.chance(0.5) ? 0.3 : 0.01
      var changes: [FeatureEdit] = []
      for index in oracle.features.indices where random.chance(share) {
        changes.append(edit(&oracle.features[index]))
        if random.chance(0.1) { changes.append(edit(&oracle.features[index])) }
      }
      try store.update(changes, recording: &undoRecord)
    case 5:
      var ids: [Int] = []
      for index in oracle.features.indices where random.chance(0.1) {
        ids.append(oracle.features[index].id)
        let (x, y) = position()
        oracle.features[index].geometry = .point(Point(x: x, y: y))
      }
      if random.chance(0.5) { ids.shuffle(using: &random) }
      let points = ids.compactMap { oracle.index(of: $0).flatMap { oracle.features[$0].box } }
      try store.move(ids, x: points.map(\.xMin), y: points.map(\.yMin), recording: &undoRecord)
    case 6, 7, 8:
      var gone: Set<Int>
      if random.chance(0.5) {
        // Consecutive features, so that chunks are removed whole.
        let ends = [random.below(oracle.features.count + 1), random.below(oracle.features.count + 1)].sorted()
        gone = Set(oracle.features[ends[0]..<ends[1]].map(\.id))
      } else {
        gone = Set(oracle.features.lazy.map(\.id))
        let share = random.unit()
        gone = gone.filter { _ in random.chance(share) }
      }
      let ids = oracle.features.map(\.id).filter(gone.contains)
      try store.remove(random.chance(0.5) ? ids : ids.shuffled(using: &random), recording: &undoRecord)
      oracle.features.removeAll { gone.contains($0.id) }
    case 9:
      if random.chance(0.3) {
        store.removeAll(recording: &undoRecord)
        oracle.features = []
      } else {
        undoRecord = try replace(&store, &oracle)
      }
    default:
      let ids = oracle.features.filter { _ in random.chance(0.2) }.map(\.id)
      let isSelected = random.chance(0.6)
      try store.setSelected(isSelected, ids: ids, recording: &undoRecord)
      for id in ids { if let index = oracle.index(of: id) { oracle.features[index].isSelected = isSelected } }
    }
    return undoRecord
  }

  private mutating func replace(_ store: inout FeatureStore, _ oracle: inout PlainStore) throws -> StoreUndoRecord? {
    var features = oracle.features.filter { _ in random.chance(0.7) }
    for index in features.indices where random.chance(0.2) { _ = edit(&features[index]) }
    if random.chance(0.5) { features.shuffle(using: &random) }
    let selected = Set(oracle.features.lazy.filter(\.isSelected).map(\.id))
    for index in features.indices { features[index].isSelected = false }
    if random.chance(0.5) { features.append(PlainFeature(id: oracle.nextID + 7, geometry: geometry())) }
    var undoRecord: StoreUndoRecord?
    _ = try store.replace(with: Self.batch(of: features), recording: &undoRecord)
    for index in features.indices { features[index].isSelected = selected.contains(features[index].id) }
    oracle.features = features
    oracle.nextID = max(oracle.nextID, (features.map(\.id).max() ?? -1) + 1)
    return undoRecord
  }

  static func batch(of features: [PlainFeature]) -> FeatureBatch {
    var batch = FeatureBatch()
    for feature in features {
      batch.begin(id: feature.id)
      batch.setGeometry(feature.geometry)
      for (name, value) in feature.attributes { batch.set(column: batch.column(named: name), value) }
      if feature.zIndex != 0 { batch.setZIndex(feature.zIndex) }
      if !feature.isVisible { batch.setHidden() }
      if feature.isSelected { batch.setSelected() }
      if var symbol = feature.symbol { symbol.withUTF8 { batch.setSymbol(utf8: UnsafeRawBufferPointer($0)) } }
    }
    return batch
  }
}
