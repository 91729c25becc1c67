// Handlers of `view/*`, `layer/*`, `overlay/*` and `feature/*` that draw pictures.

import Drawing
import GeoModel
import GeoProtocol
import Geometry
import Planning
import WireCoding

extension ViewService {
  package static func render(_ params: Render.Params, in world: inout World) throws -> Plan<Render.Result> {
    var rendering = try Rendering(ID(params.view), width: params.width, height: params.height, hasLocation: params.location, in: world)
    rendering.isPerspective = params.projection == .perspective
    rendering.hasFences = params.fences
    return try rendering
      .plan(params, isStreamed: params.wantsParts, part: { Render.Part(data: $0).made() }) { .init(revision: $0, picture: $1) }
  }

  package static func renderSeries(_ params: RenderSeries.Params, in world: inout World) throws -> Plan<RenderSeries.Result> {
    let series = try MapSeries(params, in: world)
    return TaskPlan(result: { worker in .init(revision: series.revision, series: try series.draw(worker)) })
  }

  package static func labels(_ params: Labels.Params, in world: inout World) throws -> Plan<Labels.Result> {
    var rendering = try Rendering(ID(params.view), width: nil, height: nil, hasLocation: false, in: world)
    rendering.isPerspective = params.projection == .perspective
    return rendering.plan { .init(revision: $0, textMetrics: $1, labels: $2, omittedLabelCount: $3) }
  }
}

extension LayerService {
  package static func render(_ params: Render.Params, in world: inout World) throws -> Plan<Render.Result> {
    let id = LayerID(params.layer)
    let layer = world.live(try world.layers.require(id))
    if let raster = layer.raster {
      guard let source = raster.source, let renderer = raster.drawnRenderer else { throw ModelError.notLoaded(params.layer) }
      var rendering = try Rendering(params, layer.reference, source.info.extent, in: world) { _, _ in [] }
      rendering.rasters = { [DrawnRaster(layer.reference, name: layer.name, .operational, renderer, source, $0.transformer)] }
      return try rendering.plan(params, isStreamed: params.wantsParts, part: { Render.Part(data: $0).made() }) {
        .init(revision: $0, picture: $1)
      }
    }
    let store = try layer.requireFeatures().store
    guard let features = layer.features, let store else { throw ModelError.notLoaded(params.layer) }
    return try Rendering(params, layer.reference, store.extent, in: world) { view, world in
      [DrawnLayer(layer, features, store, at: view.camera.scale, dpi: view.screen.dpi, in: world)]
    }.plan(params, isStreamed: params.wantsParts, part: { Render.Part(data: $0).made() }) { .init(revision: $0, picture: $1) }
  }
}

extension OverlayService {
  package static func render(_ params: Render.Params, in world: inout World) throws -> Plan<Render.Result> {
    let overlay = try world.overlays.require(ID(params.overlay))
    return try Rendering(params, overlay.reference, overlay.store.extent, in: world) { view, world in
      [DrawnLayer(overlay, at: view.camera.scale, dpi: view.screen.dpi, in: world)]
    }.plan(params, isStreamed: params.wantsParts, part: { Render.Part(data: $0).made() }) { .init(revision: $0, picture: $1) }
  }
}

extension FeatureService {
  package static func render(
    _ params: FeatureProtocol.Render.Params, in world: inout World
  ) throws -> Plan<FeatureProtocol.Render.Result> {
    let features = try FeatureQuery(params, in: world)
    let target = try world.canonical(params.outSpatialReference) ?? features.reference
    let drawn = try drawnLayer(params, in: world)
    let snapshot = world
    @Sendable func rendering(_ extent: Envelope?, _ rows: Set<UInt32>) throws -> Rendering {
      try Rendering(
        width: params.width, height: params.height, in: target, hasTitle: params.layout?.title?.isEmpty == false, features.reference, extent,
        of: snapshot
      ) { view, world in [drawn(view, world).showing(rows)] }
    }
    // Refused before anything is searched.
    let job = try rendering(nil, []).job(params)
    let isStreamed = params.wantsParts
    return TaskPlan(parts: { worker in
      let shares = WorkShare(worker.work).split(by: 1, 3)
      let rows = try features.computedPage([], offset: 0, limit: .max, shares[0]).page
      var extent = Envelope.none
      for row in rows { if let box = features.store[row]?.envelope { extent.include(box) } }
      let isEmpty = extent.xMin > extent.xMax
      let (picture, data) = try rendering(isEmpty ? nil : extent, Set(rows)).draw(params, job, isStreamed: isStreamed, worker, shares[1])
      let result = FeatureProtocol.Render.Result(revision: snapshot.revision, count: rows.count, picture: picture)
      return data.map { Rendering.next(of: $0, { FeatureProtocol.Render.Part(data: $0).made() }, result) } ?? .answer(result)
    })
  }

  /// The layer or overlay of a request, as a view draws it.
  private static func drawnLayer(
    _ params: FeatureProtocol.Render.Params, in world: World
  ) throws -> @Sendable (View, World) -> DrawnLayer {
    if let id = params.overlay {
      let overlay = try world.overlays.require(ID(id))
      return { view, world in DrawnLayer(overlay, at: view.camera.scale, dpi: view.screen.dpi, in: world) }
    }
    guard let id = params.layer else { throw ModelError.oneOf(["layer", "overlay"]) }
    let layer = world.live(try world.layers.require(ID(id)))
    guard let features = layer.features, let store = features.store else { throw ModelError.notLoaded(id) }
    return { view, world in DrawnLayer(layer, features, store, at: view.camera.scale, dpi: view.screen.dpi, in: world) }
  }
}
