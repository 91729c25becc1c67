// Animations under a manual clock: easing, interruption, and the outcome that they report.

import GeoModel
import Geometry
import Testing

struct AnimationTests {
  private var world = World.manual()
  private let id: ViewID

  init() throws { id = try world.makeView(viewpoint: .mercator(0, 0, scale: 1000)) }

  private mutating func fly(
    to target: ViewpointTarget, duration: Double = 1, easing: Easing = .linear
  ) throws -> ProcessID {
    try world.fly("v", to: target, duration: duration, easing: easing)
  }

  private mutating func ends() -> [ProcessEnd] { world.takeEndedProcesses().map(\.1) }
  private var camera: Camera { get throws { try world.view(id).camera } }

  @Test mutating func `an animation follows the clock and ends exactly at its destination`() throws {
    _ = try fly(to: .mercator(3000, -6000, scale: 4000, rotation: 90))
    #expect(try world.view(id).isNavigating)
    #expect(world.takeChangeDescriptions() == ["views/v.isNavigating"])
    world.advance(seconds: 0.5)
    // Positions change evenly, scales by equal ratios.
    #expect(abs(try camera.x - 1500) < 1e-6)
    #expect(abs(try camera.y + 3000) < 1e-6)
    #expect(abs(try camera.scale - 2000) < 1e-6)
    #expect(abs(try camera.rotation - 45) < 1e-9)
    #expect(ends().isEmpty)
    world.advance(seconds: 0.5)
    #expect(
      try world.view(id).viewpoint
        == .centerAndScale(center: Point(x: 3000, y: -6000), scale: 4000, rotation: 90, reference: .webMercator))
    #expect(try !world.view(id).isNavigating)
    #expect(ends() == [.completed])
    #expect(!world.isMoving)
  }

  @Test mutating func `ease in and out is slow, fast, slow`() throws {
    _ = try fly(to: .mercator(1000, 0, scale: 1000), easing: .easeInOut)
    // 3t² - 2t³ at a quarter, a half and three quarters.
    for expected in [156.25, 500, 843.75, 1000] {
      world.advance(seconds: 0.25)
      #expect(abs(try camera.x - expected) < 1e-6)
    }
  }

  @Test mutating func `rotation takes the short way`() throws {
    try world.run { try $0.setViewpoint(of: "v", to: .rotation(350)) }
    _ = try fly(to: .rotation(20))
    world.advance(seconds: 0.5)
    #expect(abs(try camera.rotation - 5) < 1e-9)
    world.advance(seconds: 0.5)
    #expect(try camera.rotation == 20)
  }

  @Test mutating func `every tick is a revision with the animation's origin, and nothing moves between ticks`() throws {
    _ = try fly(to: .scale(2000))
    let before = world.revision
    _ = world.takeChanges()
    world.advance(seconds: 0.1)
    #expect(world.revision == before + 3)
    #expect(world.takeChanges().allSatisfy { $0.origin == .animation })
    // At a rate of 10 ticks per second, this makes one tick.
    world.run { $0.setClock(mode: nil, now: nil, tickRate: 10, realTime: $0.clock.now) }
    let slower = world.revision
    world.advance(seconds: 0.1)
    #expect(world.revision == slower + 1)
  }

  @Test(arguments: [ViewpointTarget.scale(5000), .mercator(1, 1, scale: 1), .rotation(5)])
  mutating func `setting a viewpoint ends an animation at its current camera`(target: ViewpointTarget) throws {
    _ = try fly(to: .mercator(1000, 0, scale: 1000))
    world.advance(seconds: 0.5)
    try world.run { try $0.setViewpoint(of: "v", to: target) }
    #expect(ends() == [.interrupted(by: .viewpoint)])
    #expect(try !world.view(id).isNavigating)
    let stands = try camera
    world.advance(seconds: 5)
    #expect(try camera == stands)
  }

  @Test mutating func `a newer animation begins at the current camera of the older one`() throws {
    _ = try fly(to: .mercator(1000, 0, scale: 1000))
    world.advance(seconds: 0.5)
    _ = try fly(to: .mercator(500, 1000, scale: 1000))
    #expect(ends() == [.interrupted(by: .animation)])
    #expect(try world.view(id).isNavigating)
    world.advance(seconds: 0.5)
    #expect(abs(try camera.x - 500) < 1e-6)
    #expect(abs(try camera.y - 500) < 1e-6)
    world.advance(seconds: 0.5)
    #expect(ends() == [.completed])
  }

  @Test mutating func `cancelling keeps the current camera, and succeeds only once`() throws {
    let process = try fly(to: .mercator(1000, 0, scale: 1000))
    world.advance(seconds: 0.25)
    _ = world.takeChanges()
    #expect(world.run { $0.cancel(process) })
    #expect(ends() == [.cancelled])
    #expect(abs(try camera.x - 250) < 1e-6)
    #expect(world.takeChangeDescriptions() == ["views/v.isNavigating"])
    #expect(!world.run { $0.cancel(process) })
    #expect(ends().isEmpty)
    #expect(!world.hasChanges)
  }

  @Test mutating func `closing the view, or its map, interrupts the animation`() throws {
    _ = try fly(to: .scale(5000))
    try world.run { try $0.closeView("v") }
    #expect(ends() == [.interrupted(by: .closed)])
    try world.run { try $0.createView(id: "w", over: .map("m"), screen: Screen(), viewpoint: nil) }
    _ = try world.fly("w", to: .scale(1), duration: 1, easing: .linear)
    try world.run { try $0.close(MapID("m")) }
    #expect(ends() == [.interrupted(by: .closed)])
    #expect(!world.isMoving)
  }

  @Test mutating func `without duration or distance an animation completes at once`() throws {
    _ = try fly(to: .scale(5000), duration: 0)
    #expect(try camera.scale == 5000)
    #expect(ends() == [.completed])
    _ = world.takeChanges()
    _ = try fly(to: .scale(5000))
    #expect(ends() == [.completed])
    #expect(!world.hasChanges)
  }

  @Test mutating func `a refused target leaves the animation running`() throws {
    _ = try fly(to: .scale(5000))
    #expect(throws: ModelError.self) { try fly(to: .at(0, 100, scale: 1)) }
    #expect(throws: ModelError.self) { try world.run { try $0.setViewpoint(of: "v", to: .at(0, 100, scale: 1)) } }
    #expect(ends().isEmpty)
    #expect(try world.view(id).isNavigating)
  }

  @Test mutating func `changing the clock's time does not move animations`() throws {
    _ = try fly(to: .mercator(1000, 0, scale: 1000))
    world.advance(seconds: 0.5)
    let noon = try #require(Instant("2020-06-01T12:00:00Z"))
    world.run { $0.setClock(mode: nil, now: noon, tickRate: nil, realTime: $0.clock.now) }
    #expect(abs(try camera.x - 500) < 1e-6)
    world.advance(seconds: 0.25)
    #expect(abs(try camera.x - 750) < 1e-6)
    // Centuries apart, forwards and backwards.
    for text in ["1678-01-01T00:00:00Z", "2262-01-01T00:00:00Z"] {
      let instant = try #require(Instant(text))
      world.run { $0.setClock(mode: nil, now: instant, tickRate: nil, realTime: $0.clock.now) }
    }
    world.advance(seconds: 0.25)
    #expect(ends() == [.completed])
  }

  @Test mutating func `real time begins at the system's time, manual time where it was left`() throws {
    #expect(world.clock.now == .manualStart)
    world.advance(seconds: 90)
    let real = try #require(Instant("2026-11-21T09:00:00Z"))
    world.run { $0.setClock(mode: .real, now: nil, tickRate: nil, realTime: real) }
    #expect(world.clock.now == real)
    world.run { $0.setClock(mode: .manual, now: nil, tickRate: nil, realTime: real) }
    #expect(world.clock.now.text == "2000-01-01T00:01:30.000Z")
  }

  @Test mutating func `after an animation to a box, the viewpoint is that box`() throws {
    _ = try fly(to: .box(0, 0, 800, 600))
    world.advance(seconds: 1)
    #expect(try world.view(id).viewpoint.kind == .boundingGeometry)
    #expect(ends() == [.completed])
  }
}
