// Writes the traffic as a transcript that the conformance runner replays: one JSON object per line.

import Dispatch
import JSON
import Platform
import Synchronization

/// A file written on its own thread: a slow disk costs memory up to a limit, then events, but never the loop's time.
public final class TraceFile: Sendable {
  private struct State {
    var events: [TraceEvent] = []
    /// Size of the queued events.
    var bytes = 0
    /// Events written.
    var done = 0
    var leftOut = 0
    var hasBegun = false
    var hasEnded = false
    var isWriting = false
    var isClosed = false
    var hasFailed = false
  }

  private static let bound = 64 << 20
  /// Enough stack to examine a message of maximum depth.
  private static let stackBytes = 16 << 20
  private let descriptor: CInt
  private let lines: TraceLines
  private let state = Mutex(State())
  private let finished = DispatchSemaphore(value: 0)
  private let onFailure: @Sendable (CInt) -> Void

  /// Nil if the file cannot be created; `errno` says why.
  ///
  /// - Parameters:
  ///   - server: name and version, for people.
  ///   - arguments: the server's arguments that a replay needs.
  ///   - varying: members of the server's messages whose values differ in every run.
  ///   - onFailure: called once with the system's error when a write fails; later events are missing.
  public init?(
    path: String, server: String = "", arguments: [String] = [], varying: [String] = [],
    onFailure: @escaping @Sendable (CInt) -> Void = { _ in }
  ) {
    self.onFailure = onFailure
    lines = TraceLines(server: server, arguments: arguments, varying: varying)
    descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { return nil }
  }

  /// Writes queued events, waiting at most three seconds for each line. A session that has not ended is ended in the
  /// trace.
  public func close() {
    if state.withLock({ !$0.hasEnded && !$0.isClosed }) { record(.ended(code: nil), .lines) }
    var (isWriting, done) = state.withLock { state in
      state.isClosed = true
      return (state.isWriting, state.done)
    }
    while isWriting, finished.wait(timeout: .now() + 3) == .timedOut {
      let now = state.withLock { $0.done }
      isWriting = now > done
      done = now
    }
  }

  /// A ``TrafficRecorder``.
  public func record(_ traffic: Traffic, _ framing: Framing) {
    let starts = state.withLock { state in
      guard !state.isClosed else { return false }
      if case .ended = traffic { state.hasEnded = true }
      guard state.bytes + traffic.size <= Self.bound else {
        state.leftOut += 1
        return false
      }
      if !state.hasBegun { state.events.append(.begun(framing)) }
      state.hasBegun = true
      if state.leftOut > 0 { state.events.append(.leftOut(state.leftOut)) }
      state.leftOut = 0
      state.events.append(.traffic(traffic))
      state.bytes += traffic.size
      defer { state.isWriting = true }
      return !state.isWriting
    }
    if starts { startThread(stackBytes: Self.stackBytes) { [self] in writeOut() } }
  }

  /// Writes until the queue is empty; the next event starts another thread.
  private func writeOut() {
    while true {
      let events = state.withLock { state -> [TraceEvent] in
        if state.events.isEmpty {
          state.isWriting = false
          if state.isClosed { finished.signal() }
        }
        defer {
          state.events = []
          state.bytes = 0
        }
        return state.events
      }
      if events.isEmpty { return }
      var writer = JSONWriter(capacity: 4096)
      for event in events {
        lines.write(event, to: &writer)
        state.withLock { $0.done += 1 }
        if writer.count < 1 << 16 { continue }
        write(writer.bytes)
        writer.reset()
      }
      write(writer.bytes)
    }
  }

  private func write(_ bytes: UnsafeRawBufferPointer) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let step = writeBytes(descriptor, UnsafeRawBufferPointer(rebasing: rest))
      if step < 0, errno == EINTR { continue }
      guard step > 0 else { return reportFailure(errno) }
      rest = rest.dropFirst(step)
    }
  }

  private func reportFailure(_ code: CInt) {
    let isNews = state.withLock { state in
      defer { state.hasFailed = true }
      return !state.hasFailed
    }
    if isNews { onFailure(code) }
  }
}
