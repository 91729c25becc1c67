// Scenes as their camera sees them: places on the screen, the horizon, and what it hides.

import GeoModel
import Geometry
import Platform
import Projection
import Testing

@testable import Drawing

@Suite struct SceneDrawingTests {
  private static let radius = Geocentric.equator
  /// Of a screen of 240 pixels, 55 degrees wide.
  private static let focus = 120 / tan(27.5 * .pi / 180)

  private func perspective(_ altitude: Double, heading: Double = 0, pitch: Double = 0, roll: Double = 0) -> Perspective {
    Perspective(
      SceneCamera(longitude: 0, latitude: 0, altitude: altitude, heading: heading, pitch: pitch, roll: roll),
      on: Screen(width: 240, height: 200))
  }

  private func ground(_ perspective: Perspective) throws -> SceneGround {
    try SceneGround(perspective, BaseSurface(), ratio: 1, PROJTransformer(), isCancelled: { false }) { _ in }
  }

  @Test(arguments: [1e3, 1e6, 3e7]) func `straight down a place is as far from the middle as its angle says`(altitude: Double) throws {
    let ground = try ground(perspective(altitude))
    // Angles within what is seen on the equator.
    for part in [-0.8, 0, 0.3, 0.9] {
      let longitude = part * min(0.5 * altitude / Self.radius, 0.6)
      let expected = 120 + Self.focus * Self.radius * sin(longitude) / (altitude + Self.radius * (1 - cos(longitude)))
      let place = try #require(try ground.point(at: SIMD2(longitude * 180 / .pi, 0)))
      #expect(abs(Double(place.x) - expected) < 1e-3)
      #expect(abs(place.y - 100) < 1e-3)
    }
  }

  @Test func `heading, pitch and roll turn the picture`() throws {
    // Ten degrees below the horizontal to the east.
    let point = Point(x: atan2(1000, Self.radius + 1000) * 180 / .pi, y: 0, z: 0)
    let level = try #require(perspective(1000, heading: 90, pitch: 45).screenPoint(of: point))
    #expect(abs(level.x - 120) < 1e-6 && abs(level.y - 100) < 0.1)
    let rolled = try #require(perspective(1000, heading: 70, pitch: 45, roll: 90).screenPoint(of: point))
    let plain = try #require(perspective(1000, heading: 70, pitch: 45).screenPoint(of: point))
    #expect(abs(rolled.x - 120 + (plain.y - 100)) < 1e-6)
    #expect(abs(rolled.y - 100 - (plain.x - 120)) < 1e-6)
  }

  @Test(arguments: [1e6, 2e7]) func `nothing is seen beyond the horizon`(altitude: Double) throws {
    let ground = try ground(perspective(altitude, pitch: altitude < 2e6 ? 60 : 0))
    let horizon = acos(Self.radius / (Self.radius + altitude)) * 180 / .pi
    #expect(try ground.point(at: SIMD2(0, horizon - 1.5)) != nil)
    #expect(try ground.point(at: SIMD2(0, horizon + 2)) == nil)
    #expect(try ground.point(at: SIMD2(180, 0)) == nil)
    // What stands high enough is.
    #expect(try ground.point(at: SIMD2(0, horizon + 2), z: 1e6) != nil)
  }

  @Test func `level with the ground the horizon is lower than the eye`() throws {
    let altitude = 100_000.0
    let ground = try ground(perspective(altitude, pitch: 90))
    let polar = Geocentric.polar * Geocentric.polar / Geocentric.equator
    let dip = acos(polar / (polar + altitude))
    let row = Int((100 + Self.focus * tan(dip)) * ground.scale)
    #expect(ground.depths[(row - 3) * ground.width + ground.width / 2] == .infinity)
    #expect(ground.depths[(row + 3) * ground.width + ground.width / 2] < .infinity)
  }

  @Test func `an area across the horizon ends there, and its outline too`() throws {
    let ground = try ground(perspective(2e7))
    let ring = Positions([(20, -10), (150, -10), (150, 10), (20, 10), (20, -10)].map { Point(x: $0.0, y: $0.1) })
    let area = Geometry.polygon([ring])
    let shape = try ground.shape(of: area, heightsOf: area, ratio: 1) {}
    let limb = 120 + Self.focus * tan(asin(Self.radius / (Self.radius + 2e7)))
    let right = try #require(shape.areas.joined().joined().map(\.x).max())
    #expect(abs(Double(right) - limb) < 1)
    let edges = try #require(shape.edges)
    #expect(edges.joined().allSatisfy { Double($0.x) < limb + 1 })
    // Two parallels and one meridian are in front.
    #expect(edges.joined().map(\.y).min().map { $0 < 95 } == true && edges.joined().map(\.y).max().map { $0 > 105 } == true)
    let whole = Geometry.polygon([Positions([(2, -1), (9, -1), (9, 1), (2, -1)].map { Point(x: $0.0, y: $0.1) })])
    let front = try ground.shape(of: whole, heightsOf: whole, ratio: 1) {}
    #expect(front.edges == nil && front.areas.count == 1)
  }
}
