// How views follow location sources.

import Geometry

extension World {
  /// Changes how a view follows a location source; nil keeps a value.
  public mutating func updateLocationDisplay(
    of id: ViewID, source: LocationSourceID? = nil, autoPanMode: AutoPanMode? = nil, wanderExtentFactor: Double? = nil,
    initialZoomScale: Double? = nil, clear: [String] = []
  ) throws(ModelError) {
    _ = try views.require(id)
    try check(clear, allowed: ["source"])
    if let source { _ = try locationSources.require(source) }
    setLocationDisplay(of: id) {
      if clear.contains("source") { $0.source = nil }
      if let source { $0.source = source }
      if let wanderExtentFactor { $0.wanderExtentFactor = wanderExtentFactor }
      if let initialZoomScale { $0.initialZoomScale = initialZoomScale }
      if let autoPanMode {
        if $0.autoPanMode == .off, autoPanMode != .off { $0.awaitsZoom = true }
        $0.autoPanMode = autoPanMode
      }
    }
    if let view = views[id], let source = view.locationDisplay.source, view.locationDisplay.autoPanMode != .off,
      let position = locationSources[source]?.location?.position
    {
      follow(view, to: position)
    }
  }

  /// Detaches what shows a source that is about to close.
  mutating func forgetLocationSource(_ id: LocationSourceID) {
    for view in viewsFollowing(id) {
      setLocationDisplay(of: view.id) {
        $0.source = nil
        $0.autoPanMode = .off
      }
    }
  }

  mutating func setLocationDisplay(of id: ViewID, _ change: (inout LocationDisplay) -> Void) {
    changeKnown(id) { change(&$0.locationDisplay) }
  }

  mutating func follow(_ source: LocationSourceID, to position: Point) {
    for view in viewsFollowing(source) where view.locationDisplay.autoPanMode != .off { follow(view, to: position) }
  }

  /// The views whose location display uses the source.
  private func viewsFollowing(_ source: LocationSourceID) -> [View] {
    referrers(to: ObjectReference(.locationSources, source.rawValue), of: View.self).compactMap { views[$0] }
      .filter { $0.locationDisplay.source == source }
  }

  /// Recenters the view if the location is outside the wander extent, or is the first since auto-pan began.
  private mutating func follow(_ view: View, to position: Point) {
    let display = view.locationDisplay
    // If the location has no coordinates in the map's reference, the view is unchanged.
    guard let point = try? center(position, from: .wgs84, of: view) else { return }
    var camera = view.camera
    if !display.awaitsZoom {
      let screenPoint = view.screenPoint(nearest: point)
      let factor = display.wanderExtentFactor / 2
      let isInside =
        abs(screenPoint.x - view.screen.width / 2) <= view.screen.width * factor
        && abs(screenPoint.y - view.screen.height / 2) <= view.screen.height * factor
      if isInside, factor > 0 { return }
    }
    camera.x = point.x
    camera.y = point.y
    if display.awaitsZoom { camera.scale = display.initialZoomScale }
    let here = camera.viewpoint(Point(x: position.x, y: position.y), .wgs84)
    guard let (camera, viewpoint, _) = try? limited(camera, here, in: view) else { return }
    changeKnown(view.id) { $0.locationDisplay.awaitsZoom = false }
    interruptAnimation(of: view.id, by: .location)
    setCamera(of: view.id, camera, viewpoint, by: .location)
  }
}
