// Viewpoints of views: set at once or moved to over time, and what a target comes to on a screen.

import Geometry

extension World {
  // MARK: Viewpoints

  /// Sets the viewpoint at once; it ends an animation, and auto-pan.
  public mutating func setViewpoint(of id: ViewID, to target: ViewpointTarget) throws(ModelError) {
    let (camera, viewpoint) = try resolve(target, in: try views.require(id))
    interruptAnimation(of: id)
    setLocationDisplay(of: id) { $0.autoPanMode = .off }
    place(id, camera, viewpoint, by: origin)
  }

  /// Moves to a viewpoint over `duration` seconds.
  public mutating func animateViewpoint(
    of id: ViewID, to target: ViewpointTarget, duration: Double, easing: Easing
  ) throws(ModelError) -> ProcessID {
    let view = try views.require(id)
    let (camera, viewpoint) = try resolve(target, in: view)
    var sceneCameras: (from: SceneCamera, to: SceneCamera)?
    if view.viewpoint.kind == .camera || viewpoint.kind == .camera {
      var there = view
      (there.camera, there.viewpoint) = (camera, viewpoint)
      sceneCameras = (try view.sceneCamera(), try there.sceneCamera())
    }
    let process = makeProcess()
    interruptAnimation(of: id)
    setLocationDisplay(of: id) { $0.autoPanMode = .off }
    guard duration > 0, camera != view.camera || sceneCameras.map({ $0.from != $0.to }) ?? false else {
      place(id, camera, viewpoint, by: origin)
      end(process, .completed)
      return process
    }
    let animation = Animation(
      process: process, start: clock.now, duration: duration, easing: easing, from: view.camera, to: camera,
      sceneCameras: sceneCameras, destination: viewpoint)
    changeKnown(id) { $0.animation = animation }
    mayMove = true
    return process
  }

  /// Ends an animation where it stands; false when the process is over.
  public mutating func cancel(_ process: ProcessID) -> Bool {
    for view in views.values where view.animation?.process == process {
      changeKnown(view.id) { $0.animation = nil }
      end(process, .cancelled)
      return true
    }
    return false
  }

  /// Ends every animation where it stands.
  public mutating func interruptAllAnimations() {
    for id in views.ids { interruptAnimation(of: id) }
  }

  mutating func interruptAnimation(of id: ViewID, by origin: Origin? = nil) {
    guard let animation = views[id]?.animation else { return }
    changeKnown(id, by: origin) { $0.animation = nil }
    end(animation.process, .interrupted)
  }

  mutating func advanceAnimation(of id: ViewID) {
    guard let view = views[id], let animation = view.animation else { return }
    let elapsed = clock.now.seconds(since: animation.start)
    guard elapsed < animation.duration else {
      changeKnown(id, by: .animation) {
        $0.animation = nil
        $0.camera = animation.to
        $0.viewpoint = animation.destination
      }
      end(animation.process, .completed)
      return
    }
    let way = animation.easing.way(at: max(0, elapsed / animation.duration))
    if let (from, to) = animation.sceneCameras {
      let between = SceneCamera.between(from, to, at: way)
      if let camera = try? flattened(between, on: view.screen) { place(id, camera, .camera(between), by: .animation) }
      return
    }
    var camera = Camera.between(animation.from, animation.to, at: way, wrap: view.wrap)
    camera.scale = held(camera.scale, in: view)
    let reference = animation.destination.reference
    // Between two places of the map lies another one; where even that has no coordinates, the map's own serve.
    let center = try? transformer.transform(
      Point(x: camera.x, y: camera.y), from: view.reference.reference, to: reference)
    let viewpoint = Viewpoint.centerAndScale(
      center: center ?? Point(x: camera.x, y: camera.y), scale: camera.scale, rotation: camera.rotation,
      reference: center == nil ? view.reference.reference : reference)
    place(id, camera, viewpoint, by: .animation)
  }

  mutating func place(_ id: ViewID, _ camera: Camera, _ viewpoint: Viewpoint, by origin: Origin) {
    changeKnown(id, by: origin) {
      $0.camera = camera
      $0.viewpoint = viewpoint
    }
  }

  // MARK: Resolving

  /// Where a target leads: in map units, and as the viewpoint that stands for it.
  func resolve(_ target: ViewpointTarget, in view: View) throws(ModelError) -> (Camera, Viewpoint) {
    var (camera, viewpoint) = try unchecked(target, in: view)
    if let wrap = view.wrap { camera.x = wrap.normalized(camera.x) }
    guard camera.isSound else {
      throw .invalidGeometry(
        expected:
          "a viewpoint with finite coordinates and a scale in \(Camera.scales.lowerBound)...\(Camera.scales.upperBound)"
      )
    }
    return try held(camera, viewpoint, in: view)
  }

  /// The nearest scale that the map or scene lets a view have.
  func held(_ scale: Double, in view: View) -> Double { (try? content(of: view.content))?.held(scale) ?? scale }

  /// The same, with the scale within the range of the map or scene: the center stays.
  func held(_ camera: Camera, _ viewpoint: Viewpoint, in view: View) throws(ModelError) -> (Camera, Viewpoint) {
    let scale = held(camera.scale, in: view)
    guard scale != camera.scale else { return (camera, viewpoint) }
    var camera = camera
    if case .camera(let scene) = viewpoint {
      let moved = try dollied(scene, to: scale / camera.scale)
      return (try flattened(moved, on: view.screen), .camera(moved))
    }
    camera.scale = scale
    if case .centerAndScale(let center, _, let rotation, let reference) = viewpoint {
      return (camera, .centerAndScale(center: center, scale: scale, rotation: rotation, reference: reference))
    }
    // The geometry is not what will be in sight.
    do {
      let center = try transformer.transform(
        Point(x: camera.x, y: camera.y), from: view.reference.reference, to: viewpoint.reference)
      return (
        camera,
        .centerAndScale(center: center, scale: scale, rotation: camera.rotation, reference: viewpoint.reference)
      )
    } catch { throw .transform(error) }
  }

  /// A viewpoint that views of a map or scene can be set to, as they would keep it on a screen that fits it.
  func checked(_ target: ViewpointTarget, in content: ViewContent) throws(ModelError) -> Viewpoint {
    let draft = try draft(over: content, screen: Screen())
    let (camera, viewpoint) = try unchecked(target, in: draft)
    guard camera.isSound else { throw .invalidGeometry(expected: "a viewpoint with finite coordinates and scale") }
    return viewpoint
  }

  /// A center in map units; where poles lie at infinity, held to the edge as boxes are.
  func center(
    _ point: Point, from reference: SpatialReference, of view: View
  ) throws(TransformError) -> Point {
    let map = view.reference.reference
    guard let limit = view.polarLimit else { return try transformer.transform(point, from: reference, to: map) }
    let isInDegrees = try transformer.describe(reference).kind == .geographic
    let shown = isInDegrees ? limit.held(degrees: point) : point
    return limit.held(try transformer.transform(shown, from: reference, to: map))
  }

  func unchecked(_ target: ViewpointTarget, in view: View) throws(ModelError) -> (Camera, Viewpoint) {
    var camera = view.camera
    let map = view.reference.reference
    func moved(_ point: Point, _ reference: SpatialReference) throws(ModelError) -> Point {
      let place: Point
      do { place = try center(point, from: reference, of: view) } catch { throw .transform(error) }
      guard view.reference.kind != .geographic || abs(place.y) <= 90 else {
        throw .invalidGeometry(expected: "a center with a latitude in -90...90")
      }
      return place
    }
    switch target {
    case .centerAndScale(let center, let scale, let rotation, let reference):
      let point = try moved(center, reference)
      camera = Camera(
        x: point.x, y: point.y, scale: scale, rotation: Camera.normalized(degrees: rotation ?? camera.rotation))
      return (
        camera, .centerAndScale(center: center, scale: scale, rotation: camera.rotation, reference: reference)
      )
    case .boundingGeometry(let geometry, let padding, let rotation, let reference):
      guard !geometry.isEmpty else { throw .emptyGeometry }
      var inMap: Geometry
      do {
        let isInDegrees = try transformer.describe(reference).kind == .geographic
        let shown = isInDegrees ? view.polarLimit?.held(degrees: geometry) ?? geometry : geometry
        inMap = try transformer.transform(shown, from: reference, to: map)
        if let wrap = view.wrap, isInDegrees { inMap = wrap.unrolled(inMap, fromDegrees: shown) }
        inMap = view.polarLimit?.held(inMap) ?? inMap
      } catch { throw .transform(error) }
      let turned = Camera.normalized(degrees: rotation ?? camera.rotation)
      guard
        let fitted = Camera.fitting(
          view.wrap?.narrowed(inMap) ?? inMap, rotation: turned, padding: padding, on: view.screen,
          metersPerUnit: view.metersPerUnit, scale: camera.scale)
      else { throw .emptyGeometry }
      return (fitted, .boundingGeometry(geometry, rotation: turned, reference: reference))
    case .center(let center, let reference):
      let point = try moved(center, reference)
      camera.x = point.x
      camera.y = point.y
      return (
        camera,
        .centerAndScale(center: center, scale: camera.scale, rotation: camera.rotation, reference: reference)
      )
    case .scale(let scale): camera.scale = scale
    case .rotation(let rotation): camera.rotation = Camera.normalized(degrees: rotation)
    case .camera(let scene):
      guard case .scene = view.content else { throw .cameraNeedsScene }
      return (try flattened(scene, on: view.screen), .camera(scene))
    case .bookmark(let id):
      guard let bookmark = try content(of: view.content).bookmarks.first(where: { $0.id == Text(id) }) else {
        throw .unknownItem(noun: "bookmark", id: id)
      }
      return try unchecked(bookmark.viewpoint.target, in: view)
    }
    if camera == view.camera { return (camera, view.viewpoint) }
    // Only a part changed: the center stays as it was given.
    guard
      case .centerAndScale(let center, _, _, let reference) = try view.viewpoint(
        as: .centerAndScale, in: nil, transformer)
    else { return (camera, view.viewpoint) }
    return (
      camera,
      .centerAndScale(center: center, scale: camera.scale, rotation: camera.rotation, reference: reference)
    )
  }

  /// All that the reference is made for, fitted to the screen.
  func worldCamera(
    in info: SpatialReferenceInfo, on screen: Screen
  ) throws(ModelError) -> (Camera, Viewpoint) {
    let area = info.areaOfUse ?? Envelope(xMin: -180, yMin: -90, xMax: 180, yMax: 90)
    do {
      // An area across the antimeridian is measured around its middle.
      let east = area.xMin > area.xMax ? area.xMax + 360 : area.xMax
      let box = Envelope(xMin: area.xMin, yMin: area.yMin, xMax: east, yMax: area.yMax)
      let extent = try transformer.bounds(of: box, from: .wgs84, to: info.reference)
      let camera = Camera.fitting(
        .multiPoint(Positions(values: [extent.xMin, extent.yMin, extent.xMax, extent.yMax])), rotation: 0, padding: 0,
        on: screen, metersPerUnit: info.metersPerUnit ?? metersPerDegree, scale: 1e8)
      guard let camera else { throw ModelError.emptyGeometry }
      let center = try transformer.transform(Point(x: camera.x, y: camera.y), from: info.reference, to: .wgs84)
      return (camera, .centerAndScale(center: center, scale: camera.scale, rotation: 0, reference: .wgs84))
    } catch let error as TransformError {
      throw .transform(error)
    } catch {
      throw .emptyGeometry
    }
  }
}
