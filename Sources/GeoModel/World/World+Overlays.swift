// Overlays and their graphics. Each bulk edit succeeds or fails as a whole.

import FeatureStore
import Geometry

extension World {
  @discardableResult
  public mutating func createOverlay(
    id: OverlayID?, on view: ViewID, reference: SpatialReference, _ members: [MemberChange] = []
  ) throws(ModelError) -> Overlay {
    try checkFree(id)
    _ = try views.require(view)
    let info = try describe(reference)
    let id = try claim(id, prefix: "overlay")
    let members = try members.map { (member) throws(ModelError) in try placed(member, in: info.reference) }
    let overlay = try Overlay(id: id, view: view, reference: info.reference, isInDegrees: info.isInDegrees).setting(members)
    try overlay.check()
    defer { changeKnown(view) { $0.overlays.append(id) } }
    return insert(overlay)
  }

  public mutating func updateOverlay(_ id: OverlayID, _ changes: [MemberChange]) throws(ModelError) {
    let reference = try overlays.require(id).reference
    let changes = try changes.map { (change) throws(ModelError) in try placed(change, in: reference) }
    try update(id, changes) { (overlay, _, _) throws(ModelError) in try overlay.check() }
  }

  /// Moves an overlay to an index in the drawing order of its view.
  public mutating func moveOverlay(_ id: OverlayID, to index: Int) throws(ModelError) {
    let view = try overlays.require(id).view
    let count = try views.require(view).overlays.count
    guard index < count else { throw .indexOutOfRange(count: count) }
    changeKnown(view) {
      $0.overlays.remove(id)
      $0.overlays.insert(id, at: index)
    }
  }

  // MARK: Graphics

  /// Adds graphics on top, in the order of the batch.
  ///
  /// - Complexity: O(k log n), as `FeatureStore.append`.
  public mutating func addGraphics(_ batch: FeatureBatch, to id: OverlayID) throws(ModelError) -> AddedFeatures {
    try checkLatitudes(of: id, batch.rowsOutside)
    return try edit(id) { (store, undoRecord) throws(StoreFailure) in
      let added = try store.append(batch, recording: &undoRecord)
      guard added.count > 0 else { return (added, []) }
      let minted = added.firstID.map { $0..<$0 + added.count - added.named.count } ?? 0..<0
      let ids: GraphicIDs = added.named.isEmpty ? .run(minted) : .list(added.named + minted)
      return (added, [GraphicsEdit(kind: .added, ids: ids)])
    }
  }

  /// Changes graphics, each at most once.
  ///
  /// - Returns: the ids of the graphics that changed, in the order of the edits.
  public mutating func updateGraphics(_ edits: [FeatureEdit], of id: OverlayID) throws(ModelError) -> [Int] {
    try checkLatitudes(of: id) { range in
      edits.indices.filter { index in
        guard case .set(let geometry) = edits[index].geometry else { return false }
        return geometry.envelope.map { $0.yMin < range.lowerBound || $0.yMax > range.upperBound } ?? false
      }
    }
    let isUndone = edits.contains { !$0.isSelection }
    let selects = edits.contains { $0.isSelected != nil }
    return try edit(id, isUndone: isUndone, selects: selects) { (store, undoRecord) throws(StoreFailure) in
      try FeatureStore.requireOnce(edits.map(\.id))
      let effective = edits.filter { edit in
        store.feature(id: edit.id).map { edit.changes($0, store.schema) } ?? true
      }
      guard !effective.isEmpty else { return ([], []) }
      try store.update(effective, recording: &undoRecord)
      let ids = effective.map(\.id)
      return (ids, [GraphicsEdit(kind: .updated, ids: .list(ids))])
    }
  }

  /// Moves graphics to points, each at most once.
  ///
  /// - Returns: the number of graphics whose position changed.
  public mutating func moveGraphics(
    _ ids: [Int], x: [Double], y: [Double], z: [Double]?, of id: OverlayID
  ) throws(ModelError) -> Int {
    try checkLatitudes(of: id) { range in y.indices.filter { y[$0] < range.lowerBound || y[$0] > range.upperBound } }
    return try edit(id, selects: false) { (store, undoRecord) throws(StoreFailure) in
      try FeatureStore.requireOnce(ids)
      let moved = ids.indices.filter { index in
        guard let point = store.feature(id: ids[index])?.point else { return true }
        return point.x != x[index] || point.y != y[index] || z != nil
      }
      guard !moved.isEmpty else { return (0, []) }
      try store.move(ids, x: x, y: y, z: z, recording: &undoRecord)
      return (moved.count, [GraphicsEdit(kind: .updated, ids: .list(moved.map { ids[$0] }))])
    }
  }

  /// Removes graphics; all of them when `ids` is nil.
  ///
  /// - Returns: their number.
  public mutating func removeGraphics(_ ids: [Int]?, from id: OverlayID) throws(ModelError) -> Int {
    try edit(id) { (store, undoRecord) throws(StoreFailure) in
      guard let ids else {
        let all = store.ids
        store.removeAll(recording: &undoRecord)
        return (all.count, [GraphicsEdit(kind: .removed, ids: .list(all))])
      }
      try store.remove(ids, recording: &undoRecord)
      return (ids.count, [GraphicsEdit(kind: .removed, ids: .list(ids))])
    }
  }

  /// Replaces all graphics. Those whose id is in both sets stay selected, and count as updated only if they differ.
  public mutating func replaceGraphics(_ batch: FeatureBatch, of id: OverlayID) throws(ModelError) -> ReplacedFeatures {
    try checkLatitudes(of: id, batch.rowsOutside)
    return try edit(id) { (store, undoRecord) throws(StoreFailure) in
      let replaced = try store.replace(with: batch, recording: &undoRecord)
      return (replaced, undoRecord == nil ? [] : GraphicsEdit.edits(of: replaced.changes))
    }
  }

  /// Throws for graphics whose y is not a latitude in an overlay in degrees. This detects metres that were taken for degrees.
  ///
  /// - Parameter rowsOutside: the indexes of the graphics with y outside of a range.
  private func checkLatitudes(
    of id: OverlayID, _ rowsOutside: (ClosedRange<Double>) -> [Int]
  ) throws(ModelError) {
    guard overlays[id]?.isInDegrees == true else { return }
    // A transformation may put a pole slightly beyond 90 degrees by rounding.
    let rows = rowsOutside(-90 - 1e-9...90 + 1e-9)
    guard !rows.isEmpty else { return }
    throw .items(rows.prefix(100).map { ItemError(index: $0, .latitude) }, count: rows.count)
  }

  /// Applies the undo record of an edit, as undo and redo do. Does nothing if there is no such overlay.
  mutating func undoGraphics(_ undoRecord: StoreUndoRecord, of id: OverlayID) {
    _ = try? edit(id) { (store, inverse) throws(StoreFailure) in
      let (back, changes) = store.revert(undoRecord)
      inverse = back
      return ((), GraphicsEdit.edits(of: changes))
    }
  }

  /// Makes one edit of an overlay's store, with its undo record and change records.
  ///
  /// - Parameters:
  ///   - isUndone: false for a selection, which undo leaves alone.
  ///   - selects: whether the number of selected graphics may change; counting them reads each chunk.
  mutating func edit<R>(
    _ id: OverlayID, isUndone: Bool = true, selects: Bool = true,
    _ body: (inout FeatureStore, inout StoreUndoRecord?) throws(StoreFailure) -> (R, [GraphicsEdit])
  ) throws(ModelError) -> R {
    var undoRecord: StoreUndoRecord?
    let (isLive, history) = (isLive, isLive ? history : History())
    // The store is edited in place: with a second reference to it, the first write would copy it.
    let outcome: (result: R, edits: [GraphicsEdit], before: ContentsSummary, now: ContentsSummary, revision: Int)?
    do {
      outcome = try overlays.modify(id) { (overlay) throws(StoreFailure) in
        let before = ContentsSummary(overlay)
        if isLive { overlay.store.beginLiveEdit(adding: history.undoneAttributes(of: id)) }
        var (result, edits) = try body(&overlay.store, &undoRecord)
        edits.removeAll { $0.ids.count == 0 }
        if selects, !edits.isEmpty { overlay.selectedCount = overlay.store.selectedCount }
        return (result, edits, before, ContentsSummary(overlay), overlay.revision)
      }
    } catch { throw ModelError(error) }
    guard let (result, edits, before, now, earlier) = outcome else { throw .unknownID(.overlays, id.rawValue) }
    if let undoRecord { recordUndo(Edited(id: id, undoRecord: undoRecord, summary: before, isUndone: isUndone)) }
    guard !edits.isEmpty else { return result }
    for edit in edits { record(.graphics(id, edit)) }
    for property in now.changes(since: before) { record(.changed(ObjectReference(.overlays, id.rawValue), property)) }
    // An overlay with the current revision has already been touched, and so have its ancestors.
    if earlier != revision { touch(id) }
    return result
  }
}

extension GraphicsEdit {
  static func edits(of changes: ChangedFeatures) -> [GraphicsEdit] {
    [
      GraphicsEdit(kind: .removed, ids: .list(changes.removed)), GraphicsEdit(kind: .added, ids: .list(changes.added)),
      GraphicsEdit(kind: .updated, ids: .list(changes.updated)),
    ]
  }
}

extension FeatureEdit {
  /// Whether the edit changes nothing but the selection.
  var isSelection: Bool {
    guard isSelected != nil, case .keep = geometry, case .keep = symbol else { return false }
    return attributes.isEmpty && !replacesAttributes && zIndex == nil && isVisible == nil
  }

  /// Whether the edit changes a feature.
  func changes(_ row: FeatureRow, _ schema: FeatureSchema) -> Bool {
    switch geometry {
    case .keep: break
    case .set(let new): if row.geometry != new { return true }
    case .clear: if row.geometry != nil { return true }
    }
    switch symbol {
    case .keep: break
    case .set(let new): if Text(new) != Text(row.symbol) { return true }
    case .clear: if row.symbol != nil { return true }
    }
    if replacesAttributes { return true }
    for (name, value) in attributes {
      let old = schema.column(named: name).map(row.value) ?? .null
      if old != value { return true }
    }
    return zIndex.map { $0 != row.zIndex } ?? false || isVisible.map { $0 != row.isVisible } ?? false
      || isSelected.map { $0 != row.isSelected } ?? false
  }
}

extension ModelError {
  /// Converts a failure of a store, item by item.
  public init(_ failure: StoreFailure) {
    if case .lengthMismatch(let expected, let found)? = failure.items.first?.error {
      self = .columnLengths(expected: expected, found: found, column: "")
      return
    }
    self = .items(
      failure.items.prefix(100).map { ItemError(index: $0.index ?? 0, .store($0.error)) },
      count: failure.items.count)
  }
}

extension Overlay {
  fileprivate func check() throws(ModelError) {
    try appearance.checkScaleRange()
    do throws(SymbologyError) { try portrayal.featureReduction?.check(for: nil) } catch {
      throw .symbology(error.under("featureReduction"))
    }
  }
}
