// Flights against the formulas of van Wijk and Nuij, and limits of views for random cameras.

import GeoModel
import Geometry
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

struct FlightTests {
  /// The paper's formulas as they are printed (section 4).
  private func paper(
    _ distance: Double, _ from: Double, _ to: Double, _ rho: Double, at part: Double
  ) -> (length: Double, u: Double, w: Double) {
    let (square, way) = (rho * rho, rho * rho * rho * rho * distance * distance)
    let b0 = (to * to - from * from + way) / (2 * from * square * distance)
    let b1 = (to * to - from * from - way) / (2 * to * square * distance)
    let (r0, r1) = (log(-b0 + sqrt(b0 * b0 + 1)), log(-b1 + sqrt(b1 * b1 + 1)))
    let s = part * (r1 - r0) / rho
    return (
      (r1 - r0) / rho, from / square * cosh(r0) * tanh(rho * s + r0) - from / square * sinh(r0),
      from * cosh(r0) / cosh(rho * s + r0)
    )
  }

  @Test(arguments: [(1e6, 2e5, 2e5, 1.42), (1e6, 2e5, 1e3, 1.42), (3e4, 1e3, 5e4, 1), (40, 100, 100, 2), (7, 1, 2, 0.5)])
  func `a flight is the path of the paper`(distance: Double, from: Double, to: Double, rho: Double) {
    let path = FlightPath(distance: distance, from: from, to: to, rho: rho)
    for part in stride(from: 0.0, through: 1, by: 0.125) {
      let expected = paper(distance, from, to, rho, at: part)
      let (way, zoom) = path.position(at: part)
      #expect(abs(path.length - expected.length) <= 1e-9 * expected.length)
      #expect(abs(way * distance - expected.u) <= 1e-8 * distance)
      #expect(abs(zoom * from - expected.w) <= 1e-8 * expected.w)
    }
    #expect(abs(path.position(at: 1).way - 1) < 1e-12)
    #expect(abs(path.position(at: 1).zoom * from - to) < 1e-9 * to)
  }

  @Test(arguments: [0, 1e-300, 1e-13])
  func `without a distance a flight only zooms, by equal ratios`(distance: Double) {
    let path = FlightPath(distance: distance, from: 100, to: 1600, rho: 1.42)
    #expect(abs(path.length - log(16) / 1.42) < 1e-12)
    #expect(abs(path.position(at: 0.25).zoom - 2) < 1e-12)
  }

  @Test(arguments: [1e-10, 1e-6, 1e-3])
  func `a short flight between far scales stays finite and arrives`(distance: Double) {
    for (from, to) in [(1.0, 1e9), (1e9, 1.0), (5.0, 5.0)] {
      let path = FlightPath(distance: distance * from, from: from, to: to, rho: 1.42)
      #expect(path.length.isFinite && path.length > 0)
      #expect(abs(path.position(at: 1).way - 1) < 1e-6)
      #expect(abs(path.position(at: 1).zoom * from / to - 1) < 1e-6)
    }
  }

  @Test(arguments: [(1e-300, 100), (100, 1e-300), (1e-300, 1e-300)])
  func `a flight from or to a point stays finite`(from: Double, to: Double) {
    let path = FlightPath(distance: 1e6, from: from, to: to, rho: 1.42)
    #expect(path.length.isFinite)
    for part in stride(from: 0.0, through: 1, by: 0.25) {
      let (way, zoom) = path.position(at: part)
      #expect(way > -1e-6 && way < 1 + 1e-6 && zoom.isFinite)
    }
  }
}

struct ViewLimitTests {
  @Test(arguments: UInt64(0)..<40)
  func `whatever is asked for, the screen is inside the maximum extent`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed), world = World.manual()
    let id = try world.makeView(in: seed.isMultiple(of: 2) ? .webMercator : .wgs84)
    let isAcross = seed % 3 == 0
    let box =
      isAcross ? Envelope(xMin: 170, yMin: -20, xMax: -150, yMax: 35) : Envelope(xMin: -20, yMin: 10, xMax: 35, yMax: 60)
    try world.run { try $0.updateContent(of: .map("m"), [MemberChange("maxExtent", .envelope(box))]) }
    let (reference, width) = (
      try world.view(id).reference.reference, try #require(try world.view(id).wrap).width
    )
    let low = try proj.transform(Point(x: box.xMin, y: box.yMin), from: .wgs84, to: reference)
    let high = try proj.transform(Point(x: box.xMax, y: box.yMax), from: .wgs84, to: reference)
    let allowed = Envelope(xMin: low.x, yMin: low.y, xMax: high.x + (isAcross ? width : 0), yMax: high.y)
      .expanded(by: width * 1e-9)
    for _ in 0..<30 {
      let (x, y) = (Double.random(in: -180...180, using: &random), Double.random(in: -80...80, using: &random))
      let scale = pow(10, Double.random(in: 3...8, using: &random))
      let rotation = Double.random(in: 0..<360, using: &random)
      try world.run { try $0.setViewpoint(of: id, to: .at(x, y, scale: scale, rotation: rotation)) }
      if Bool.random(using: &random) {
        let anchor = ScreenPosition(x: Double.random(in: 0...800, using: &random), y: 100)
        _ = try world.run { try $0.interact(with: id, .move(Gesture(x: 300, factor: 0.7, anchor: anchor), ends: true)) }
      }
      let shown = try #require(Geometry.multiPoint(try world.view(id).visibleArea).envelope)
      #expect([-1.0, 0, 1].contains { allowed.contains(shown.shifted(by: $0 * width)) })
      // What is inside already is left as it is.
      let before = try world.view(id).camera
      let isConstrained = try world.run { try $0.setViewpoint(of: id, to: .scale(before.scale)) }
      #expect(!isConstrained)
      #expect(try world.view(id).camera == before)
    }
  }
}

extension Envelope {
  fileprivate func expanded(by margin: Double) -> Envelope {
    Envelope(xMin: xMin - margin, yMin: yMin - margin, xMax: xMax + margin, yMax: yMax + margin)
  }

  fileprivate func shifted(by distance: Double) -> Envelope {
    Envelope(xMin: xMin + distance, yMin: yMin, xMax: xMax + distance, yMax: yMax)
  }
}

struct ScaledClockTests {
  @Test func `scaled time goes on from where it is, and a factor of 1 leads back to real time`() throws {
    var world = World.manual()
    let noon = try #require(Instant("2026-06-01T12:00:00Z"))
    world.run { $0.setClock(mode: .real, now: nil, tickRate: nil, realTime: noon) }
    world.run { $0.setClock(mode: nil, now: nil, tickRate: 10, factor: 60, realTime: noon.advanced(by: 5)) }
    #expect(world.clock.now == noon.advanced(by: 5))
    #expect(world.clock.time(at: noon.advanced(by: 6)) == noon.advanced(by: 65))
    // Ten ticks in a real second, six seconds of the model each.
    #expect(world.clock.nextTick == noon.advanced(by: 11))
    #expect(abs(world.clock.wait(at: noon.advanced(by: 5)) - 0.1) < 1e-9)
    world.run { $0.setClock(mode: nil, now: nil, tickRate: nil, factor: 0.5, realTime: noon.advanced(by: 6)) }
    #expect(world.clock.time(at: noon.advanced(by: 8)) == noon.advanced(by: 66))
    world.run { $0.setClock(mode: nil, now: .manualStart, tickRate: nil, realTime: noon.advanced(by: 8)) }
    #expect(world.clock.time(at: noon.advanced(by: 10)) == Instant.manualStart.advanced(by: 1))
    world.run { $0.setClock(mode: nil, now: nil, tickRate: nil, factor: 1, realTime: noon.advanced(by: 20)) }
    #expect(world.clock.now == noon.advanced(by: 20))
  }
}
