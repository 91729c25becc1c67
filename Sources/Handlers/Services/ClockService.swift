// Handlers of `clock/*`.

import GeoModel
import GeoProtocol
import WireCoding

package enum ClockService: ClockHandlers {
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

  package static func advance(_ params: Advance.Params, in world: inout World) throws -> ProcessID {
    try world.beginAdvance(by: params.seconds)
  }

  package static func advanceEnded(
    _ params: Advance.Params, _ end: ProcessEnd, in world: World
  ) throws -> Advance.Result {
    .init(revision: world.revision, now: world.clock.now.text, ticks: world.clock.lastAdvanced)
  }
}
