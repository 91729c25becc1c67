// Overlays and their graphics: bulk edits, each all or nothing.

import Geometry
import Query

extension World {
  @discardableResult
  public mutating func createOverlay(
    id: OverlayID?, on view: ViewID, name: String?, reference: SpatialReference,
    portrayal: PortrayalUpdate = PortrayalUpdate(), selectionColor: Color? = nil,
    renderingMode: RenderingMode? = nil
  ) throws(ModelError) -> Overlay {
    try checkFree(id)
    _ = try views.require(view)
    let info = try describe(reference)
    let id = try claim(id, prefix: "overlay")
    var overlay = Overlay(id: id, view: view, reference: info.reference, name: Text(name))
    overlay.portrayal = overlay.portrayal.applying(portrayal, clear: [])
    overlay.selectionColor = selectionColor
    if let renderingMode { overlay.renderingMode = renderingMode }
    insert(overlay)
    changeKnown(view) { $0.overlays.append(id) }
    return try overlays.require(id)
  }

  public mutating func updateOverlay(
    _ id: OverlayID, _ update: AppearanceUpdate, _ portrayal: PortrayalUpdate = PortrayalUpdate(),
    selectionColor: Color? = nil, renderingMode: RenderingMode? = nil
  ) throws(ModelError) {
    try check(update.clear, allowed: ["name", "minScale", "maxScale", "selectionColor"] + Portrayal.clearable)
    try change(id) { (overlay) throws(ModelError) in
      overlay.appearance = try overlay.appearance.applying(update)
      overlay.portrayal = overlay.portrayal.applying(portrayal, clear: update.clear)
      if let name = update.name { overlay.name = Text(name) }
      if update.clear.contains("name") { overlay.name = nil }
      if let selectionColor { overlay.selectionColor = selectionColor }
      if update.clear.contains("selectionColor") { overlay.selectionColor = nil }
      if let renderingMode { overlay.renderingMode = renderingMode }
    }
  }

  public mutating func closeOverlay(_ id: OverlayID) throws(ModelError) {
    let view = try overlays.require(id).view
    remove(id)
    changeKnown(view) { $0.overlays.removeAll { $0 == id } }
  }

  /// Moves an overlay in the drawing order of its view.
  public mutating func moveOverlay(_ id: OverlayID, to index: Int) throws(ModelError) {
    let view = try overlays.require(id).view
    let count = try views.require(view).overlays.count
    guard index < count else { throw .indexOutOfRange(count: count) }
    changeKnown(view) {
      $0.overlays.removeAll { $0 == id }
      $0.overlays.insert(id, at: index)
    }
  }

  // MARK: Graphics

  /// Adds graphics on top, in the order of the batch.
  ///
  /// - Complexity: as `FeatureStore.append`, O(k log n).
  public mutating func addGraphics(_ batch: FeatureBatch, to id: OverlayID) throws(ModelError) -> AddedFeatures {
    try edit(id) { (store, undoRecord) throws(StoreFailure) in
      let added = try store.append(batch, recording: &undoRecord)
      guard added.count > 0 else { return (added, []) }
      let minted = added.firstID.map { $0..<$0 + added.count - added.named.count } ?? 0..<0
      return (added, [.added(added.named.isEmpty ? .run(minted) : .list(added.named + minted))])
    }
  }

  /// Changes graphics, each once; answers which differ from before, in the order of the edits.
  public mutating func updateGraphics(_ edits: [FeatureEdit], of id: OverlayID) throws(ModelError) -> [Int] {
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
      return (ids, [.updated(.list(ids))])
    }
  }

  /// Moves graphics to points, each once; answers how many stand elsewhere than before.
  public mutating func moveGraphics(
    _ ids: [Int], x: [Double], y: [Double], z: [Double]?, of id: OverlayID
  ) throws(ModelError) -> Int {
    try edit(id, selects: false) { (store, undoRecord) throws(StoreFailure) in
      try FeatureStore.requireOnce(ids)
      let moved = ids.indices.filter { index in
        guard let point = store.feature(id: ids[index])?.point else { return true }
        return point.x != x[index] || point.y != y[index] || z != nil
      }
      guard !moved.isEmpty else { return (0, []) }
      try store.move(ids, x: x, y: y, z: z, recording: &undoRecord)
      return (moved.count, [.updated(.list(moved.map { ids[$0] }))])
    }
  }

  /// Removes graphics; all of them when `ids` is nil.
  public mutating func removeGraphics(_ ids: [Int]?, from id: OverlayID) throws(ModelError) -> Int {
    try edit(id) { (store, undoRecord) throws(StoreFailure) in
      guard let ids else {
        var all: [Int] = []
        store.forEach {
          all.append($0.id)
          return true
        }
        store.removeAll(recording: &undoRecord)
        return (all.count, all.isEmpty ? [] : [.removed(.list(all))])
      }
      try store.remove(ids, recording: &undoRecord)
      return (ids.count, ids.isEmpty ? [] : [.removed(.list(ids))])
    }
  }

  /// Puts graphics in place of all there are; those whose id is in both stay selected, and count only where they differ.
  public mutating func replaceGraphics(_ batch: FeatureBatch, of id: OverlayID) throws(ModelError) -> ReplacedFeatures {
    try edit(id) { (store, undoRecord) throws(StoreFailure) in
      let replaced = try store.replace(with: batch, recording: &undoRecord)
      return (replaced, undoRecord == nil ? [] : GraphicsEdit.edits(of: replaced.changes))
    }
  }

  /// Changes the selection; answers how many are selected then.
  public mutating func selectGraphics(_ ids: [Int], _ mode: SelectionMode, of id: OverlayID) throws(ModelError) -> Int {
    try edit(id, isUndone: false) { (store, undoRecord) throws(StoreFailure) in
      let edits = try store.selecting(ids, mode)
      guard !edits.isEmpty else { return ((), []) }
      try store.update(edits, recording: &undoRecord)
      return ((), [.updated(.list(edits.map(\.id)))])
    }
    return overlays[id]?.selectedCount ?? 0
  }

  /// Takes an edit back, or does it again; without the overlay it does nothing.
  mutating func undoGraphics(_ undoRecord: StoreUndoRecord, of id: OverlayID) {
    _ = try? edit(id) { (store, inverse) throws(StoreFailure) in
      let (back, changes) = store.revert(undoRecord)
      inverse = back
      return ((), GraphicsEdit.edits(of: changes))
    }
  }

  /// One edit of an overlay's store, and the records that follow from it.
  ///
  /// - Parameters:
  ///   - isUndone: false for a selection, which undo leaves alone.
  ///   - selects: whether another number of graphics may be selected after it; counting them costs a look at each chunk.
  private mutating func edit<R>(
    _ id: OverlayID, isUndone: Bool = true, selects: Bool = true,
    _ body: (inout FeatureStore, inout StoreUndoRecord?) throws(StoreFailure) -> (R, [GraphicsEdit])
  ) throws(ModelError) -> R {
    var undoRecord: StoreUndoRecord?
    // Everything happens in place: a second reference to the store would make its first write a copy.
    var before: ContentsSummary?
    let outcome: (result: R, edits: [GraphicsEdit], properties: [Property], revision: Int)?
    do {
      outcome = try overlays.modify(id) { (overlay) throws(StoreFailure) in
        let outline = ContentsSummary(overlay)
        before = outline
        let (result, edits) = try body(&overlay.store, &undoRecord)
        guard !edits.isEmpty else { return (result, [], [], overlay.revision) }
        if selects { overlay.selectedCount = overlay.store.selectedCount }
        var properties: [Property] = []
        let now = ContentsSummary(overlay)
        if now.count != outline.count { properties.append(.graphicCount) }
        if now.selectedCount != outline.selectedCount { properties.append(.selectedCount) }
        if now.extent != outline.extent { properties.append(.extent) }
        return (result, edits, properties, overlay.revision)
      }
    } catch { throw ModelError(error) }
    guard let outcome else { throw .unknownID(.overlays, id.rawValue) }
    if let undoRecord { note(Edited(id: id, undoRecord: undoRecord, outline: before, isUndone: isUndone)) }
    guard !outcome.edits.isEmpty else { return outcome.result }
    for edit in outcome.edits { record(.graphics(id, edit)) }
    for property in outcome.properties { record(.changed(ObjectReference(.overlays, id.rawValue), property)) }
    // What it lies in was touched with it when it was touched last.
    if outcome.revision != revision { touch(id) }
    return outcome.result
  }
}

extension GraphicsEdit {
  static func edits(of changes: ChangedFeatures) -> [GraphicsEdit] {
    [.removed(.list(changes.removed)), .added(.list(changes.added)), .updated(.list(changes.updated))]
      .filter { $0.count > 0 }
  }
}

extension FeatureEdit {
  /// Whether it changes nothing but the selection.
  var isSelection: Bool {
    guard isSelected != nil, case .keep = geometry, case .keep = symbol else { return false }
    return attributes.isEmpty && !replacesAttributes && zIndex == nil && isVisible == nil
  }

  /// Whether it makes any difference to a feature.
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
  /// What a store refuses, item by item.
  public init(_ failure: StoreFailure) {
    if case .lengthMismatch(let expected, let found)? = failure.items.first?.error {
      self = .columnLengths(expected: expected, found: found, column: "")
      return
    }
    self = .items(
      failure.items.prefix(100).map { ItemError(index: $0.index ?? 0, failure: Failure($0.error)) },
      count: failure.items.count)
  }
}

extension Failure {
  init(_ error: StoreError) {
    switch error {
    case .idOutOfRange(let id):
      self.init(
        kind: "invalidParams", message: "\(id) is no id", path: "/id", expected: "integer in 0...99999999999999")
    case .idExists(let id): self.init(kind: "idExists", message: "there is a graphic \(id)", path: "/id")
    case .idRepeated(let id): self.init(kind: "idExists", message: "\(id) stands in the request twice", path: "/id")
    case .noSuchID(let id): self.init(kind: "unknownId", message: "there is no graphic \(id)", path: "/id")
    case .noIDsLeft: self.init(kind: "invalidParams", message: "there are no ids left to mint")
    case .tooManyRows: self.init(kind: "invalidParams", message: "an overlay takes no more graphics")
    case .tooManyColumns(let limit):
      self.init(kind: "invalidParams", message: "an overlay takes at most \(limit) different attribute names")
    case .textTooLarge(let column):
      self.init(kind: "invalidParams", message: "more than 4 GiB of text", path: "/attributes/\(column)")
    case .lengthMismatch(let expected, let found):
      self.init(kind: "columnLengths", message: "\(expected) rows, but \(found)")
    }
  }
}
