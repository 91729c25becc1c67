// A running reader, as the server sees it.

import CReader
import JSON
import Platform
import Reading
import Synchronization

/// A reader process and its channel. Used by one task at a time; ended by anyone.
final class ReaderHandle: Sendable {
  private enum Life {
    case starting
    case running(pid_t)
    case ended(signal: Int?)
  }

  /// Nil once the process is to end: its socket closes with the last use.
  private let channel: Mutex<Channel?>
  private let life = Mutex(Life.starting)

  /// Starts a process. Its thread waits for its end: on Linux a reader dies with the thread that spawned it.
  init?(_ executable: String, _ arguments: [String]) {
    guard let (own, theirs) = Channel.pair() else { return nil }
    channel = Mutex(own)
    startThread { [self] in
      let words = ([executable] + arguments).map { strdup($0) }
      defer { for word in words { free(word) } }
      var process = pid_t()
      var list = words + [nil]
      let failure = creader_spawn(executable, &list, theirs.descriptor, &process)
      withExtendedLifetime(theirs) {}
      supervise(failure == 0 ? process : nil)
    }
  }

  private func supervise(_ process: pid_t?) {
    life.withLock { life in
      if case .ended = life, let process { kill(process, SIGKILL) }
      life = process.map { .running($0) } ?? .ended(signal: nil)
    }
    if process != nil { reap() }
  }

  /// Waits for the end of the process.
  private func reap() {
    guard case .running(let process) = life.withLock({ $0 }) else { return }
    _ = creader_await(process)
    // Under the lock: nobody sends a signal to a number that may belong to another process by then.
    life.withLock { life in
      guard case .running = life else { return }
      var status: CInt = 0
      _ = waitpid(process, &status, 0)
      let signal = status & 0x7f
      life = .ended(signal: signal == 0 ? nil : Int(signal))
    }
  }

  /// Ends the process at once, whatever it does.
  func end() {
    channel.withLock { $0 = nil }
    life.withLock { life in
      switch life {
      case .running(let process): kill(process, SIGKILL)
      case .starting: life = .ended(signal: nil)
      case .ended: break
      }
    }
  }

  /// The signal that ended the process; ends it if it lives.
  func endSignal() -> Int? {
    end()
    reap()
    return life.withLock { if case .ended(let signal) = $0 { signal } else { nil } }
  }

  /// Gives the process the priority of the calling thread, which waits for it; false where the system does not allow it.
  func matchPriority() -> Bool {
    let wanted = niceness()
    return life.withLock { life in
      guard case .running(let process) = life, niceness(ofThread: Int(process)) != wanted else { return true }
      return setNiceness(ofThread: Int(process), to: wanted)
    }
  }

  private func open() throws(ChannelError) -> Channel {
    guard let channel = channel.withLock({ $0 }) else { throw .closed }
    return channel
  }

  func send(_ request: ReaderRequest, files: [CInt] = []) throws(ChannelError) {
    try open().send(files: files) { request.encode(to: &$0) }
  }

  /// The next reply; nonsense ends the reader.
  func receive(
    _ path: String, isCancelled: () -> Bool
  ) throws(ChannelError) -> (reply: ReaderReply, message: Message) {
    let message = try open().receive {
      _ = matchPriority()
      return isCancelled()
    }
    do {
      return (try message.document.read { json throws(JSONError) in try ReaderReply(from: json, path: path) }, message)
    } catch { throw .malformed }
  }
}
