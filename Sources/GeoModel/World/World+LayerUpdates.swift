// Updates of layers.

import Expressions
import FeatureStore
import Filtering
import Geometry

extension World {
  /// Sets members of a layer. A layer that becomes visible in an exclusive group hides the others there.
  ///
  /// - Throws: also if a value is not valid for the layer's fields.
  public mutating func updateLayer(_ id: LayerID, _ changes: [MemberChange]) throws(ModelError) {
    let changes = try changes.map { (change) throws(ModelError) in try placed(change, on: id) }
    try update(id, changes) { (layer, old, members) throws(ModelError) in
      for member in members {
        if let value = member.ownValue(of: layer) { try layer.features?.check(value, at: member.name) }
      }
      if let info = layer.raster?.info { try layer.raster?.renderer?.check(for: info, at: "/rasterRenderer") }
      try layer.finishUpdate(from: old)
    }
    let isShown = changes.contains { if $0.name == "isVisible", case .flag(true)? = $0.value { true } else { false } }
    if isShown, let layer = layers[id] { hideOthers(around: layer) }
  }

  /// Sets members of a layer from its document without checking fields, which may have changed since; ``fault(of:)``
  /// checks them. Several layers of an exclusive group may stay visible: the last one shows.
  public mutating func restoreLayer(_ id: LayerID, _ changes: [MemberChange]) throws(ModelError) {
    let changes = changes.map { (try? placed($0, on: id)) ?? $0 }
    try update(id, changes) { (layer, old, _) throws(ModelError) in try layer.finishUpdate(from: old) }
  }

  /// The change with geometries in expressions transformed to the reference of the layer.
  private func placed(_ change: MemberChange, on id: LayerID) throws(ModelError) -> MemberChange {
    guard let layer = layers[id] else { return change }
    guard case .expression(let expression)? = change.value else { return try placed(change, in: layer.reference) }
    do throws(ExpressionError) {
      return MemberChange(
        change.name, .expression(try placed(expression, in: layer.reference, layer.features?.store?.extent)))
    } catch { throw .expression(error, path: "/" + change.name) }
  }

  /// The change with geometries in renderers, labels and popups transformed to the reference of the features, which
  /// may be moved anywhere.
  func placed(_ change: MemberChange, in reference: SpatialReference) throws(ModelError) -> MemberChange {
    guard let symbology = change.value?.symbology else { return change }
    do throws(SymbologyError) {
      let placed = try symbology.placed { (expression) throws(ExpressionError) in
        try self.placed(expression, in: reference, nil)
      }
      return MemberChange(change.name, placed.memberValue)
    } catch { throw .symbology(error.under(change.name)) }
  }

  /// The first member that is not valid for the layer's fields; nil if there is none.
  public func fault(of layer: Layer) -> ModelError? {
    guard let features = layer.features else { return nil }
    do {
      for member in Layer.members where member.traits.contains(.settable) {
        if let value = member.ownValue(of: layer) { try features.check(value, at: member.name) }
      }
      return nil
    } catch { return error }
  }

  private mutating func hideOthers(around layer: Layer) {
    guard let grouping = layer.group.flatMap({ layers[$0]?.grouping }), grouping.visibilityMode == .exclusive else {
      return
    }
    for other in grouping.layers where other != layer.id && layers[other]?.appearance.isVisible == true {
      changeKnown(other) { $0.appearance.isVisible = false }
    }
  }
}

extension Layer {
  fileprivate mutating func finishUpdate(from old: Layer) throws(ModelError) {
    try appearance.checkScaleRange()
    if let old = old.features, features?.filtersDiffer(from: old) == true { features?.countSelected() }
  }
}

extension LayerFeatures {
  /// The columns, which are known before the features are loaded. Those that a client sends have the declared types, or any type.
  private var columns: FeatureSchema {
    if let store { return store.schema }
    if case .columns(let data) = origin {
      let known = data.store.schema
      // Columns that the source has got since then are undeclared.
      return FeatureStore(
        columns: schema.fields.map { field in
          let name = field.name.string
          return (name, known.column(named: name).flatMap(known.declaredType))
        }
      ).schema
    }
    return FeatureStore(fields: schema.fields, geometryName: schema.geometryName).schema
  }

  /// Throws if the value of a member names fields that do not exist or have unsuitable types.
  ///
  /// - Parameter name: name of the member, for errors.
  fileprivate func check(_ value: MemberValue, at name: String) throws(ModelError) {
    let path = "/" + name
    switch value {
    case .expression(let expression):
      do throws(ExpressionError) { _ = try expression.compiled(for: columns, as: .condition) } catch {
        throw .expression(error, path: path)
      }
    case .time(let time): try check(time, at: path)
    default:
      do throws(SymbologyError) { try value.symbology?.check(for: columns) } catch {
        throw .symbology(error.under(name))
      }
    }
  }
}
