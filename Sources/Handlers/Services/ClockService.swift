// Handlers of `clock/*`.

import GeoModel
import GeoProtocol
import WireCoding

package enum ClockService: ClockHandlers {
  /// Maximum number of ticks of one advance, which blocks the loop.
  private static let maxTicks = 1_000_000
  /// Maximum number of ticks while something is animated: each tick then updates and publishes.
  private static let maxAnimatedTicks = 100_000

  package static func get(_ params: Get.Params, on client: any HandlerClient) throws -> Get.Result {
    let clock = client.world.clock
    return .init(
      revision: client.world.revision, mode: clock.mode.wire,
      now: clock.time(at: client.realTime).text, tickRate: clock.tickRate, factor: clock.factor)
  }

  package static func set(_ params: ClockProtocol.Set.Params, in world: inout World) throws -> Answer<
    ClockProtocol.Set.Result
  > {
    let now = try params.now.map { try instant($0, "/params/now") }
    world.setClock(
      mode: params.mode.map { Clock.Mode($0) }, now: now, tickRate: params.tickRate,
      factor: params.factor, realTime: world.realTime)
    return {
      .init(
        revision: $0.revision, mode: $0.clock.mode.wire, now: $0.clock.now.text, tickRate: $0.clock.tickRate,
        factor: $0.clock.factor)
    }
  }

  package static func advance(_ params: Advance.Params, on client: any HandlerClient) throws -> Advance.Result {
    guard client.world.clock.mode == .manual else { throw ModelError.clockIsReal }
    let end = client.world.clock.now.advanced(by: params.seconds)
    guard end < .latest else { throw ModelError.tooManyTicks }
    let ticks = client.world.pendingTicks(until: end)
    guard ticks <= (client.world.isMoving ? maxAnimatedTicks : maxTicks) else { throw ModelError.tooManyTicks }
    // Ticks without animation have no effect and are skipped at once.
    while client.world.isMoving, client.world.clock.nextTick <= end { client.advance { $0.tick() } }
    client.advance {
      $0.skipTicks(to: end)
      $0.advance(to: end)
    }
    return .init(revision: client.world.revision, now: client.world.clock.now.text, ticks: ticks)
  }
}
