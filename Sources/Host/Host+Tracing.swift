// Traces of real time and of feeds: their steps are written as requests, by which a server that replays the trace makes them.

import GeoModel
import GeoProtocol
import JSON
import JSONRPC

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
    trace("clock/advance", { $0.member("seconds", seconds) }, session, body)
  }

  /// Takes what a followed file has said, and traces it.
  func traceFeed(_ event: SessionProtocol.FeedEvent, of object: ObjectReference, _ body: () -> Void) {
    guard isTraced, let session = clients.first?.client.session else { return body() }
    let members = { (writer: inout JSONWriter) in
      writer.member("source", object.id)
      writer.key("event")
      event.encode(to: &writer)
    }
    trace("session/replayFeed", members, session, body)
  }

  private func trace(_ method: String, _ params: (inout JSONWriter) -> Void, _ session: Session, _ body: () -> Void) {
    tracedSteps += 1
    session.traceStep("real time \(tracedSteps)", method, params, body)
  }
}
