// Publishes what a layer, a map or a view draws as one file; it appears only when it is complete.

import Drawing
import Files
import GeoModel
import GeoProtocol
import Geometry
import JSONRPC
import Planning
import VectorTiles
import WireCoding

extension MapService {
  package static func publish(_ params: Publish.Params, in world: inout World) throws -> Plan<MapProtocol.PublishResult> {
    let publication = try Publication(params, in: world)
    return TaskPlan { worker in try publication.run(worker) }
  }
}

/// A publication that is planned on the loop and run by a worker.
struct Publication: Sendable {
  typealias Result = MapProtocol.PublishResult

  let params: MapProtocol.Publish.Params
  let format: MapProtocol.PublishFormat
  let name: String
  let zooms: ClosedRange<Int>
  /// For each zoom of tiles, or once for a page, the layers in drawing order.
  let layers: [[DrawnLayer]]
  /// Those of each layer.
  let boxes: [TileBoxes]
  let background: Color?
  /// Where a page begins: the center in Web Mercator and the scale; nil for all that there is.
  let start: (center: Point, scale: Double)?
  /// The extent in Web Mercator; nil if there is nothing.
  let extent: Envelope?
  let transformer: any CoordinateTransformer
  let revision: Int

  init(_ params: MapProtocol.Publish.Params, in world: World) throws {
    self.params = params
    format = try Self.format(params)
    guard params.ifExists == .error || params.ifExists == .replace else {
      throw RPCError(.invalidParams, "A map has no layers in a file to add one to.", path: "/params/ifExists", expected: "`error` or `replace`")
    }
    guard params.minZoom <= params.maxZoom else {
      throw RPCError(
        .invalidParams, "The last zoom is below the first.", path: "/params/maxZoom", expected: "an integer not below \(params.minZoom)")
    }
    zooms = params.minZoom...params.maxZoom
    (transformer, revision) = (world.transformer, world.revision)
    let content: Content
    switch (params.layer, params.map, params.view) {
    case (let id?, nil, nil): content = try Content(layer: id, in: world)
    case (nil, let id?, nil): content = try Content(map: id, in: world)
    case (nil, nil, let id?): content = try Content(view: id, in: world)
    default: throw ModelError.oneOf(["layer", "map", "view"])
    }
    name = params.name ?? content.name
    (background, start) = (content.background, content.start)
    let scales = format == .html ? [content.start?.scale ?? ClusterZoom.scale(zoom: params.maxZoom)] : zooms.map { ClusterZoom.scale(zoom: $0) }
    layers = scales.map { scale in content.layers(at: scale, in: world) }
    var (extent, boxes): (Envelope?, [TileBoxes]) = (nil, [])
    for layer in layers.first ?? [] {
      boxes.append(try TileBoxes(for: layer.store, in: layer.reference, transformer))
      guard let own = layer.store.extent, let box = try? world.bounds(of: own, from: layer.reference, to: .webMercator) else { continue }
      extent = extent.map { known in
        var both = known
        both.include(box)
        return both
      } ?? box
    }
    (self.extent, self.boxes) = (extent, boxes)
  }

  private static func format(_ params: MapProtocol.Publish.Params) throws -> MapProtocol.PublishFormat {
    if let format = params.format { return format }
    switch params.path.stemAndExtension.extension {
    case "pmtiles": return .pmtiles
    case "html", "htm": return .html
    default:
      throw RPCError(
        .unknownFormat, "The extension of \(params.path.prefix(200)) is that of no format; `format` names one.", path: "/params/path",
        expected: "`.pmtiles`, `.html`")
    }
  }

  // MARK: Running

  func run(_ worker: Worker) throws -> Result {
    let path = try worker.files.path(params.path)
    let target = try worker.files.policy.resolveForWriting(path)
    if params.ifExists == .error, target.identity != nil { throw RPCError(fileExists: target.path) }
    let file = try AtomicFile.begin(replacing: target)
    let share = WorkShare(worker.work)
    var result = Result(
      revision: revision, path: path, format: format, bytes: 0, layerCount: layers.first?.count ?? 0, failedCount: 0)
    switch format {
    case .pmtiles: try TilePyramid(self).write(to: file, &result, share)
    case .html: try MapPage(self).write(to: file, &result, share)
    }
    result.bytes = file.size
    try file.commit(replaces: params.ifExists == .replace, for: worker)
    return result
  }

  // MARK: Content

  /// What is published, before it is drawn at a scale.
  private struct Content {
    var name = ""
    var layers: [Layer] = []
    var overlays: [Overlay] = []
    var background: Color?
    var start: (center: Point, scale: Double)?

    init(layer id: String, in world: World) throws {
      let layer = world.live(try world.layers.require(ID(id)))
      guard try layer.requireFeatures().store != nil else { throw ModelError.notLoaded(id) }
      (name, layers) = (layer.name, [layer])
    }

    init(map id: String, in world: World) throws {
      let map = try world.maps.require(ID(id))
      self.init(map.content, name: id, in: world)
    }

    init(view id: String, in world: World) throws {
      let view = try world.views.require(ID(id))
      self.init(try world.content(of: view.content), name: id, in: world)
      overlays = view.overlays.compactMap { world.overlays[$0] }.filter { $0.appearance.isVisible }
      let place = Point(x: view.camera.x, y: view.camera.y)
      let center = try world.transformer.transform(place, from: view.reference.reference, to: .webMercator)
      start = (center, view.camera.scale)
    }

    private init(_ content: MapContent, name: String, in world: World) {
      self.name = content.title?.string ?? name
      background = content.backgroundColor
      layers = world.layers(from: Array(content.topLayers)).filter { $0.features?.isTable == false && world.isShown($0) }
        .map { world.live($0) }.filter { $0.features?.store != nil }
    }

    func layers(at scale: Double, in world: World) -> [DrawnLayer] {
      layers.compactMap { layer in
        guard let features = layer.features, let store = features.store else { return nil }
        return DrawnLayer(layer, features, store, at: scale, opacity: world.opacity(of: layer), in: world)
      } + overlays.map { DrawnLayer($0, at: scale, in: world) }
    }
  }
}

extension World {
  /// The layer's opacity, multiplied by those of the groups that contain it.
  func opacity(of layer: Layer) -> Double {
    layer.appearance.opacity * (layer.group.flatMap { layers[$0] }.map(opacity) ?? 1)
  }

  /// Whether a layer is visible at some scale: by itself, or as its groups have it.
  func isShown(_ layer: Layer) -> Bool {
    guard let group = layer.group.flatMap({ layers[$0] }), let grouping = group.grouping else { return layer.appearance.isVisible }
    let isShownThere =
      switch grouping.visibilityMode {
      case .independent: layer.appearance.isVisible
      case .inherited: true
      case .exclusive: grouping.layers.reversed().first { layers[$0]?.appearance.isVisible == true } == layer.id
      }
    return isShownThere && isShown(group)
  }
}
