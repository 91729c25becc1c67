// Finds what a view draws at a screen point, on a snapshot of the world, for `view/identify` and `view/select`.

import Drawing
import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import Planning

/// A search for drawn features and graphics at a screen point.
struct Identification: Sendable {
  let world: World
  private let view: View
  private let isPerspective: Bool
  private let circle: ScreenCircle
  private let limit: Int
  /// The layer, group or overlay to search; nil for all in the view.
  private let target: ObjectReference?

  /// The hits in one layer or overlay.
  struct Found: Sendable {
    let layer: DrawnLayer
    /// Of a layer over an entity source, what its features are.
    let kind: EntityFeatures?
    /// The enclosing groups that have results of their own, outermost first.
    let groups: [Layer]
    var hits: Hits
    /// The clusters drawn in place of points; nil if points are not clustered.
    var clusters: DrawnClusters?
    /// Set if the layer's reference cannot be transformed to the view's.
    let error: TransformError?

    /// The ids of the hits.
    var ids: [Int] { hits.hits.compactMap { layer.store[$0.row]?.id } }
  }

  /// - Throws: if the view does not show the given layer or overlay, or the point is outside the screen.
  init(_ params: some ViewProtocol.ScreenSearch & PictureProtocol.ScenePicture, in world: World) throws {
    view = try world.views.require(ID(params.view))
    isPerspective = params.projection == .perspective && view.perspective(in: world) != nil
    try Self.check(params.screenPoint.x, within: view.screen.width, "x", "width")
    try Self.check(params.screenPoint.y, within: view.screen.height, "y", "height")
    switch (params.layer, params.overlay) {
    case (nil, nil): target = nil
    case (let layer?, nil): target = try world.layer(ID(layer), shownIn: view).reference
    case (nil, let overlay?): target = try world.overlay(ID(overlay), of: view).reference
    default: throw ModelError.oneOf(["layer", "overlay"])
    }
    circle = ScreenCircle(x: params.screenPoint.x, y: params.screenPoint.y, radius: params.tolerance)
    limit = params.maximumResults
    self.world = world
  }

  private static func check(
    _ number: Double, within length: Double, _ axis: String, _ side: String
  ) throws(ModelError) {
    guard !(0...length).contains(number) else { return }
    throw .outOfRange(number, expected: "number from 0 to the view's \(side)", path: "/screenPoint/\(axis)")
  }

  /// The hits of each layer and overlay that is searched, topmost first; of entities, previous observations and track lines apart.
  func found(_ share: WorkShare, _ worker: Worker) throws -> [Found] {
    let extent: ViewSnapshot.Extent =
      switch target {
      case nil: .everything
      case let overlay? where overlay.collection == .overlays: .overlay(OverlayID(overlay.id))
      case _?: .layers { groups(around: $0) != nil }
      }
    let drawn = try ViewSnapshot(of: view.id, in: world, extent).layers
    let isPlaced = isPerspective || drawn.contains(where: \.hasLabels)
    let parts = share.split(by: isPlaced ? (isPerspective ? 9 : 1) : 0, 1)
    var placed = LabelMemory.Placed()
    if isPlaced {
      var rendering = try Rendering(view.id, width: nil, height: nil, hasLocation: false, in: world)
      rendering.isPerspective = isPerspective
      placed = try worker.placed(in: rendering, parts[0])
    }
    let layers = drawn.reversed().map { layer in
      (layer, layer.stratum == .overlay ? [] : groups(around: LayerID(layer.object.id)) ?? [])
    }
    let shares = parts[1].split(by: layers.map { $0.0.store.count + 1 })
    return try zip(layers, shares).flatMap { (layer, share) in
      let tracks = try layer.0.tracks(in: world) { try share.work?.checkCancelled() }
      let parts = [(kind: layer.0.entityFeatures(in: world), layer: layer.0)] + tracks.map { ($0.kind, $0.layer) }
      if let error = placed.failed[layer.0.object] {
        return [Found(layer: layer.0, kind: parts[0].kind, groups: layer.1, hits: Hits(), error: error)]
      }
      let shapes = placed.shapes?[layer.0.object]
      let all = try zip(parts, share.split(by: parts.map { $0.layer.store.count + 1 })).enumerated().map { (index, part) in
        // Tracks have no labels.
        let labels = index == 0 ? placed.labels[layer.0.object] ?? [] : []
        return try found(in: part.0.layer, part.0.kind, layer.1, labels, on: shapes?[index], worker.searchMeter, part.1)
      }
      return all[0].error == nil ? all : [all[0]]
    }
  }

  private func found(
    in layer: DrawnLayer, _ kind: EntityFeatures?, _ groups: [Layer], _ labels: [PlacedLabel],
    on shapes: DrawnShapes?, _ meter: TextMeter?, _ share: WorkShare
  ) throws -> Found {
    do {
      let shares = share.split(by: 1, 1)
      let clusters = try layer.clusters(checking: shares[0].checkpoint)
      let hits = try layer.hits(
        in: circle, of: view, limit: limit, clusters: clusters, labels: labels, on: shapes, world.transformer, meter,
        checking: shares[1].checkpoint
      ) { try share.work?.checkCancelled() }
      return Found(layer: layer, kind: kind, groups: groups, hits: hits, clusters: clusters, error: nil)
    } catch let error as TransformError {
      return Found(layer: layer, kind: kind, groups: groups, hits: Hits(), error: error)
    }
  }

  /// The groups around a layer up to the target, outermost first; nil if the target does not contain the layer.
  private func groups(around layer: LayerID) -> [Layer]? {
    if ObjectReference(.layers, layer.rawValue) == target { return [] }
    var groups: [Layer] = []
    var next = world.layers[layer]?.group
    while let id = next, let group = world.layers[id] {
      groups.insert(group, at: 0)
      if group.reference == target { return groups }
      next = group.group
    }
    return target == nil ? groups : nil
  }
}

extension World {
  /// - Throws: `unknownId` unless the layer is in the map or scene that the view shows, `wrongKind` for a table.
  fileprivate func layer(_ id: LayerID, shownIn view: View) throws(ModelError) -> Layer {
    let layer = try layers.require(id)
    guard layer.container == view.content else { throw .unknownID(.layers, id.rawValue) }
    guard layer.kind != .table else { throw .wrongKind(id.rawValue, .table, expected: [.feature, .group]) }
    return layer
  }

  /// - Throws: `unknownId` unless the overlay belongs to the view.
  fileprivate func overlay(_ id: OverlayID, of view: View) throws(ModelError) -> Overlay {
    let overlay = try overlays.require(id)
    guard overlay.view == view.id else { throw .unknownID(.overlays, id.rawValue) }
    return overlay
  }
}
