// Views: created over a map or a scene, moved at once or over time, resized, closed.

import Geometry

extension World {
  @discardableResult
  public mutating func createView(
    id: ViewID?, over content: ViewContent, screen: Screen, viewpoint: ViewpointTarget?
  ) throws(ModelError) -> View {
    try checkFree(id)
    let info: SpatialReferenceInfo
    switch content {
    case .map(let map): info = try maps.require(map).reference
    case .scene(let scene):
      _ = try scenes.require(scene)
      info = try describe(.wgs84)
    }
    let (camera, start) = try worldCamera(in: info, on: screen)
    let wrap = WorldWrap(info, transformer)
    var view = View(
      id: id ?? ViewID(""), content: content, reference: info, wrap: wrap, screen: screen, viewpoint: start,
      camera: camera)
    if let viewpoint { (view.camera, view.viewpoint) = try resolve(viewpoint, in: view) }
    let claimed = try claim(id, prefix: "view")
    insert(
      View(
        id: claimed, content: content, reference: info, wrap: wrap, screen: screen, viewpoint: view.viewpoint,
        camera: view.camera))
    return try views.require(claimed)
  }

  /// Closes a view and its overlays; an animation under way has not arrived.
  public mutating func closeView(_ id: ViewID) throws(ModelError) {
    close(try views.require(id))
  }

  private mutating func close(_ view: View) {
    if let animation = view.animation { end(animation.process, .interrupted) }
    for overlay in view.overlays { remove(overlay) }
    remove(view.id)
  }

  /// Closes the views over a map or a scene that is about to go.
  mutating func closeViews(showing content: ObjectReference) {
    for view in views.values where view.content.reference == content { close(view) }
  }

  /// Another screen; center and scale stay. Nil leaves alone.
  public mutating func resizeView(_ id: ViewID, width: Double?, height: Double?, dpi: Double?) throws(ModelError) {
    try change(id) { (view) throws(ModelError) in
      let old = view.screen
      view.screen = Screen(width: width ?? old.width, height: height ?? old.height, dpi: dpi ?? old.dpi)
    }
  }

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
    let process = makeProcess()
    interruptAnimation(of: id)
    setLocationDisplay(of: id) { $0.autoPanMode = .off }
    guard duration > 0, camera != view.camera else {
      place(id, camera, viewpoint, by: origin)
      end(process, .completed)
      return process
    }
    let animation = Animation(
      process: process, start: clock.now, duration: duration, easing: easing, from: view.camera, to: camera,
      destination: viewpoint)
    changeKnown(id) { $0.animation = animation }
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
    let camera = Camera.between(animation.from, animation.to, at: way, wrap: view.wrap)
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
    return (camera, viewpoint)
  }

  private func unchecked(_ target: ViewpointTarget, in view: View) throws(ModelError) -> (Camera, Viewpoint) {
    var camera = view.camera
    let map = view.reference.reference
    func moved(_ point: Point, _ reference: SpatialReference) throws(ModelError) -> Point {
      do { return try transformer.transform(point, from: reference, to: map) } catch { throw .transform(error) }
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
      let inMap: Geometry
      do { inMap = try transformer.transform(geometry, from: reference, to: map) } catch { throw .transform(error) }
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
    }
    if camera == view.camera { return (camera, view.viewpoint) }
    // Only a part changed: the center stays as it was given.
    do {
      guard
        case .centerAndScale(let center, _, _, let reference) = try view.viewpoint(
          as: .centerAndScale, in: nil, transformer)
      else { return (camera, view.viewpoint) }
      return (
        camera,
        .centerAndScale(center: center, scale: camera.scale, rotation: camera.rotation, reference: reference)
      )
    } catch { throw .transform(error) }
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
