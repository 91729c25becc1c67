// Viewpoints of views: set at once or animated, and the camera for a target on a screen.

import Geometry

extension World {
  // MARK: Viewpoints

  /// Sets the viewpoint at once. Ends an animation and auto-pan, unless the view already has that viewpoint.
  public mutating func setViewpoint(of id: ViewID, to target: ViewpointTarget) throws(ModelError) {
    let view = try views.require(id)
    let (camera, viewpoint) = try resolve(target, in: view)
    // Clients echo viewpoints that they observe; an echo must end neither an animation nor auto-pan.
    guard camera != view.camera || viewpoint != view.viewpoint else { return }
    interruptAnimation(of: id)
    setLocationDisplay(of: id) { $0.autoPanMode = .off }
    setCamera(of: id, camera, viewpoint, by: origin)
  }

  /// Animates to a viewpoint over `duration` seconds.
  public mutating func animateViewpoint(
    of id: ViewID, to target: ViewpointTarget, duration: Double, easing: Easing
  ) throws(ModelError) -> ProcessID {
    let view = try views.require(id)
    let (camera, viewpoint) = try resolve(target, in: view)
    var sceneCameras: (from: SceneCamera, to: SceneCamera)?
    if view.viewpoint.kind == .camera || viewpoint.kind == .camera {
      var destination = view
      (destination.camera, destination.viewpoint) = (camera, viewpoint)
      sceneCameras = (try view.sceneCamera(), try destination.sceneCamera())
    }
    let process = makeProcess()
    interruptAnimation(of: id)
    setLocationDisplay(of: id) { $0.autoPanMode = .off }
    guard duration > 0, camera != view.camera || sceneCameras.map({ $0.from != $0.to }) ?? false else {
      setCamera(of: id, camera, viewpoint, by: origin)
      end(process, .completed)
      return process
    }
    let animation = Animation(
      process: process, start: clock.now, duration: duration, easing: easing, from: view.camera, to: camera,
      sceneCameras: sceneCameras, destination: viewpoint)
    changeKnown(id) { $0.animation = animation }
    return process
  }

  /// Stops an animation at its current camera, or waiting for the start of a location source. False if the process has ended.
  public mutating func cancel(_ process: ProcessID) -> Bool {
    for view in moving(View.self).compactMap({ views[$0] }) where view.animation?.process == process {
      changeKnown(view.id) { $0.animation = nil }
      end(process, .cancelled)
      return true
    }
    return cancelStart(process)
  }

  /// Stops all animations at their current cameras.
  public mutating func interruptAllAnimations() {
    for id in moving(View.self) { interruptAnimation(of: id) }
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
    let progress = animation.easing.progress(at: max(0, elapsed / animation.duration))
    if let (from, to) = animation.sceneCameras {
      let between = SceneCamera.between(from, to, at: progress)
      if let camera = try? flattened(between, on: view.screen) {
        setCamera(of: id, camera, .camera(between), by: .animation)
      }
      return
    }
    var camera = Camera.between(animation.from, animation.to, at: progress, wrap: view.wrap)
    camera.scale = clamped(camera.scale, in: view)
    let reference = animation.destination.reference
    // The interpolated center may have no coordinates in the destination's reference; the map's reference is used then.
    let center = try? transformer.transform(camera.center, from: view.reference.reference, to: reference)
    let viewpoint = camera.viewpoint(
      center ?? camera.center, center == nil ? view.reference.reference : reference)
    setCamera(of: id, camera, viewpoint, by: .animation)
  }

  mutating func setCamera(of id: ViewID, _ camera: Camera, _ viewpoint: Viewpoint, by origin: Origin) {
    changeKnown(id, by: origin) {
      $0.camera = camera
      $0.viewpoint = viewpoint
    }
  }

  // MARK: Resolving

  /// The camera of a target in map units, and the viewpoint that a view keeps for it.
  func resolve(_ target: ViewpointTarget, in view: View) throws(ModelError) -> (Camera, Viewpoint) {
    var (camera, viewpoint) = try unchecked(target, in: view)
    if let wrap = view.wrap { camera.x = wrap.normalized(camera.x) }
    guard camera.isValid else {
      throw .invalidGeometry(
        expected:
          "a viewpoint with finite coordinates and a scale in \(Camera.scales.lowerBound)...\(Camera.scales.upperBound)"
      )
    }
    return try clamped(camera, viewpoint, in: view)
  }

  /// The scale clamped to the range of the map or scene.
  func clamped(_ scale: Double, in view: View) -> Double { (try? content(of: view.content))?.clamped(scale) ?? scale }

  /// The camera and viewpoint with the scale clamped to the range of the map or scene; the center stays.
  func clamped(_ camera: Camera, _ viewpoint: Viewpoint, in view: View) throws(ModelError) -> (Camera, Viewpoint) {
    let scale = clamped(camera.scale, in: view)
    guard scale != camera.scale else { return (camera, viewpoint) }
    var camera = camera
    if case .camera(let scene) = viewpoint {
      guard !SceneCamera.isSame(camera.scale, scale) else { return (camera, viewpoint) }
      let moved = try dollied(scene, by: scale / camera.scale)
      return (try flattened(moved, on: view.screen), .camera(moved))
    }
    camera.scale = scale
    if case .centerAndScale(let center, _, let rotation, let reference) = viewpoint {
      return (camera, .centerAndScale(center: center, scale: scale, rotation: rotation, reference: reference))
    }
    // A viewpoint by a bounding geometry would imply a scale other than the clamped one.
    do {
      let center = try transformer.transform(
        camera.center, from: view.reference.reference, to: viewpoint.reference)
      return (camera, camera.viewpoint(center, viewpoint.reference))
    } catch { throw .transform(error) }
  }

  /// The viewpoint that views of a map or scene would keep for a target, checked on a default screen.
  func checked(_ target: ViewpointTarget, in content: ViewContent) throws(ModelError) -> Viewpoint {
    let draft = try draft(over: content, screen: Screen())
    let (camera, viewpoint) = try unchecked(target, in: draft)
    guard camera.isValid else { throw .invalidGeometry(expected: "a viewpoint with finite coordinates and scale") }
    return viewpoint
  }

  /// A center in map units. If poles are at infinity, its latitude is clamped, as for boxes.
  func center(
    _ point: Point, from reference: SpatialReference, of view: View
  ) throws(TransformError) -> Point {
    let map = view.reference.reference
    guard let limit = view.polarLimit else { return try transformer.transform(point, from: reference, to: map) }
    let isInDegrees = try transformer.describe(reference).kind == .geographic
    let clamped = isInDegrees ? limit.clamped(degrees: point) : point
    return limit.clamped(try transformer.transform(clamped, from: reference, to: map))
  }

  func unchecked(_ target: ViewpointTarget, in view: View) throws(ModelError) -> (Camera, Viewpoint) {
    var camera = view.camera
    func projected(_ point: Point, _ reference: SpatialReference) throws(ModelError) -> Point {
      let center: Point
      do { center = try self.center(point, from: reference, of: view) } catch { throw .transform(error) }
      guard view.reference.kind != .geographic || abs(center.y) <= 90 else {
        throw .invalidGeometry(expected: "a center with a latitude in -90...90")
      }
      return center
    }
    switch target {
    case .centerAndScale(let center, let scale, let rotation, let reference):
      let point = try projected(center, reference)
      camera = Camera(
        x: point.x, y: point.y, scale: scale, rotation: Camera.normalized(degrees: rotation ?? camera.rotation))
      return (camera, camera.viewpoint(center, reference))
    case .boundingGeometry(let geometry, let padding, let rotation, let reference):
      let fitted = try fitted(geometry, padding: padding, rotation: rotation, reference, in: view)
      return (fitted, .boundingGeometry(geometry, rotation: fitted.rotation, reference: reference))
    case .boundingBox(let box, let padding, let rotation, let reference):
      let fitted = try fitted(Geometry(box), padding: padding, rotation: rotation, reference, in: view)
      return (fitted, .boundingBox(box, rotation: fitted.rotation, reference: reference))
    case .center(let center, let reference):
      let point = try projected(center, reference)
      (camera.x, camera.y) = (point.x, point.y)
      return (camera, camera.viewpoint(center, reference))
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
    // If only scale or rotation changed, the center keeps its coordinates and reference.
    guard
      case .centerAndScale(let center, _, _, let reference) = try view.viewpoint(
        as: .centerAndScale, in: nil, transformer)
    else { return (camera, view.viewpoint) }
    return (camera, camera.viewpoint(center, reference))
  }

  /// The camera of a view that shows all of a geometry.
  private func fitted(
    _ geometry: Geometry, padding: Double, rotation: Double?, _ reference: SpatialReference, in view: View
  ) throws(ModelError) -> Camera {
    guard !geometry.isEmpty else { throw .emptyGeometry }
    try view.screen.checkPadding(padding)
    var inMap: Geometry
    do {
      let isInDegrees = try transformer.describe(reference).kind == .geographic
      let clamped = isInDegrees ? view.polarLimit?.clamped(degrees: geometry) ?? geometry : geometry
      inMap = try transformer.transform(clamped, from: reference, to: view.reference.reference)
      if let wrap = view.wrap, isInDegrees { inMap = wrap.unrolled(inMap, fromDegrees: clamped) }
      inMap = view.polarLimit?.clamped(inMap) ?? inMap
    } catch { throw .transform(error) }
    guard
      var fitted = Camera.fitting(
        view.wrap?.narrowed(inMap) ?? inMap, rotation: Camera.normalized(degrees: rotation ?? view.camera.rotation),
        padding: padding, on: view.screen, metersPerUnit: view.metersPerUnit, scale: view.camera.scale)
    else { throw .emptyGeometry }
    // A box may extend beyond a pole; a center cannot.
    if view.reference.kind == .geographic { fitted.y = min(max(fitted.y, -90), 90) }
    return fitted
  }

  /// The area of use of a spatial reference, fitted to the screen.
  func worldCamera(
    in info: SpatialReferenceInfo, on screen: Screen
  ) throws(ModelError) -> (Camera, Viewpoint) {
    let area = info.areaOfUse ?? Envelope(xMin: -180, yMin: -90, xMax: 180, yMax: 90)
    do {
      // An area across the antimeridian has xMin > xMax; with xMax a turn further east, its center can be computed.
      let east = area.xMin > area.xMax ? area.xMax + 360 : area.xMax
      let box = Envelope(xMin: area.xMin, yMin: area.yMin, xMax: east, yMax: area.yMax)
      let extent = try transformer.bounds(of: box, from: .wgs84, to: info.reference)
      let camera = Camera.fitting(
        .multiPoint(Positions(values: [extent.xMin, extent.yMin, extent.xMax, extent.yMax])), rotation: 0, padding: 0,
        on: screen, metersPerUnit: info.metersPerUnit ?? metersPerDegree, scale: 1e8)
      guard let camera else { throw ModelError.emptyGeometry }
      let center = try transformer.transform(camera.center, from: info.reference, to: .wgs84)
      return (camera, camera.viewpoint(center, .wgs84))
    } catch let error as TransformError {
      throw .transform(error)
    } catch {
      throw .emptyGeometry
    }
  }
}
