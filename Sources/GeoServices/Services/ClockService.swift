// Handlers of `clock/*`.

import GeoModel
import GeoProtocol

enum ClockService: ClockHandlers {
  typealias Host = GeoServices.Host
  /// The most ticks of one advance, which blocks the loop.
  private static let maxTicks = 1_000_000
  /// The most ticks while something is animated: each tick then updates and publishes.
  private static let maxAnimatedTicks = 100_000

  static func get(_ params: ClockProtocol.Get.Params, on host: Host) throws -> ClockProtocol.Get.Result {
    let clock = host.world.clock
    return .init(
      revision: host.world.revision, mode: mode(clock),
      now: (clock.mode == .real ? host.configuration.now() : clock.now).text, tickRate: clock.tickRate)
  }

  static func set(_ params: ClockProtocol.Set.Params, in world: inout World) throws -> ClockProtocol.Set.Result {
    let now = try params.now.map { try instant($0, "/params/now") }
    world.setClock(
      mode: params.mode.map { $0 == .real ? .real : .manual }, now: now, tickRate: params.tickRate,
      realTime: world.realTime)
    return .init(
      revision: world.revision, mode: mode(world.clock), now: world.clock.now.text, tickRate: world.clock.tickRate)
  }

  static func advance(_ params: ClockProtocol.Advance.Params, on host: Host) throws -> ClockProtocol.Advance.Result {
    guard host.world.clock.mode == .manual else { throw ModelError.clockIsReal }
    let end = host.world.clock.now.advanced(by: params.seconds)
    guard end < .latest else { throw ModelError.tooManyTicks }
    let ticks = host.world.ticksDue(until: end)
    guard ticks <= (host.world.isMoving ? maxAnimatedTicks : maxTicks) else { throw ModelError.tooManyTicks }
    // Ticks without animation have no effect and are skipped at once.
    for _ in 0..<ticks {
      guard host.world.isMoving else { break }
      host.world.begin(origin: .animation)
      host.world.tick()
      host.propagateOrUnlink()
      host.publish()
    }
    host.world.begin(origin: .animation)
    host.world.skipTicks(to: end)
    host.world.advance(to: end)
    host.propagateOrUnlink()
    host.publish()
    return .init(revision: host.world.revision, now: host.world.clock.now.text, ticks: ticks)
  }

  private static func mode(_ clock: Clock) -> ClockProtocol.ClockMode { clock.mode == .real ? .real : .manual }
}
