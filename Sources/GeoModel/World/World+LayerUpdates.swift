// What layers are changed in: appearance, time, how a group shows what is in it, and which features are selected.

import Query

/// Changes to a layer; nil leaves alone.
public struct LayerUpdate: Sendable {
  public var appearance: AppearanceUpdate
  /// Not of groups.
  public var portrayal: PortrayalUpdate?
  /// Of groups alone.
  public var visibilityMode: GroupVisibilityMode?
  /// Of layers with features alone, as are those that follow.
  public var definitionExpression: String?
  public var time: LayerTime?
  public var isTimeFilterEnabled: Bool?

  public init(
    _ appearance: AppearanceUpdate, portrayal: PortrayalUpdate? = nil, visibilityMode: GroupVisibilityMode? = nil,
    definitionExpression: String? = nil,
    time: LayerTime? = nil, isTimeFilterEnabled: Bool? = nil
  ) {
    self.appearance = appearance
    self.portrayal = portrayal
    self.visibilityMode = visibilityMode
    self.definitionExpression = definitionExpression
    self.time = time
    self.isTimeFilterEnabled = isTimeFilterEnabled
  }
}

extension World {
  /// Changes a layer. One that is made visible in an exclusive group hides the others there.
  ///
  /// - Throws: also what could never show anything of the layer's fields.
  public mutating func updateLayer(_ id: LayerID, _ update: LayerUpdate) throws(ModelError) {
    let layer = try layers.require(id)
    try apply(update, to: layer) { () throws(ModelError) in
      // A layer's fields are known before its features are.
      let declared = FeatureStore(fields: layer.schema?.fields ?? []).schema
      try Self.check(update.portrayal, over: declared)
      let expression = try Self.condition(update.definitionExpression, over: layer.store?.schema ?? declared)
      if let time = update.time { try layer.features?.check(time, at: "/params/time") }
      return expression
    }
    if update.appearance.isVisible == true { hideOthers(around: layer) }
  }

  /// Changes a layer as its document says, whatever its fields have become since: ``fault(of:)`` tells. Layers of an exclusive group
  /// that were visible side by side are so again: the last one shows.
  public mutating func restoreLayer(_ id: LayerID, _ update: LayerUpdate) throws(ModelError) {
    try apply(update, to: try layers.require(id)) { () throws(ModelError) in
      guard let text = update.definitionExpression else { return nil }
      return try Expression.condition(text, at: Self.definitionPath)
    }
  }

  /// What of a layer asks for fields that its features do not have; nil for nothing.
  public func fault(of layer: Layer) -> ModelError? {
    guard let features = layer.features else { return nil }
    let portrayal = layer.portrayal
    do {
      let schema = FeatureStore(fields: features.schema.fields).schema
      _ = try Self.condition(features.definitionExpression?.text, over: schema)
      let update = PortrayalUpdate(renderer: portrayal.renderer, labels: portrayal.labels, popup: portrayal.popup)
      try Self.check(update, over: schema)
      if let time = features.time { try features.check(time, at: "/params/time") }
      return nil
    } catch { return error }
  }

  /// - Parameter readExpression: gives the definition expression, and checks whatever asks for fields.
  private mutating func apply(
    _ update: LayerUpdate, to layer: Layer, readExpression: () throws(ModelError) -> Expression?
  ) throws(ModelError) {
    let id = layer.id
    try check(
      update.appearance.clear,
      allowed: ["minScale", "maxScale"]
        + (layer.kind == .group ? [] : ["definitionExpression", "time"] + Portrayal.clearable))
    if update.visibilityMode != nil, layer.kind != .group {
      throw .wrongKind(id.rawValue, layer.kind, expected: [.group])
    }
    if update.time != nil || update.isTimeFilterEnabled != nil || update.definitionExpression != nil
      || update.portrayal != nil
    {
      _ = try layer.requireFeatures()
    }
    let expression = try readExpression()
    let old = layer.features
    try change(id) { (layer) throws(ModelError) in
      layer.appearance = try layer.appearance.applying(update.appearance)
      layer.portrayal = layer.portrayal.applying(update.portrayal ?? PortrayalUpdate(), clear: update.appearance.clear)
      if let name = update.appearance.name { layer.name = name }
      if let mode = update.visibilityMode { layer.grouping?.visibilityMode = mode }
      if update.appearance.clear.contains("definitionExpression") { layer.features?.definitionExpression = nil }
      if let expression { layer.features?.definitionExpression = expression }
      if update.appearance.clear.contains("time") { layer.features?.time = nil }
      if let time = update.time { layer.features?.time = time }
      if let isEnabled = update.isTimeFilterEnabled { layer.features?.isTimeFilterEnabled = isEnabled }
      if let old, layer.features?.filtersDiffer(from: old) == true { layer.features?.countSelected() }
    }
  }

  private mutating func hideOthers(around layer: Layer) {
    guard let grouping = layer.group.flatMap({ layers[$0]?.grouping }), grouping.visibilityMode == .exclusive else {
      return
    }
    for other in grouping.layers where other != layer.id && layers[other]?.appearance.isVisible == true {
      changeKnown(other) { $0.appearance.isVisible = false }
    }
  }

  private static let definitionPath = "/params/definitionExpression"

  /// An expression over a layer's fields that can be true of a feature.
  private static func condition(_ text: String?, over schema: FeatureSchema) throws(ModelError) -> Expression? {
    guard let text else { return nil }
    return try Expression.condition(text, over: schema, at: definitionPath).0
  }

  private static func check(_ portrayal: PortrayalUpdate?, over schema: FeatureSchema) throws(ModelError) {
    do throws(SymbologyError) { try portrayal?.check(for: schema) } catch { throw .symbology(error) }
  }

  // MARK: Selection

  /// Changes the selection of a loaded layer; answers how many of the features that count are selected then. Features that do not
  /// count are not selected. Undo leaves selections alone.
  public mutating func selectFeatures(
    _ ids: [Int], _ mode: SelectionMode, of id: LayerID
  ) throws(ModelError) -> Int {
    let old = try layers.require(id).requireFeatures()
    guard let store = old.store else { throw .notLoaded(id.rawValue) }
    let before = store.selectedIDs
    let selected = Set(before)
    // What was selected before a filter hid it can still be let go.
    let wanted = mode == .remove ? Set(ids) : old.shown(ids)
    var changed: Set<Int>
    switch mode {
    case .add: changed = wanted.subtracting(selected)
    case .remove: changed = wanted.intersection(selected)
    case .replace: changed = wanted.symmetricDifference(selected)
    }
    let unknown = ids.enumerated().filter { !store.contains(id: $0.element) }
    guard unknown.isEmpty else {
      throw .items(
        unknown.prefix(100).map { item in
          ItemError(
            index: item.offset,
            failure: Failure(kind: "unknownId", message: "there is no feature \(item.element)", path: nil))
        }, count: unknown.count)
    }
    guard !changed.isEmpty else { return old.selectedCount }
    note(Selected(id: id, ids: before))
    do {
      try layers.modify(id) { (layer) throws(StoreFailure) in
        try layer.features?.store?.setSelected(false, ids: changed.intersection(selected).sorted())
        try layer.features?.store?.setSelected(true, ids: changed.subtracting(selected).sorted())
        layer.features?.countSelected()
      }
    } catch { throw ModelError(error) }
    // Others may be selected though they are as many as before.
    record(.changed(ObjectReference(.layers, id.rawValue), .selectedCount))
    touch(id)
    return layers[id]?.features?.selectedCount ?? 0
  }
}

/// The selection of a layer was another.
struct Selected: UndoRecord {
  let id: LayerID
  let ids: [Int]
  var byteCount: Int { 64 + ids.count * 8 }
  var object: ObjectReference { ObjectReference(.layers, id.rawValue) }
  var kind: UndoRecordKind { .contents }

  func isUndoable(in world: World) -> Bool { false }
  func rollBack(_ world: inout World) {
    _ = world.layers.modify(id) { layer in
      let now = layer.store?.selectedIDs ?? []
      // Both are ids of features that are there.
      try? layer.features?.store?.setSelected(false, ids: now)
      try? layer.features?.store?.setSelected(true, ids: ids)
      layer.features?.countSelected()
    }
  }
  func undo(_ world: inout World) {}
}

extension Appearance {
  func applying(_ update: AppearanceUpdate) throws(ModelError) -> Appearance {
    var new = self
    if let isVisible = update.isVisible { new.isVisible = isVisible }
    if let opacity = update.opacity { new.opacity = opacity }
    if let minScale = update.minScale { new.minScale = minScale }
    if let maxScale = update.maxScale { new.maxScale = maxScale }
    if update.clear.contains("minScale") { new.minScale = nil }
    if update.clear.contains("maxScale") { new.maxScale = nil }
    if let far = new.minScale, let near = new.maxScale, far <= near { throw .invalidScaleRange }
    return new
  }

  /// Whether a scale is one to draw at, both ends included.
  public func shows(at scale: Double) -> Bool { scale <= minScale ?? .infinity && scale >= maxScale ?? 0 }
}
