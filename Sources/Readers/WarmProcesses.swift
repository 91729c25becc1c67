// Processes that answer one request after the other, kept warm for the next: engines and painters.

import Platform
import Reading
import Synchronization

/// Why a process gave no answer.
enum ProcessFault: Error {
  case cancelled
  /// It died, or did not start, or sent something else than an answer.
  case ended(signal: Int?)
}

/// Runs requests in separate processes, at most one for each processor, so that neither the loop nor the memory of the server is at stake.
///
/// A call blocks its thread; a cancel kills the process. One process is kept for the next call.
final class WarmProcesses: Sendable {
  private struct State {
    var free: Int
    var warm: ReaderHandle?
  }

  private let executable: String
  private let arguments: [String]
  private let state: Mutex<State>

  /// - Parameter arguments: after the program's name.
  init(executable: String, _ arguments: [String]) {
    self.executable = executable
    self.arguments = arguments
    state = Mutex(State(free: processorCount(), warm: nil))
  }

  deinit { state.withLock { $0.warm?.end() } }

  func run(
    _ request: ReaderRequest, _ file: CInt, _ isCancelled: () -> Bool
  ) throws(ProcessFault) -> (reply: ReaderReply, message: Message) {
    try awaitTurn(isCancelled)
    defer { state.withLock { $0.free += 1 } }
    // The warm process may have been killed meanwhile.
    if let warm = takeWarm(), let reply = try answer(warm, request, file, isCancelled) { return reply }
    guard let process = ReaderHandle(executable, arguments) else { throw .ended(signal: nil) }
    if let reply = try answer(process, request, file, isCancelled) { return reply }
    throw .ended(signal: process.endSignal())
  }

  /// A process for requests that belong together; nil if none starts.
  func ownProcess() -> ReaderHandle? { ReaderHandle(executable, arguments) }

  /// Runs a request in a process of one's own.
  func run(
    _ request: ReaderRequest, in process: ReaderHandle, _ file: CInt, _ isCancelled: () -> Bool
  ) throws(ProcessFault) -> (reply: ReaderReply, message: Message) {
    try awaitTurn(isCancelled)
    defer { state.withLock { $0.free += 1 } }
    guard let reply = try exchange(process, request, file, isCancelled) else { throw .ended(signal: process.endSignal()) }
    return reply
  }

  /// Nil if the process has died.
  private func answer(
    _ process: ReaderHandle, _ request: ReaderRequest, _ file: CInt, _ isCancelled: () -> Bool
  ) throws(ProcessFault) -> (reply: ReaderReply, message: Message)? {
    guard let answer = try exchange(process, request, file, isCancelled) else { return nil }
    keep(process)
    return answer
  }

  private func exchange(
    _ process: ReaderHandle, _ request: ReaderRequest, _ file: CInt, _ isCancelled: () -> Bool
  ) throws(ProcessFault) -> (reply: ReaderReply, message: Message)? {
    do throws(ChannelError) {
      try process.send(request, files: [file])
      return try process.receive("", isCancelled: isCancelled)
    } catch {
      switch error {
      case .closed: return nil
      case .cancelled:
        process.end()
        throw .cancelled
      case .malformed, .exhausted:
        process.end()
        throw .ended(signal: nil)
      }
    }
  }

  private func awaitTurn(_ isCancelled: () -> Bool) throws(ProcessFault) {
    try waitUntilFree(checking: { () throws(ProcessFault) in if isCancelled() { throw .cancelled } }) { () throws(ProcessFault) -> Void? in
      state.withLock { state in state.free > 0 ? state.free -= 1 : nil }
    }
  }

  private func takeWarm() -> ReaderHandle? {
    let process = state.withLock { state in
      defer { state.warm = nil }
      return state.warm
    }
    guard let process, !process.matchPriority() else { return process }
    process.end()
    return nil
  }

  private func keep(_ process: ReaderHandle) {
    let surplus = state.withLock { state in
      if state.warm != nil { return true }
      state.warm = process
      return false
    }
    if surplus { process.end() }
  }
}
