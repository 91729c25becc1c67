// The server's handle on a running reader process.

import CReader
import JSON
import Platform
import Reading
import Synchronization

/// A reader process and its channel. One task at a time uses it; any task may end it.
final class ReaderHandle: Sendable {
  private enum Life {
    case starting
    case running(pid_t)
    case ended(signal: Int?)
  }

  /// Nil once the process is being ended; the socket closes with its last use.
  private let channel: Mutex<Channel?>
  private let life = Mutex(Life.starting)
  private let pace = Mutex(Pace.normal)
  private let reason = Mutex<String?>(nil)

  /// Why the process did not start, or ended without a signal; nil if there is nothing to say.
  var endReason: String? { reason.withLock { $0 } }

  /// How fast the process may run beside others.
  enum Pace {
    /// With the priority of the thread that waits for it.
    case normal
    /// When nothing else has work.
    case low
    case stopped
  }

  /// Starts a process from a thread that waits for its end: on Linux a reader dies with the thread that spawned it.
  ///
  /// - Parameters:
  ///   - template: forks the process, if it can.
  ///   - atEnd: runs on that thread when the process has ended.
  init?(
    _ executable: String, _ arguments: [String], template: ReaderTemplate? = nil, atEnd: @escaping @Sendable () -> Void = {}
  ) {
    guard let (own, theirs) = Channel.pair() else { return nil }
    channel = Mutex(own)
    let end = Mutex<Channel?>(theirs)
    startThread { [self] in
      // Closed before the wait, so that the channel ends with the process.
      let process = end.withLock { end in
        defer { end = nil }
        return end.flatMap { template?.fork($0) ?? spawn(executable, arguments, $0) }
      }
      supervise(process)
      withExtendedLifetime(template) {}
      atEnd()
    }
  }

  private func spawn(_ executable: String, _ arguments: [String], _ channel: Channel) -> pid_t? {
    let words = ([executable] + arguments).map { strdup($0) }
    defer { for word in words { free(word) } }
    var process = pid_t()
    var list = words + [nil]
    let failure = creader_spawn(executable, &list, channel.descriptor, &process)
    if failure != 0 {
      let lacks = failure == ENOENT && executable.utf8.starts(with: "/proc/".utf8) ? "; /proc is not mounted" : ""
      reason.withLock { $0 = "\(executable) does not start: \(errorText(failure))\(lacks)" }
    }
    return failure == 0 ? process : nil
  }

  /// Whether the process runs, or starts, with at least the priority of the calling thread.
  var isPrompt: Bool {
    life.withLock { life in
      switch life {
      case .starting: true
      case .running(let process): niceness(ofThread: Int(process)) <= niceness()
      case .ended: false
      }
    }
  }

  private func supervise(_ process: pid_t?) {
    life.withLock { life in
      if case .ended = life, let process { kill(process, SIGKILL) }
      life = process.map { .running($0) } ?? .ended(signal: nil)
    }
    if pace.withLock({ $0 == .stopped }) { signal(SIGSTOP) }
    if process != nil { reap() }
  }

  /// Waits for the end of the process.
  private func reap() {
    guard case .running(let process) = life.withLock({ $0 }) else { return }
    _ = creader_await(process)
    // Under the lock, so that no signal is sent to a process id that has been reused.
    life.withLock { life in
      guard case .running = life else { return }
      var status: CInt = 0
      _ = waitpid(process, &status, 0)
      let signal = status & 0x7f
      let code = (status >> 8) & 0xff
      if signal == 0, code != 0 { reason.withLock { $0 = "the process ended with code \(code)" } }
      life = .ended(signal: signal == 0 ? nil : Int(signal))
    }
  }

  /// Changes how fast the process runs from now on; does not raise its priority.
  func setPace(_ new: Pace) {
    let old = pace.withLock { pace in
      defer { pace = new }
      return pace
    }
    if new == .stopped { signal(SIGSTOP) } else if old == .stopped { signal(SIGCONT) }
    _ = matchPriority()
  }

  private func signal(_ number: CInt) {
    life.withLock { life in if case .running(let process) = life { kill(process, number) } }
  }

  /// Ends the process immediately.
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

  /// Ends the process if it is running; returns the signal that ended it.
  func endSignal() -> Int? {
    end()
    reap()
    return life.withLock { if case .ended(let signal) = $0 { signal } else { nil } }
  }

  private static let lowestPriority: CInt = 19

  /// Gives the process the priority of the calling thread, which waits for it, or the lowest; false if the system does not allow it.
  func matchPriority() -> Bool {
    let wanted = pace.withLock { $0 == .normal } ? niceness() : Self.lowestPriority
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

  /// The next reply; an invalid one ends the reader.
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
