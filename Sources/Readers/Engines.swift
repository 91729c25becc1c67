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
    try run(.relate(relation, across: seam), [first, second], isPlanar: true, isCancelled) { reply, _ in
      guard case .related(let holds) = reply else { return nil }
      return holds
    }
  }

  public func compute(
    _ operation: GeometryOperation, _ operands: [Geometry], isCancelled: () -> Bool
  ) throws(EngineError) -> GeometryOutcome {
    let request = ReaderRequest.compute(operation.kind.rawValue, operation.numbers, mends: operation.mends)
    return try run(request, operands, isPlanar: false, isCancelled) { reply, file in
      guard case .computed(let numbers, let text) = reply, let geometries = file.flatMap(GeometryList.read) else { return nil }
      return GeometryOutcome(geometries, numbers: numbers, text: text)
    }
  }

  /// - Parameter read: nil for a reply that is no answer.
  private func run<R>(
    _ request: ReaderRequest, _ operands: [Geometry], isPlanar: Bool, _ isCancelled: () -> Bool,
    _ read: (ReaderReply, CInt?) -> R?
  ) throws(EngineError) -> R {
    guard let file = GeometryList.file(operands, isPlanar: isPlanar) else { throw .failed(operation: "share", reason: errorText()) }
    defer { close(file) }
    let (reply, message) = try run(request, file, isCancelled)
    switch reply {
    case .refused(let operation, let reason): throw .failed(operation: operation, reason: reason)
    case .invalid(let reason, let place, let operand): throw .invalid(reason: reason, at: place, operand: operand)
    default:
      guard let result = read(reply, message.files.first) else { throw .engineFailed(signal: nil) }
      return result
    }
  }

  private func run(
    _ request: ReaderRequest, _ file: CInt, _ isCancelled: () -> Bool
  ) throws(EngineError) -> (reply: ReaderReply, message: Message) {
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
  ) throws(EngineError) -> (reply: ReaderReply, message: Message)? {
    do throws(ChannelError) {
      try engine.send(request, files: [file])
      let (reply, message) = try engine.receive("", isCancelled: isCancelled)
      keep(engine)
      return (reply, message)
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
