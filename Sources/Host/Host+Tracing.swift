// Traces of real time: its steps are written as requests, by which a server that replays the trace makes them.

import GeoModel

extension Host {
  /// Takes the time of the input that follows. While something moves only ticks take it, so that each step is a tick or moves nothing.
  func passBeforeInput() {
    guard isTraced, world.clock.mode == .real, !world.isMoving, !putsStepsOff else { return }
    let now = configuration.now()
    tracePassing(to: now) { world.realTime = now }
  }

  /// Whether a trace cannot have a step now.
  var putsStepsOff: Bool { isTraced && clients.contains { $0.client.session?.isSkipping == true } }

  /// Makes a step of real time, and traces it.
  func tracePassing(to now: Instant, _ body: () -> Void) {
    let seconds = now.seconds(since: world.realTime)
    guard isTraced, seconds > 0, let session = clients.first?.client.session else { return body() }
    tracedSteps += 1
    session.traceStep("real time \(tracedSteps)", seconds: seconds, body)
  }
}
