// How views follow location sources, by their own displays and by those that they share.

import Geometry

extension World {
  // MARK: Displays that views share

  public mutating func createLocationDisplay(
    id: SharedLocationDisplayID?, owner: ObjectReference?, _ changes: [MemberChange]
  ) throws(ModelError) -> SharedLocationDisplay {
    try checkFree(id)
    try checkNesting(inOwner: owner)
    var draft = try SharedLocationDisplay(id: id ?? SharedLocationDisplayID(""), owner: owner).setting(changes)
    if let source = draft.settings.source { draft.follow(try locationSources.require(source), []) }
    var display = SharedLocationDisplay(id: try claim(id, prefix: "locationDisplay"), owner: owner)
    (display.settings, display.trailLength) = (draft.settings, draft.trailLength)
    (display.location, display.heading) = (draft.location, draft.heading)
    return insert(display)
  }

  public mutating func updateLocationDisplay(
    _ id: SharedLocationDisplayID, _ changes: [MemberChange]
  ) throws(ModelError) {
    let sources = locationSources
    _ = try locationDisplays.require(id)
    try update(id, changes) { (display, old, _) throws(ModelError) in
      if display.settings.source != old.settings.source {
        display.trail = []
        display.follow(try display.settings.source.map { (id) throws(ModelError) in try sources.require(id) }, [])
      } else {
        display.follow(old.settings.source.flatMap { sources[$0] }, [])
      }
    }
    for view in views(showing: id) { followNow(view) }
  }

  /// The views that show a display.
  private func views(showing id: SharedLocationDisplayID) -> [ViewID] {
    referrers(to: ObjectReference(.locationDisplays, id.rawValue), of: View.self).filter {
      views[$0]?.locationDisplay.shared == id
    }
  }

  /// Records that views have another display, as the one that they show has changed.
  mutating func tellViews(showing id: SharedLocationDisplayID, by origin: Origin? = nil) {
    for view in views(showing: id) {
      record(.changed(ObjectReference(.views, view.rawValue), .locationDisplay), by: origin)
      touch(view)
    }
  }

  /// Gives the views that show a display about to close their own back.
  mutating func forgetDisplay(_ id: SharedLocationDisplayID) {
    for view in views(showing: id) { changeKnown(view) { $0.locationDisplay.shared = nil } }
  }

  // MARK: Displays of views

  /// The display that a view shows: one that views share, or its own.
  public func locationDisplay(of view: View) -> LocationDisplay {
    guard let id = view.locationDisplay.shared, var shared = locationDisplays[id]?.settings else {
      return view.locationDisplay
    }
    shared.shared = id
    return shared
  }

  /// Changes how a view follows a location source; nil keeps a value. Changes the display that the view shows, if that is shared.
  public mutating func updateLocationDisplay(
    of id: ViewID, source: LocationSourceID? = nil, autoPanMode: AutoPanMode? = nil, wanderExtentFactor: Double? = nil,
    initialZoomScale: Double? = nil, navigationPointHeightFactor: Double? = nil, shared: SharedLocationDisplayID? = nil,
    clear: [String] = []
  ) throws(ModelError) {
    let view = try views.require(id)
    try check(clear, allowed: ["source", "display"])
    if let source { _ = try locationSources.require(source) }
    if let shared { _ = try locationDisplays.require(shared) }
    let shown = shared ?? (clear.contains("display") ? nil : view.locationDisplay.shared)
    changeKnown(id) { $0.locationDisplay.shared = shown }
    if let shown {
      var changes: [MemberChange] = []
      if clear.contains("source") { changes.append(MemberChange(.source, nil)) }
      if let source { changes.append(MemberChange("source", .text(source.rawValue))) }
      if let autoPanMode { changes.append(MemberChange(.autoPanMode, autoPanMode)) }
      if let wanderExtentFactor { changes.append(MemberChange(.wanderExtentFactor, wanderExtentFactor)) }
      if let initialZoomScale { changes.append(MemberChange(.initialZoomScale, initialZoomScale)) }
      if let navigationPointHeightFactor {
        changes.append(MemberChange(.navigationPointHeightFactor, navigationPointHeightFactor))
      }
      return try updateLocationDisplay(shown, changes)
    }
    changeKnown(id) {
      if clear.contains("source") { $0.locationDisplay.source = nil }
      if let source { $0.locationDisplay.source = source }
      if let wanderExtentFactor { $0.locationDisplay.wanderExtentFactor = wanderExtentFactor }
      if let initialZoomScale { $0.locationDisplay.initialZoomScale = initialZoomScale }
      if let navigationPointHeightFactor { $0.locationDisplay.navigationPointHeightFactor = navigationPointHeightFactor }
      if let autoPanMode { $0.locationDisplay.setMode(autoPanMode) }
    }
    followNow(id)
  }

  /// Changes the display that a view shows.
  mutating func setLocationDisplay(of id: ViewID, by origin: Origin? = nil, _ change: (inout LocationDisplay) -> Void) {
    guard let shared = views[id]?.locationDisplay.shared else {
      return changeKnown(id, by: origin) { change(&$0.locationDisplay) }
    }
    changeKnown(shared, by: origin) { change(&$0.settings) }
  }

  /// Ends the camera controller and auto-pan, as a movement of a view does that is not their own. Zooming alone does not end the
  /// navigation modes.
  mutating func endAutoPan(of id: ViewID, by movement: ViewMovement) {
    changeKnown(id) { $0.steering = nil }
    guard let view = views[id] else { return }
    switch locationDisplay(of: view).autoPanMode {
    case .off: return
    case .navigation, .compassNavigation: if movement == .zoom { return }
    case .recenter: break
    }
    setLocationDisplay(of: id) { $0.autoPanMode = .off }
  }

  // MARK: Following

  /// Detaches what shows a source that is about to close.
  mutating func forgetLocationSource(_ id: LocationSourceID) {
    for view in viewsFollowing(id) {
      changeKnown(view) {
        $0.locationDisplay.source = nil
        $0.locationDisplay.autoPanMode = .off
      }
    }
    for display in displaysFollowing(id) {
      changeKnown(display) {
        $0.settings.source = nil
        $0.settings.autoPanMode = .off
        $0.trail = []
        $0.follow(nil, [])
      }
    }
  }

  /// Displays and views follow what a source has published.
  ///
  /// - Parameter locations: all of the new ones; none where only the heading is new, or the last location is outdated.
  mutating func follow(_ id: LocationSourceID, _ locations: [Location], by origin: Origin?) {
    guard let source = locationSources[id] else { return }
    for display in displaysFollowing(id) {
      changeKnown(display, by: origin) { $0.follow(source, locations) }
      for view in views(showing: display) { follow(view, source) }
      if source.location != nil { changeKnown(display) { $0.settings.awaitsZoom = false } }
    }
    for view in viewsFollowing(id) { follow(view, source) }
  }

  private func displaysFollowing(_ source: LocationSourceID) -> [SharedLocationDisplayID] {
    referrers(to: ObjectReference(.locationSources, source.rawValue), of: SharedLocationDisplay.self).filter {
      locationDisplays[$0]?.settings.source == source
    }
  }

  /// The views whose own display uses the source.
  private func viewsFollowing(_ source: LocationSourceID) -> [ViewID] {
    referrers(to: ObjectReference(.locationSources, source.rawValue), of: View.self).filter {
      views[$0]?.locationDisplay.source == source
    }
  }

  private mutating func followNow(_ id: ViewID) {
    guard let view = views[id], let source = locationDisplay(of: view).source.flatMap({ locationSources[$0] }) else { return }
    follow(id, source)
    if source.location != nil, let shared = view.locationDisplay.shared {
      changeKnown(shared) { if $0.settings.autoPanMode != .off { $0.settings.awaitsZoom = false } }
    }
  }

  /// Moves a view after the location, as its display's mode asks.
  private mutating func follow(_ id: ViewID, _ source: LocationSource) {
    guard let view = views[id], let location = source.location, let position = location.position else { return }
    let display = locationDisplay(of: view)
    guard display.source == source.id, display.autoPanMode != .off else { return }
    let isMoving = location.speed ?? 0 > 0
    let up: Double? =
      switch display.autoPanMode {
      case .navigation: isMoving ? location.course : nil
      case .compassNavigation: source.heading
      case .recenter, .off: nil
      }
    if let steering = view.steering {
      let controller = steering.controller.moved(to: position, heading: up)
      if controller != steering.controller { aim(view, Steering(controller: controller, turnedAt: steering.turnedAt), by: .location) }
      return
    }
    // If the location has no coordinates in the map's reference, the view is unchanged.
    guard let point = try? center(position, from: .wgs84, of: view) else { return }
    var camera = view.camera
    if display.awaitsZoom { camera.scale = display.initialZoomScale }
    switch display.autoPanMode {
    case .off: return
    case .recenter:
      if !display.awaitsZoom {
        let screenPoint = view.screenPoint(nearest: point)
        let factor = display.wanderExtentFactor / 2
        let isInside =
          abs(screenPoint.x - view.screen.width / 2) <= view.screen.width * factor
          && abs(screenPoint.y - view.screen.height / 2) <= view.screen.height * factor
        if isInside, factor > 0 { return }
      }
      (camera.x, camera.y) = (point.x, point.y)
    case .navigation, .compassNavigation:
      if let up { camera.rotation = Camera.normalized(degrees: -up) }
      (camera.x, camera.y) = (point.x, point.y)
      // The center is as far above the location as the navigation point is below the middle of the screen.
      let screen = view.screen
      let center = camera.location(
        x: screen.width / 2, y: screen.height * display.navigationPointHeightFactor, on: screen,
        metersPerUnit: view.metersPerUnit)
      let bounded = view.polarLimit?.clamped(center) ?? center
      (camera.x, camera.y) = (bounded.x, view.reference.kind == .geographic ? min(max(bounded.y, -90), 90) : bounded.y)
      if let wrap = view.wrap { camera.x = wrap.normalized(camera.x) }
    }
    var target = camera.viewpoint(Point(x: position.x, y: position.y), .wgs84)
    if display.autoPanMode != .recenter {
      let map = view.reference.reference
      let center = try? transformer.transform(camera.center, from: map, to: .wgs84)
      target = camera.viewpoint(center ?? camera.center, center == nil ? map : .wgs84)
    }
    guard let (limited, viewpoint, _) = try? limited(camera, target, in: view) else { return }
    changeKnown(id) { $0.locationDisplay.awaitsZoom = $0.locationDisplay.awaitsZoom && $0.locationDisplay.shared != nil }
    guard limited != view.camera else { return }
    interruptAnimation(of: id, by: .location)
    setCamera(of: id, limited, viewpoint, by: .location)
  }
}
