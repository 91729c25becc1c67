// Simulated location sources, and views that follow them.

import GeoModel
import Geometry
import Testing

struct LocationTests {
  private var world = World.manual()

  /// One degree along the equator, 111,319.490793 m, eastward.
  private static let equator = Geometry.lineString(Positions(values: [0, 0, 1, 0]))

  @discardableResult
  private mutating func drive(
    _ id: LocationSourceID = "d", along line: Geometry = LocationTests.equator, velocity: Double = 1000,
    interval: Double = 1, startTime: Instant? = nil, loops: Bool = false, start: Bool = true
  ) throws -> LocationSourceID {
    try world.run {
      try $0.createSimulatedLocationSource(
        id: id, line: line, reference: .wgs84, velocity: velocity, interval: interval, startTime: startTime,
        loops: loops)
    }
    if start { _ = try world.run { try $0.startLocationSource(id) } }
    return id
  }

  private func location(_ id: LocationSourceID = "d") throws -> Location {
    try #require(world.locationSources[id]?.location)
  }

  private func metres(from start: Point, to end: Point) throws -> Double {
    try proj.inverse(from: start, to: end).distance
  }

  @Test mutating func `a source emits one location per interval, by its velocity along the ellipsoid`() throws {
    try drive()
    #expect(world.locationSources["d"]?.location == nil)
    #expect(world.locationSources["d"]?.status == .started)
    world.advance(seconds: 10)
    let location = try location()
    let position = try #require(location.position)
    #expect(abs(try metres(from: Point(x: 0, y: 0), to: position) - 10_000) < 1e-6)
    #expect(abs(position.x - 10_000 / 111_319.490_793) < 1e-9)
    #expect(position.y == 0)
    #expect(location.speed == 1000)
    #expect(location.course == 90)
    #expect(location.horizontalAccuracy == 0)
    #expect(!location.isLastKnown)
    #expect(location.timestamp?.text == "2000-01-01T00:00:10.000Z")
    // One at the start and ten more.
    #expect(world.takeChangeDescriptions().filter { $0 == "locationSources/d.location" }.count == 11)
  }

  @Test mutating func `its locations and its end have the origin of the location`() throws {
    try drive(velocity: 100_000)
    _ = world.takeChanges()
    world.advance(seconds: 3)
    let changes = world.takeChanges()
    #expect(!changes.isEmpty)
    #expect(changes.allSatisfy { $0.origin == .location })
    #expect(world.locationSources["d"]?.status == .stopped)
  }

  @Test mutating func `the course follows the line around bends`() throws {
    try drive(along: .lineString(Positions(values: [0, 0, 0, 1, 0, 1, 1, 1])), velocity: 10_000)
    world.advance(seconds: 5)
    #expect(try location().course == 0)
    // 110,574 m to the north, then eastward.
    world.advance(seconds: 7)
    let after = try location()
    #expect(abs(try #require(after.course) - 90) < 0.1)
    #expect(abs(try metres(from: Point(x: 0, y: 1), to: try #require(after.position)) - (120_000 - 110_574.3886)) < 0.1)
  }

  @Test mutating func `a line across the antimeridian takes the short way`() throws {
    try drive(along: .lineString(Positions(values: [179.5, 0, -179.5, 0])), velocity: 100_000)
    world.advance(seconds: 1)
    let position = try #require(try location().position)
    #expect(abs(abs(position.x) - 179.6) < 0.01)
    #expect(position.x < 0)
    #expect(try location().course == 90)
  }

  @Test mutating func `it stops at the end of the line`() throws {
    try drive(velocity: 50_000)
    world.advance(seconds: 3)
    let end = try location()
    #expect(end.position == Point(x: 1, y: 0))
    #expect(world.locationSources["d"]?.status == .stopped)
    #expect(!world.isMoving)
    world.advance(seconds: 10)
    #expect(try location() == end)
  }

  @Test mutating func `a looping source starts again`() throws {
    try drive(velocity: 50_000, loops: true)
    world.advance(seconds: 3)
    let position = try #require(try location().position)
    #expect(abs(try metres(from: Point(x: 0, y: 0), to: position) - (150_000 - 111_319.490_793)) < 1e-3)
    #expect(world.locationSources["d"]?.status == .started)
    #expect(try location().timestamp?.text == "2000-01-01T00:00:03.000Z")
  }

  @Test mutating func `a source that is stopped and started again continues`() throws {
    try drive()
    world.advance(seconds: 4.5)
    _ = try world.run { try $0.stopLocationSource("d") }
    let stopped = try location()
    world.advance(seconds: 100)
    #expect(try location() == stopped)
    _ = try world.run { try $0.startLocationSource("d") }
    world.advance(seconds: 1.5)
    #expect(abs(try metres(from: Point(x: 0, y: 0), to: try #require(try location().position)) - 6_000) < 1e-6)
    let ends = world.takeEndedProcesses()
    #expect(ends.count == 3)
    #expect(ends.allSatisfy { $0.1 == .completed })
  }

  @Test mutating func `starting or stopping twice records nothing twice`() throws {
    try drive()
    _ = world.takeChanges()
    _ = try world.run { try $0.startLocationSource("d") }
    #expect(!world.hasChanges)
    _ = try world.run { try $0.stopLocationSource("d") }
    #expect(world.takeChangeDescriptions() == ["locationSources/d.status"])
    _ = try world.run { try $0.stopLocationSource("d") }
    #expect(!world.hasChanges)
  }

  @Test mutating func `several locations in one tick are all emitted, in order`() throws {
    try drive(interval: 0.01)
    _ = world.takeChanges()
    world.advance(seconds: 0.1)
    #expect(world.takeChangeDescriptions().filter { $0 == "locationSources/d.location" }.count == 11)
    #expect(abs(try metres(from: Point(x: 0, y: 0), to: try #require(try location().position)) - 100) < 1e-6)
  }

  @Test mutating func `timestamps count from the given start time`() throws {
    let start = try #require(Instant("2024-02-29T23:59:59.500Z"))
    try drive(startTime: start)
    world.advance(seconds: 1)
    #expect(try location().timestamp?.text == "2024-03-01T00:00:00.500Z")
  }

  @Test mutating func `a line with fewer than two different positions is refused`() throws {
    for line in [
      Geometry.lineString(Positions(values: [1, 1, 1, 1])), .lineString(Positions()), .point(Point(x: 0, y: 0)),
    ] {
      #expect(throws: ModelError.self) { try drive(along: line, start: false) }
    }
    try drive(start: false)
  }

  // MARK: Following

  private mutating func follow(_ mode: AutoPanMode = .recenter, wander: Double? = nil) throws {
    try world.run {
      try $0.updateLocationDisplay(
        of: "v", source: "d", autoPanMode: mode, wanderExtentFactor: wander)
    }
  }

  /// A view with one metre per pixel, centered on the start of the line.
  private mutating func makeView() throws {
    _ = try world.makeView(viewpoint: .mercator(0, 0, scale: 96 / 0.0254))
  }

  private var view: View { get throws { try world.view("v") } }

  @Test mutating func `the first location after auto-pan begins is centered at the initial scale`() throws {
    try makeView()
    try drive()
    try follow()
    world.advance(seconds: 0.1)
    #expect(try view.camera.scale == 10_000)
    #expect(abs(try view.camera.x) < 1e-6)
    #expect(
      try view.viewpoint == .centerAndScale(center: Point(x: 0, y: 0), scale: 10_000, rotation: 0, reference: .wgs84))
    // A zoom by the client turns auto-pan off; turning it on again zooms again.
    try world.run { try $0.setViewpoint(of: "v", to: .scale(500)) }
    #expect(try view.locationDisplay.autoPanMode == .off)
    try follow()
    #expect(try view.camera.scale == 10_000)
  }

  @Test mutating func `a location within the wander extent does not pan`() throws {
    try makeView()
    // A quarter of the screen's width is 200 pixels: at 1:10,000 that is 529.17 m.
    try drive(velocity: 100)
    try follow(wander: 0.5)
    world.advance(seconds: 5.1)
    #expect(abs(try view.camera.x) < 1e-6)
    world.advance(seconds: 1)
    #expect(abs(try view.camera.x - 600) < 1e-3)
    #expect(try view.locationDisplay.autoPanMode == .recenter)
    // The view's own panning has the origin of the location.
    let panning = world.takeChanges().filter { if case .changed(_, .viewpoint) = $0.event { true } else { false } }
    #expect(panning.allSatisfy { $0.origin == .location })
    #expect(panning.count == 2)
  }

  @Test(arguments: [(0.0, 5), (1.0, 0)])
  mutating func `wander factor 0 always pans, 1 only at the edge`(factor: Double, pans: Int) throws {
    try makeView()
    try drive(velocity: 100)
    try follow(wander: factor)
    world.advance(seconds: 0.1)
    _ = world.takeChanges()
    world.advance(seconds: 5)
    #expect(world.takeChangeDescriptions().filter { $0 == "views/v.viewpoint" }.count == pans)
  }

  @Test mutating func `setting or animating a viewpoint turns auto-pan off, and records it`() throws {
    try makeView()
    try drive()
    try follow()
    world.advance(seconds: 0.1)
    _ = world.takeChanges()
    try world.run { try $0.setViewpoint(of: "v", to: .rotation(10)) }
    #expect(
      Set(world.takeChangeDescriptions()) == ["views/v.locationDisplay", "views/v.viewpoint", "views/v.rotation"])
    #expect(try view.locationDisplay.autoPanMode == .off)
    let stands = try view.camera
    world.advance(seconds: 10)
    #expect(try view.camera == stands)

    try follow()
    _ = try world.fly("v", to: .scale(1), duration: 1, easing: .linear)
    #expect(try view.locationDisplay.autoPanMode == .off)
  }

  @Test mutating func `auto-pan interrupts an animation`() throws {
    try makeView()
    try drive()
    world.advance(seconds: 0.1)
    _ = world.takeEndedProcesses()
    _ = try world.fly("v", to: .scale(1), duration: 100, easing: .linear)
    try follow()
    #expect(world.takeEndedProcesses().map(\.1) == [.interrupted(by: .location, .location)])
    #expect(try !view.isNavigating)
  }

  @Test mutating func `closing a source removes it from the views that follow it`() throws {
    try makeView()
    try drive()
    try follow()
    _ = world.takeChanges()
    try world.run { try $0.closeLocationSource("d") }
    #expect(try view.locationDisplay.source == nil)
    #expect(try view.locationDisplay.autoPanMode == .off)
    #expect(world.takeChangeDescriptions() == ["views/v.locationDisplay", "closed locationSources/d"])
    #expect(!world.isMoving)
  }
}
