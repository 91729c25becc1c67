// Built-in methods: initialization, shutdown, cancel, trace.

import JSON
import Logging

extension Session {
  func initialize(_ call: Call, _ id: RequestID) {
    guard phase == .created else { return write(error: .alreadyInitialized, id: id, batch: call.batch) }
    do {
      let result = try lifecycle.initialize(call)
      phase = .initialized
      setTrace(call.params["trace"])
      attaches = call.params["attachments"].isTrue && hasHeaders
      write(result: result, id: id, batch: call.batch)
      if call.params["processId"].kind == .integer, let process = Int32(exactly: call.params["processId"].int64) {
        onClientProcess?(process)
      }
    } catch {
      write(error: failure(error, call), id: id, batch: call.batch)
    }
  }

  /// Cancels and answers requests in flight before the answer to `shutdown`.
  func shutDown(_ call: Call, _ id: RequestID) {
    do { try lifecycle.checkShutdown(call) } catch {
      return write(error: failure(error, call), id: id, batch: call.batch)
    }
    phase = .shutDown
    cancelAll()
    lifecycle.shutdown()
    cancelAll()
    write(result: JSONOpaque.written { $0.null() }, id: id, batch: call.batch)
  }

  /// Runs a built-in notification.
  func perform(_ action: Router.BuiltIn, _ call: Call) {
    switch action {
    case .cancelRequest:
      if phase == .initialized, let id = RequestID(call.params["id"]) { cancelInFlight(id) }
    case .exit:
      // After the array of its batch.
      if let batch = call.batch { batch.exits = true } else { exit() }
    case .setTrace: setTrace(call.params["value"])
    case .initialized: if phase == .initialized { lifecycle.initialized() }
    case .initialize, .shutdown: logger.debug("\(action) is a request; as a notification it was ignored")
    }
  }

  /// Ends once the output has been written. After `shutdown`, work that can no longer be cancelled, such as moving a file into
  /// place, is answered first, for at most `exitGrace`.
  func exit() {
    guard phase == .shutDown, counters.pending > 0 else { return endAtExit() }
    isExiting = true
    let bound = LoopBound(self, on: loop)
    loop.schedule(after: Self.exitGrace) { bound.value.turn { bound.value.endAtExit() } }
  }

  /// Ends the session if the client has sent `exit` and everything is answered.
  func finishExit() {
    if isExiting, counters.pending == 0 { endAtExit() }
  }

  private static let exitGrace: UInt64 = 2_000_000_000

  private func endAtExit() {
    guard ending == nil else { return }
    end(.afterWriting(code: phase == .shutDown ? 0 : 1, grace: Self.exitGrace))
  }

  // MARK: - Cancel

  /// Cancels the request of that id if it is in flight.
  func cancelInFlight(_ id: RequestID) {
    inFlight[id]?.cancel()
  }

  /// In order of arrival, which is the order of answers that a reader expects.
  func cancelAll() {
    for pending in inFlight.values.sorted(by: { $0.order < $1.order }) { pending.cancel() }
  }

  // MARK: - Trace and log

  private func setTrace(_ value: JSONValue) {
    if let known = (try? value.string()).flatMap(Trace.init(rawValue:)) { trace = known }
  }

  /// Sends a trace message for an answered request, if the client has enabled tracing.
  @inline(__always)
  func traceAnswer(_ method: String, _ id: RequestID, _ params: JSONValue, since started: UInt64) {
    if trace != .off { notifyTrace(method, id, params, since: started) }
  }

  @inline(never)
  private func notifyTrace(_ method: String, _ id: RequestID, _ params: JSONValue, since started: UInt64) {
    let microseconds = started == 0 ? 0 : (loop.nanoseconds - started) / 1000
    notify("$/logTrace") { writer in
      writer.member("message", "\(method) #\(id): \(Double(microseconds) / 1000) ms")
      writer.member("verbose", trace == .verbose ? params.jsonText.withoutSecrets : nil)
    }
  }

  /// Severity of a message for the client's user.
  public enum LogLevel: String, Sendable { case error, warning, info, debug }

  /// What a message is about, for programs.
  public enum LogEvent: String, Sendable { case modelKept, modelNotKept }

  /// Sends `$/logMessage`.
  ///
  /// - Parameter path: the file that it is about.
  public func logMessage(_ level: LogLevel, _ message: String, event: LogEvent? = nil, path: String? = nil) {
    notify("$/logMessage") { writer in
      writer.member("level", level.rawValue)
      writer.member("message", message)
      writer.member("event", event?.rawValue)
      writer.member("path", path)
    }
  }
}
