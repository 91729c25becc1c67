// The server's access to engines: processes that compute with geometries where that takes much time or memory.

import Geometry
import GeometryEngine
import Platform
import Reading
import Synchronization

/// Computes in separate processes, at most one for each processor, so that neither the loop nor the memory of the server is at stake.
///
/// A call blocks its thread; a cancel kills the process. One process is kept for the next call.
public final class Engines: RemoteEngine {
  private struct State {
    var free: Int
    var warm: ReaderHandle?
  }

  private let executable: String
  private let arguments: [String]
  private let state: Mutex<State>

  /// - Parameters:
  ///   - executable: the program that serves with `--engine`.
  ///   - memory: limit of an engine's address space in bytes.
  init(executable: String, memory: UInt64) {
    self.executable = executable
    arguments = ["--engine", String(memory)]
    state = Mutex(State(free: processorCount(), warm: nil))
  }

  deinit { state.withLock { $0.warm?.end() } }

  public func relates(
    _ relation: SpatialRelation, of second: Geometry, to first: Geometry, across seam: Seam?, isCancelled: () -> Bool
  ) throws(EngineError) -> Bool {
    guard let file = GeometryPair.file(first, second) else { throw .failed(operation: "share", reason: errorText()) }
    defer { close(file) }
    switch try run(.relate(relation, across: seam), file, isCancelled) {
    case .related(let holds): return holds
    case .refused(let operation, let reason): throw .failed(operation: operation, reason: reason)
    default: throw .engineFailed(signal: nil)
    }
  }

  private func run(
    _ request: ReaderRequest, _ file: CInt, _ isCancelled: () -> Bool
  ) throws(EngineError) -> ReaderReply {
    while !takeTurn() {
      guard !isCancelled() else { throw .interrupted }
      pauseThread()
    }
    defer { state.withLock { $0.free += 1 } }
    // The warm process may have been killed meanwhile.
    if let warm = takeWarm(), let reply = try answer(warm, request, file, isCancelled) { return reply }
    guard let engine = ReaderHandle(executable, arguments) else { throw .engineFailed(signal: nil) }
    if let reply = try answer(engine, request, file, isCancelled) { return reply }
    throw .engineFailed(signal: engine.endSignal())
  }

  /// Nil if the process has died.
  private func answer(
    _ engine: ReaderHandle, _ request: ReaderRequest, _ file: CInt, _ isCancelled: () -> Bool
  ) throws(EngineError) -> ReaderReply? {
    do throws(ChannelError) {
      try engine.send(request, files: [file])
      let reply = try engine.receive("", isCancelled: isCancelled).reply
      keep(engine)
      return reply
    } catch {
      switch error {
      case .closed: return nil
      case .cancelled:
        engine.end()
        throw .interrupted
      case .malformed, .exhausted:
        engine.end()
        throw .engineFailed(signal: nil)
      }
    }
  }

  private func takeTurn() -> Bool {
    state.withLock { state in
      guard state.free > 0 else { return false }
      state.free -= 1
      return true
    }
  }

  private func takeWarm() -> ReaderHandle? {
    let engine = state.withLock { state in
      defer { state.warm = nil }
      return state.warm
    }
    guard let engine, !engine.matchPriority() else { return engine }
    engine.end()
    return nil
  }

  private func keep(_ engine: ReaderHandle) {
    let surplus = state.withLock { state in
      if state.warm != nil { return true }
      state.warm = engine
      return false
    }
    if surplus { engine.end() }
  }
}
