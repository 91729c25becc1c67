// Viewpoints of views: set at once or animated, and the camera for a target on a screen.

import Geometry

extension World {
  // MARK: Viewpoints

  /// Sets the viewpoint at once. Ends an animation and auto-pan, unless the view already has that viewpoint.
  ///
  /// - Returns: whether limits moved the target.
  @discardableResult
  public mutating func setViewpoint(of id: ViewID, to target: ViewpointTarget) throws(ModelError) -> Bool {
    let view = try views.require(id)
    let (camera, viewpoint, isConstrained) = try resolve(target, in: view)
    // Clients echo viewpoints that they observe; an echo must end neither an animation nor auto-pan.
    guard camera != view.camera || viewpoint != view.viewpoint else { return isConstrained }
    interruptAnimation(of: id, by: .viewpoint)
    endAutoPan(of: id, by: view.movement(to: camera))
    setCamera(of: id, camera, viewpoint, by: origin)
    return isConstrained
  }

  /// Animates to a viewpoint.
  public mutating func animateViewpoint(
    of id: ViewID, to target: ViewpointTarget, _ timing: AnimationTiming = AnimationTiming()
  ) throws(ModelError) -> ProcessID {
    let view = try views.require(id)
    let (camera, viewpoint, isConstrained) = try resolve(target, in: view)
    let process = makeProcess()
    let animation = try animation(
      process, of: view, to: (camera, viewpoint), timing, fit: target.fit(of: viewpoint), isConstrained: isConstrained)
    interruptAnimation(of: id, by: .animation)
    endAutoPan(of: id, by: view.movement(to: camera))
    guard animation.duration > 0, camera != view.camera || animation.sceneCameras.map({ $0.from != $0.to }) ?? false
    else {
      setCamera(of: id, camera, viewpoint, by: origin)
      end(process, isConstrained ? .constrained : .completed)
      return process
    }
    if let rate = timing.rate { clock.raise(frameRate: rate) }
    changeKnown(id) { $0.animation = animation }
    return process
  }

  /// An animation from where a view is now.
  func animation(
    _ process: ProcessID?, of view: View, to destination: (camera: Camera, viewpoint: Viewpoint),
    _ timing: AnimationTiming, fit: ViewpointTarget?, isConstrained: Bool
  ) throws(ModelError) -> Animation {
    var sceneCameras: (from: SceneCamera, to: SceneCamera)?
    if view.viewpoint.kind == .camera || destination.viewpoint.kind == .camera {
      var end = view
      (end.camera, end.viewpoint) = destination
      sceneCameras = (try view.sceneCamera(), try end.sceneCamera())
    }
    var to = destination.camera
    // The short way may lead across the edge of the world.
    if let wrap = view.wrap { to.x += wrap.shift(to.x, nearest: view.camera.x) }
    let path: FlightPath? =
      switch (timing.easing, sceneCameras) {
      case (.flight, let (from, to)?): from.flight(to: to, rho: timing.rho, geodesy)
      case (.flight, nil): view.flight(to: to, rho: timing.rho)
      case (.linear, _), (.easeIn, _), (.easeOut, _), (.easeInOut, _): nil
      }
    return Animation(
      process: process, start: clock.now, duration: timing.duration(along: path), timing: timing, from: view.camera,
      to: to, path: path, sceneCameras: sceneCameras, destination: destination, fit: fit, isConstrained: isConstrained)
  }

  /// A running animation over a screen that has changed: if its target is then another camera, it goes there from where it is,
  /// in the time that is left.
  func refitted(_ running: Animation, in view: View) throws(ModelError) -> Animation {
    guard let fit = running.fit else { return running }
    let (camera, viewpoint, isConstrained) = try resolve(fit, in: view)
    guard camera != running.destination.camera else { return running }
    var timing = running.timing
    timing.duration = max(running.duration - clock.now.seconds(since: running.start), 0)
    return try animation(
      running.process, of: view, to: (camera, viewpoint), timing, fit: fit, isConstrained: isConstrained)
  }

  /// Stops an animation at its current camera, waiting for the start of a location source, or an advance of the clock. False if the
  /// process has ended.
  public mutating func cancel(_ process: ProcessID) -> Bool {
    if let advance, advance.process == process {
      end(process: advance, .cancelled)
      return true
    }
    for view in moving(View.self).compactMap({ views[$0] }) where view.animation?.process == process {
      changeKnown(view.id) { $0.animation = nil }
      end(process, .cancelled)
      return true
    }
    return cancelStart(process) || cancelGeotriggerStart(process)
  }

  /// Stops all animations and turning cameras where they are, at the end of a session.
  public mutating func interruptAllAnimations() {
    for id in moving(View.self) {
      interruptAnimation(of: id, by: .closed)
      changeKnown(id) { $0.steering = nil }
    }
  }

  /// Stops an animation at its current camera.
  mutating func interruptAnimation(of id: ViewID, by cause: Interruption.Cause) {
    guard let animation = views[id]?.animation else { return }
    changeKnown(id, by: cause == .location ? .location : nil) { $0.animation = nil }
    end(animation, cause)
  }

  /// Ends the process of an interrupted animation.
  mutating func end(_ animation: Animation, _ cause: Interruption.Cause) {
    guard let process = animation.process else { return }
    end(process, .interrupted(Interruption(cause: cause, origin: cause == .location ? .location : origin)))
  }

  /// Ends a process because its object was stopped or closed.
  mutating func interrupt(_ process: ProcessID) { end(process, .interrupted(Interruption(cause: .closed, origin: origin))) }

  mutating func advance(_ animation: Animation, of view: View) {
    let (id, elapsed) = (view.id, clock.now.seconds(since: animation.start))
    guard elapsed < animation.duration else {
      changeKnown(id, by: .animation) {
        $0.animation = nil
        ($0.camera, $0.viewpoint) = animation.destination
      }
      if animation.timing.rate != nil { lowerFrameRate() }
      if let process = animation.process { end(process, animation.isConstrained ? .constrained : .completed) }
      return
    }
    let frame = animation.frame(after: elapsed)
    if let frame, frame <= animation.frame { return }
    let (camera, viewpoint) = self.frame(of: animation, after: elapsed, in: view)
    changeKnown(id, by: .animation) {
      ($0.camera, $0.viewpoint) = (camera, viewpoint)
      if let frame { $0.animation?.frame = frame }
    }
  }

  private func frame(of animation: Animation, after elapsed: Double, in view: View) -> (Camera, Viewpoint) {
    let position = animation.position(after: elapsed)
    if let (from, to) = animation.sceneCameras {
      let between = SceneCamera.between(from, to, at: position)
      return (try? flattened(between, on: view.screen)).map { ($0, .camera(between)) } ?? (view.camera, view.viewpoint)
    }
    var camera = view.placed(.between(animation.from, animation.to, at: position))
    if let content = try? content(of: view.content) { camera = content.limited(camera, in: view) }
    return (camera, viewpoint(of: camera, in: view, animation.destination.viewpoint.reference))
  }

  /// The clock ticks as fast as the fastest animation that is left asks for.
  private mutating func lowerFrameRate() {
    guard clock.frameRate != nil else { return }
    let rates = moving(View.self).compactMap { views[$0]?.animation?.timing.rate }
    if rates.isEmpty { clock.raise(frameRate: nil) }
  }

  /// A computed viewpoint in a reference; in the map's if the center has no coordinates there.
  func viewpoint(of camera: Camera, in view: View, _ reference: SpatialReference) -> Viewpoint {
    let map = view.reference.reference
    if let center = try? transformer.transform(camera.center, from: map, to: reference) {
      return camera.viewpoint(center, reference)
    }
    return camera.viewpoint(camera.center, map)
  }

  mutating func setCamera(of id: ViewID, _ camera: Camera, _ viewpoint: Viewpoint, by origin: Origin) {
    changeKnown(id, by: origin) {
      $0.camera = camera
      $0.viewpoint = viewpoint
    }
  }

  // MARK: Resolving

  /// The camera of a target in map units, the viewpoint that a view keeps for it, and whether limits moved it.
  func resolve(
    _ target: ViewpointTarget, in view: View
  ) throws(ModelError) -> (Camera, Viewpoint, isConstrained: Bool) {
    var (camera, viewpoint) = try unchecked(target, in: view)
    if let wrap = view.wrap { camera.x = wrap.normalized(camera.x) }
    guard camera.isValid else {
      throw .invalidGeometry(
        expected:
          "a viewpoint with finite coordinates and a scale in \(Camera.scales.lowerBound)...\(Camera.scales.upperBound)"
      )
    }
    return try limited(camera, viewpoint, in: view)
  }

  /// The camera and viewpoint within the scale range and the maximum extent of the map or scene.
  func limited(
    _ camera: Camera, _ viewpoint: Viewpoint, in view: View
  ) throws(ModelError) -> (Camera, Viewpoint, isConstrained: Bool) {
    guard let content = try? content(of: view.content) else { return (camera, viewpoint, false) }
    if case .camera(let scene) = viewpoint { return try limited(camera, scene, to: content, in: view) }
    let limited = content.limited(camera, in: view)
    guard limited != camera else { return (camera, viewpoint, false) }
    if limited.center == camera.center, case .centerAndScale(let center, _, _, let reference) = viewpoint {
      return (limited, limited.viewpoint(center, reference), true)
    }
    // A viewpoint by a bounding geometry would imply another camera.
    do {
      let center = try transformer.transform(
        limited.center, from: view.reference.reference, to: viewpoint.reference)
      return (limited, limited.viewpoint(center, viewpoint.reference), true)
    } catch { throw .transform(error) }
  }

  /// The camera of a scene with its scale in the range, looking at a point within the maximum extent.
  private func limited(
    _ camera: Camera, _ scene: SceneCamera, to content: MapContent, in view: View
  ) throws(ModelError) -> (Camera, Viewpoint, isConstrained: Bool) {
    var (camera, scene, isConstrained) = (camera, scene, false)
    let scale = content.clamped(camera.scale)
    if !SceneCamera.isSame(camera.scale, scale) {
      scene = try dollied(scene, by: scale / camera.scale)
      (camera, isConstrained) = (try flattened(scene, on: view.screen), true)
    }
    var limited = content.limited(camera, in: view)
    limited.scale = camera.scale
    guard limited.center != camera.center else { return (camera, .camera(scene), isConstrained) }
    scene = try sceneCamera(over: limited, like: scene, on: view.screen)
    return (try flattened(scene, on: view.screen), .camera(scene), true)
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
    _ geometry: Geometry, padding: Insets, rotation: Double?, _ reference: SpatialReference, in view: View
  ) throws(ModelError) -> Camera {
    guard !geometry.isEmpty else { throw .emptyGeometry }
    try view.screen.check(padding)
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

  /// The area of use of a spatial reference, fitted to the screen; where longitudes and latitudes of WGS 84 have no place, what is around 0, 0.
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
        .multiPoint(Positions(values: [extent.xMin, extent.yMin, extent.xMax, extent.yMax])), rotation: 0, padding: Insets(),
        on: screen, metersPerUnit: info.metersPerUnit ?? metersPerDegree, scale: 1e8)
      guard let camera else { throw ModelError.emptyGeometry }
      let center = try transformer.transform(camera.center, from: info.reference, to: .wgs84)
      return (camera, camera.viewpoint(center, .wgs84))
    } catch TransformError.noOperation {
      // Of another celestial body.
      let camera = Camera(x: 0, y: 0, scale: 1e8, rotation: 0)
      return (camera, camera.viewpoint(camera.center, info.reference))
    } catch let error as TransformError {
      throw .transform(error)
    } catch {
      throw .emptyGeometry
    }
  }
}

extension ViewpointTarget {
  /// The target to fit again when the screen changes; nil if its camera does not depend on the screen.
  ///
  /// - Parameter viewpoint: what it was resolved to.
  fileprivate func fit(of viewpoint: Viewpoint) -> ViewpointTarget? {
    switch (self, viewpoint) {
    case (.boundingGeometry(let it, let padding, _, let reference), .boundingGeometry(_, let rotation, _)):
      .boundingGeometry(it, padding: padding, rotation: rotation, reference: reference)
    case (.boundingBox(let box, let padding, _, let reference), .boundingBox(_, let rotation, _)):
      .boundingBox(box, padding: padding, rotation: rotation, reference: reference)
    case (_, .centerAndScale): nil
    case (_, .boundingGeometry), (_, .boundingBox), (_, .camera): viewpoint.target
    }
  }
}

extension View {
  /// The path of a flight to another camera. The window is as wide as the longer side of the screen.
  fileprivate func flight(to end: Camera, rho: Double) -> FlightPath {
    func width(_ camera: Camera) -> Double {
      max(screen.width, screen.height) * camera.resolution(on: screen, metersPerUnit: metersPerUnit)
    }
    let (dx, dy) = (end.x - camera.x, end.y - camera.y)
    return FlightPath(
      distance: (dx * dx + dy * dy).squareRoot(), from: width(camera), to: width(end), rho: rho)
  }
}
