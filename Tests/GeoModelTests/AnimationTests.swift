// Animations under a manual clock: eased, interruptible, and honest about whether they arrived.

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
    try world.run { try $0.animateViewpoint(of: "v", to: target, duration: duration, easing: easing) }
  }

  private mutating func ends() -> [ProcessEnd] { world.takeEndedProcesses().map(\.1) }
  private var camera: Camera { get throws { try world.view(id).camera } }

  @Test mutating func `an animation goes with the clock, and arrives exactly`() throws {
    _ = try fly(to: .mercator(3000, -6000, scale: 4000, rotation: 90))
    #expect(try world.view(id).isNavigating)
    #expect(world.takeNews() == ["views/v.isNavigating"])
    world.advance(seconds: 0.5)
    // Positions evenly, scales in equal ratios.
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

  @Test mutating func `easing goes slowly, quickly, slowly`() throws {
    _ = try fly(to: .mercator(1000, 0, scale: 1000), easing: .easeInOut)
    // 3t² - 2t³ at a quarter, a half and three quarters.
    for expected in [156.25, 500, 843.75, 1000] {
      world.advance(seconds: 0.25)
      #expect(abs(try camera.x - expected) < 1e-6)
    }
  }

  @Test mutating func `rotation turns the short way`() throws {
    try world.run { try $0.setViewpoint(of: "v", to: .rotation(350)) }
    _ = try fly(to: .rotation(20))
    world.advance(seconds: 0.5)
    #expect(abs(try camera.rotation - 5) < 1e-9)
    world.advance(seconds: 0.5)
    #expect(try camera.rotation == 20)
  }

  @Test mutating func `every tick is a revision by the animation, and nothing moves between them`() throws {
    _ = try fly(to: .scale(2000))
    let before = world.revision
    _ = world.takeChanges()
    world.advance(seconds: 0.1)
    #expect(world.revision == before + 3)
    #expect(world.takeChanges().allSatisfy { $0.origin == .animation })
    // The clock's rate is the clients': at 10 a second one tick.
    world.run { $0.setClock(mode: nil, now: nil, tickRate: 10, realTime: $0.clock.now) }
    let slower = world.revision
    world.advance(seconds: 0.1)
    #expect(world.revision == slower + 1)
  }

  @Test(arguments: [ViewpointTarget.scale(5000), .mercator(1, 1, scale: 1), .rotation(5)])
  mutating func `a newer set ends an animation where it stands`(target: ViewpointTarget) throws {
    _ = try fly(to: .mercator(1000, 0, scale: 1000))
    world.advance(seconds: 0.5)
    try world.run { try $0.setViewpoint(of: "v", to: target) }
    #expect(ends() == [.interrupted])
    #expect(try !world.view(id).isNavigating)
    let stands = try camera
    world.advance(seconds: 5)
    #expect(try camera == stands)
  }

  @Test mutating func `a newer animation begins where the older stands`() throws {
    _ = try fly(to: .mercator(1000, 0, scale: 1000))
    world.advance(seconds: 0.5)
    _ = try fly(to: .mercator(500, 1000, scale: 1000))
    #expect(ends() == [.interrupted])
    #expect(try world.view(id).isNavigating)
    world.advance(seconds: 0.5)
    #expect(abs(try camera.x - 500) < 1e-6)
    #expect(abs(try camera.y - 500) < 1e-6)
    world.advance(seconds: 0.5)
    #expect(ends() == [.completed])
  }

  @Test mutating func `cancelling leaves it where it stands, and only once`() throws {
    let process = try fly(to: .mercator(1000, 0, scale: 1000))
    world.advance(seconds: 0.25)
    _ = world.takeChanges()
    #expect(world.run { $0.cancel(process) })
    #expect(ends() == [.cancelled])
    #expect(abs(try camera.x - 250) < 1e-6)
    #expect(world.takeNews() == ["views/v.isNavigating"])
    #expect(!world.run { $0.cancel(process) })
    #expect(ends().isEmpty)
    #expect(!world.hasChanges)
  }

  @Test mutating func `closing the view, or its map, ends it unarrived`() throws {
    _ = try fly(to: .scale(5000))
    try world.run { try $0.closeView("v") }
    #expect(ends() == [.interrupted])
    try world.run { try $0.createView(id: "w", over: .map("m"), screen: Screen(), viewpoint: nil) }
    _ = try world.run { try $0.animateViewpoint(of: "w", to: .scale(1), duration: 1, easing: .linear) }
    try world.run { try $0.closeMap("m") }
    #expect(ends() == [.interrupted])
    #expect(!world.isMoving)
  }

  @Test mutating func `no time, or no way to go, arrives at once`() throws {
    _ = try fly(to: .scale(5000), duration: 0)
    #expect(try camera.scale == 5000)
    #expect(ends() == [.completed])
    _ = world.takeChanges()
    _ = try fly(to: .scale(5000))
    #expect(ends() == [.completed])
    #expect(!world.hasChanges)
  }

  @Test mutating func `a target that is refused leaves the animation under way`() throws {
    _ = try fly(to: .scale(5000))
    #expect(throws: ModelError.self) { try fly(to: .at(0, 100, scale: 1)) }
    #expect(throws: ModelError.self) { try world.run { try $0.setViewpoint(of: "v", to: .at(0, 100, scale: 1)) } }
    #expect(ends().isEmpty)
    #expect(try world.view(id).isNavigating)
  }

  @Test mutating func `another time of day does not move what runs`() throws {
    _ = try fly(to: .mercator(1000, 0, scale: 1000))
    world.advance(seconds: 0.5)
    let noon = try #require(Instant("2020-06-01T12:00:00Z"))
    world.run { $0.setClock(mode: nil, now: noon, tickRate: nil, realTime: $0.clock.now) }
    #expect(abs(try camera.x - 500) < 1e-6)
    world.advance(seconds: 0.25)
    #expect(abs(try camera.x - 750) < 1e-6)
    // Centuries apart, back and forth.
    for text in ["1678-01-01T00:00:00Z", "2262-01-01T00:00:00Z"] {
      let instant = try #require(Instant(text))
      world.run { $0.setClock(mode: nil, now: instant, tickRate: nil, realTime: $0.clock.now) }
    }
    world.advance(seconds: 0.25)
    #expect(ends() == [.completed])
  }

  @Test mutating func `real time begins where the system stands, manual time where it was left`() throws {
    #expect(world.clock.now == .manualStart)
    world.advance(seconds: 90)
    let real = try #require(Instant("2026-11-21T09:00:00Z"))
    world.run { $0.setClock(mode: .real, now: nil, tickRate: nil, realTime: real) }
    #expect(world.clock.now == real)
    world.run { $0.setClock(mode: .manual, now: nil, tickRate: nil, realTime: real) }
    #expect(world.clock.now.text == "2000-01-01T00:01:30.000Z")
  }

  @Test mutating func `a box is what the view is set to in the end`() throws {
    _ = try fly(to: .box(0, 0, 800, 600))
    world.advance(seconds: 1)
    #expect(try world.view(id).viewpoint.kind == .boundingGeometry)
    #expect(ends() == [.completed])
  }
}
