// Location sources: created, started, advanced by the clock, stopped; and the views that follow them.

import Geometry

extension World {
  @discardableResult
  public mutating func createSimulatedLocationSource(
    id: LocationSourceID?, line: Geometry, reference: SpatialReference, velocity: Double, interval: Double,
    startTime: Instant?, loops: Bool, owner: ObjectReference? = nil
  ) throws(ModelError) -> LocationSource {
    try checkFree(id)
    try checkNesting(inOwner: owner)
    guard case .lineString(let positions) = line else { throw .invalidGeometry(expected: "LineString") }
    guard !positions.isEmpty else { throw .emptyGeometry }
    let drive: Drive?
    do {
      var converted = positions
      if reference != .wgs84,
        case .lineString(let wgs84) = try transformer.transform(line, from: reference, to: .wgs84)
      {
        converted = wgs84
      }
      drive = try Drive(converted, geodesy)
    } catch { throw .transform(error) }
    guard let drive else { throw .invalidGeometry(expected: "LineString with at least two different positions") }
    let id = try claim(id, prefix: "location")
    return insert(
      LocationSource(
        id: id, velocity: velocity, interval: interval, loops: loops, owner: owner, drive: drive, startTime: startTime))
  }

  /// Starts or resumes a source; one that has ended starts again. The first location is emitted at the next tick.
  public mutating func startLocationSource(_ id: LocationSourceID) throws(ModelError) -> ProcessID {
    let source = try locationSources.require(id)
    let process = makeProcess()
    if source.status != .started {
      let now = clock.now
      changeKnown(id) {
        if $0.hasEnded {
          $0.emitted = 0
          $0.firstTimestamp = nil
        }
        $0.status = .started
        $0.resumedAt = now
        $0.emittedAtResume = $0.emitted
        if $0.firstTimestamp == nil { $0.firstTimestamp = $0.startTime ?? now }
      }
    }
    end(process, .completed)
    return process
  }

  public mutating func stopLocationSource(_ id: LocationSourceID) throws(ModelError) -> ProcessID {
    _ = try locationSources.require(id)
    let process = makeProcess()
    stop(id)
    end(process, .completed)
    return process
  }

  private mutating func stop(_ id: LocationSourceID, by origin: Origin? = nil) {
    guard locationSources[id]?.status == .started else { return }
    changeKnown(id, by: origin) {
      $0.status = .stopped
      $0.resumedAt = nil
    }
  }

  public mutating func closeLocationSource(_ id: LocationSourceID) throws(ModelError) {
    _ = try locationSources.require(id)
    for view in viewsFollowing(id) {
      setLocationDisplay(of: view.id) {
        $0.source = nil
        $0.autoPanMode = .off
      }
    }
    remove(id)
  }

  /// Stops all location sources.
  public mutating func stopAllLocationSources() {
    for id in moving(LocationSource.self) { stop(id) }
  }

  /// Publishes the locations up to the current time.
  mutating func advance(_ id: LocationSourceID) {
    while let source = locationSources[id], let time = source.nextTime, time <= clock.now {
      var distance = Double(source.emitted) * source.interval * source.velocity
      let hasEnded = !source.loops && distance >= source.drive.length
      if source.loops { distance = distance.truncatingRemainder(dividingBy: source.drive.length) }
      guard let (position, course) = try? source.drive.position(at: distance, geodesy) else { return }
      let location = Location(
        timestamp: source.firstTimestamp?.advanced(by: Double(source.emitted) * source.interval), position: position,
        speed: source.velocity, course: course)
      changeKnown(id, by: .location) {
        $0.location = location
        $0.emitted += 1
      }
      follow(id, to: position)
      if hasEnded { stop(id, by: .location) }
    }
  }

  // MARK: Location displays

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

  mutating func setLocationDisplay(of id: ViewID, _ change: (inout LocationDisplay) -> Void) {
    changeKnown(id) { change(&$0.locationDisplay) }
  }

  private mutating func follow(_ source: LocationSourceID, to position: Point) {
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
    camera.scale = clamped(camera.scale, in: view)
    changeKnown(view.id) { $0.locationDisplay.awaitsZoom = false }
    interruptAnimation(of: view.id, by: .location)
    let viewpoint = camera.viewpoint(Point(x: position.x, y: position.y), .wgs84)
    setCamera(of: view.id, camera, viewpoint, by: .location)
  }
}
