// Handlers of `view/*`: viewpoints, animations, interactions.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Subscriptions
import WireCoding

package enum ViewService: ViewHandlers {
  package static func create(_ params: Create.Params, in world: inout World) throws -> Answer<JSONOpaque> {
    try world.made(params.id, params.ifExists, matches: { (_: View, _) in
      // A command sets the map or scene that a view shows, and its screen.
      [:]
    }) { world, id in
      try world.createView(
        id: id, over: try Wire.content(params.map, params.scene),
        screen: Screen(width: params.width, height: params.height, dpi: params.dpi),
        viewpoint: try params.viewpoint.map(Wire.target))
    }
  }

  package static func setContent(_ params: SetContent.Params, in world: inout World) throws -> Answer<JSONOpaque> {
    let id = ViewID(params.view)
    _ = try world.views.require(id)
    try world.setContent(
      of: id, to: try Wire.content(params.map, params.scene), viewpoint: try params.viewpoint.map(Wire.target))
    return { try Wire.object(id, in: $0) }
  }

  package static func resize(_ params: Resize.Params, in world: inout World) throws -> Answer<JSONOpaque> {
    try world.resizeView(ID(params.view), try Wire.changes(params.members))
    return { try Wire.object(ViewID(params.view), in: $0) }
  }

  // MARK: Viewpoints

  package static func getViewpoint(_ params: GetViewpoint.Params, in world: World) throws -> GetViewpoint.Result {
    let view = try world.views.require(ID(params.view))
    let viewpoint = try view.viewpoint(
      as: .init(params.kind), in: try world.canonical(params.spatialReference), world.transformer)
    return .init(revision: world.revision, viewpoint: Wire.viewpoint(viewpoint))
  }

  package static func setViewpoint(_ params: SetViewpoint.Params, in world: inout World) throws -> Answer<
    SetViewpoint.Result
  > {
    let id = ViewID(params.view)
    _ = try world.views.require(id)
    let isConstrained = try world.setViewpoint(of: id, to: try Wire.target(params.viewpoint))
    return {
      .init(
        revision: $0.revision, viewpoint: Wire.viewpoint(try $0.views.require(id).viewpoint),
        constrained: isConstrained ? true : nil)
    }
  }

  package static func animateViewpoint(_ params: AnimateViewpoint.Params, in world: inout World) throws -> ProcessID {
    let id = ViewID(params.view)
    _ = try world.views.require(id)
    return try world.animateViewpoint(
      of: id, to: try Wire.target(params.viewpoint),
      AnimationTiming(
        duration: params.duration, easing: .init(params.easing), rho: params.rho, speed: params.speed, rate: params.rate))
  }

  package static func animateViewpointEnded(
    _ params: AnimateViewpoint.Params, _ end: ProcessEnd, in world: World
  ) throws -> AnimateViewpoint.Result {
    .init(
      revision: world.revision, arrived: end == .completed || end == .constrained, interruptedBy: Wire.interruption(end),
      constrained: end == .constrained ? true : nil)
  }

  package static func interact(_ params: Interact.Params, in world: inout World) throws -> Answer<Interact.Result> {
    let id = ViewID(params.view)
    let isConstrained = try world.interact(with: id, Wire.interaction(params.interaction))
    return {
      let view = try $0.views.require(id)
      return .init(
        revision: $0.revision, viewpoint: Wire.viewpoint(view.viewpoint), isNavigating: view.isNavigating,
        constrained: isConstrained ? true : nil)
    }
  }

  package static func observeViewpoint(
    _ params: ObserveViewpoint.Params, on client: any HandlerClient
  ) throws -> ObserveViewpoint.Result {
    let view = try client.world.views.require(ID(params.view))
    let kinds = params.kinds.map { Viewpoint.Kind($0) }
    let id = try client.subscribers.makeID()
    client.subscribers.add(
      ViewpointSubscriber(
        id: id, view: view.id, kinds: kinds, exceptOrigin: params.exceptOrigin, maxRate: params.maxRate,
        base: client.world.revision), client.world)
    return .init(
      subscription: id, revision: client.world.revision,
      viewpoints: ViewpointSubscriber.viewpoints(of: view, kinds, client.world), isNavigating: view.isNavigating)
  }

  package static func setCameraController(
    _ params: SetCameraController.Params, in world: inout World
  ) throws -> Answer<SetCameraController.Result> {
    let id = ViewID(params.view)
    try world.setCameraController(of: id, to: params.cameraController.map { Wire.cameraController($0) })
    return {
      let view = try $0.views.require(id)
      return .init(
        revision: $0.revision, cameraController: view.cameraController.map { Wire.cameraController($0) },
        viewpoint: Wire.viewpoint(view.viewpoint))
    }
  }

  package static func observeTaps(
    _ params: ObserveTaps.Params, on client: any HandlerClient
  ) throws -> ObserveTaps.Result {
    let view = try client.world.views.require(ID(params.view))
    let reference = try client.world.canonical(params.spatialReference)
    let id = try client.subscribers.makeID()
    client.subscribers.add(TapSubscriber(id: id, view: view.id, reference: reference), client.world)
    return .init(subscription: id, revision: client.world.revision)
  }

  package static func layerViewStates(
    _ params: LayerViewStates.Params, in world: World
  ) throws -> LayerViewStates.Result {
    let view = try world.views.require(ID(params.view))
    return .init(
      revision: world.revision, scale: view.camera.scale,
      layers: world.layerViewStates(of: view).map { .init(layer: $0.layer.rawValue, flags: Wire.flags($0.state)) })
  }

  package static func setLocationDisplay(
    _ params: SetLocationDisplay.Params, in world: inout World
  ) throws -> Answer<SetLocationDisplay.Result> {
    let id = ViewID(params.view)
    try world.updateLocationDisplay(
      of: id, source: params.source.map { ID($0) },
      autoPanMode: params.autoPanMode.map { AutoPanMode($0) },
      wanderExtentFactor: params.wanderExtentFactor, initialZoomScale: params.initialZoomScale,
      navigationPointHeightFactor: params.navigationPointHeightFactor, shared: params.display.map { ID($0) },
      clear: params.clear ?? [])
    return {
      .init(
        revision: $0.revision, locationDisplay: Wire.locationDisplay($0.locationDisplay(of: try $0.views.require(id))))
    }
  }
}

extension World {
  /// The spatial reference by its authority's code, if it has one; nil if `name` is nil.
  package func canonical(_ name: String?) throws -> SpatialReference? {
    try name.map { try transformer.describe(SpatialReference($0)).reference }
  }

  /// The box in each turn of the world that x may be written in; nil where the reference does not go around the world.
  func turns(of box: Envelope, in reference: SpatialReference) throws -> [Envelope]? {
    guard let wrap = WorldWrap(try transformer.describe(reference), transformer) else { return nil }
    let turns = Envelope(xMin: wrap.xMin - wrap.width, yMin: box.yMin, xMax: wrap.xMax + wrap.width, yMax: box.yMax)
    return wrap.turns(of: box, over: turns)
  }

  /// A box as polygons: in each turn of the world if it crosses its edge.
  ///
  /// - Throws: `invalidParams` if the edge is unknown.
  func area(of box: Envelope, in reference: SpatialReference?, at path: String) throws -> Geometry {
    guard box.xMin > box.xMax, reference != nil || !box.isInDegrees else { return Geometry(box) }
    guard let boxes = try reference.flatMap({ try turns(of: box, in: $0) }) else {
      throw RPCError(
        .invalidParams, "The box crosses the edge of the world, of which nothing is known.", path: path + "/xMax",
        expected: "not below xMin, or a spatial reference that goes around the world")
    }
    return .multiPolygon(boxes.flatMap { Geometry($0).polygons })
  }
}
