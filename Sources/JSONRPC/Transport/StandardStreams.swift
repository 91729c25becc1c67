// Standard input and output as descriptors usable by an event loop, whatever their kind, restored at the end.
//
// O_NONBLOCK belongs to the open file description, which others may share: a terminal with the shell, a pipe with the
// next command of a group. A pipe is therefore reopened by its name in /proc; a terminal or a file stays blocking and
// is pumped through a pipe of our own; a socket, where neither works, gets its flags back at the end.

import Dispatch
import Platform
import Synchronization

struct StandardStreams: Sendable {
  let input: CInt
  let output: CInt
  /// The output pump's end; nil without a pump.
  let pumped: DispatchSemaphore?
  private let restore: [(descriptor: CInt, flags: CInt)]
  private let pumpFailure: PumpFailure

  /// Why input or output is not whole; nil if it is.
  var failure: StreamError? { pumpFailure.error.withLock { $0 } }

  /// Takes the streams: afterwards descriptor 0 is empty and output printed to descriptor 1 goes to standard error, so
  /// that no library can read from or write to the wire.
  static func take() throws(StreamError) -> StandardStreams {
    // Without standard output no client can read answers.
    guard fcntl(1, F_GETFD) != -1 else { throw StreamError("standard output", errno) }
    try fillClosed()
    var restore: [(CInt, CInt)] = []
    let failure = PumpFailure()
    let input = try inputStream(&restore, failure)
    let (output, pumped) = try outputStream(&restore, failure)
    let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
    guard null >= 0, dup2(null, 0) == 0, dup2(2, 1) == 1 else { throw StreamError("dup2", errno) }
    close(null)
    return StandardStreams(input: input, output: output, pumped: pumped, restore: restore, pumpFailure: failure)
  }

  /// Calls `gone` on a thread of its own when the reader of the output has closed it. An event loop notices this only when it
  /// writes; NIO then closes its end of the pipe silently, and does not notice while a write is pending.
  func watchReader(gone: @escaping @Sendable () -> Void) {
    if let pumped {
      return startThread {
        pumped.wait()
        pumped.signal()
        gone()
      }
    }
    // A copy: NIO may close the descriptor, whose number is then reused.
    guard let copy = try? Self.duplicate(output) else { return }
    startThread {
      // Without events asked for, only errors and the end are reported.
      var waiting = pollfd(fd: copy, events: 0, revents: 0)
      while poll(&waiting, 1, -1) < 0, errno == EINTR {}
      gone()
    }
  }

  /// Restores changed flags. Thread-safe and idempotent.
  func giveBack() {
    for (descriptor, flags) in restore { _ = fcntl(descriptor, F_SETFL, flags) }
  }

  /// A closed descriptor among the first three would be reused by the next file opened.
  private static func fillClosed() throws(StreamError) {
    for descriptor in 0...2 as ClosedRange<CInt> where fcntl(descriptor, F_GETFD) == -1 {
      let null = open("/dev/null", O_RDWR)
      guard null >= 0 else { throw StreamError("open /dev/null", errno) }
      if null != descriptor {
        dup2(null, descriptor)
        close(null)
      }
    }
  }

  private static func inputStream(
    _ restore: inout [(CInt, CInt)], _ failure: PumpFailure
  ) throws(StreamError) -> CInt {
    if let ready = pollable(0, O_RDONLY, &restore) { return ready }
    let source = try duplicate(0)
    let (readEnd, writeEnd) = try makePipe()
    startThread {
      pump(from: source, to: writeEnd) { if !$0 { failure.note("standard input") } }
      close(writeEnd)
    }
    return readEnd
  }

  private static func outputStream(
    _ restore: inout [(CInt, CInt)], _ failure: PumpFailure
  ) throws(StreamError) -> (CInt, DispatchSemaphore?) {
    if let ready = pollable(1, O_WRONLY, &restore) { return (ready, nil) }
    let sink = try duplicate(1)
    let (readEnd, writeEnd) = try makePipe()
    let done = DispatchSemaphore(value: 0)
    startThread {
      pump(from: readEnd, to: sink) { if $0 { failure.note("standard output") } }
      // The writer of the pipe then gets an error.
      close(readEnd)
      done.signal()
    }
    return (writeEnd, done)
  }

  /// The stream as a descriptor that can be polled; nil if impossible.
  private static func pollable(_ stream: CInt, _ mode: CInt, _ restore: inout [(CInt, CInt)]) -> CInt? {
    var status = stat()
    guard fstat(stream, &status) == 0 else { return nil }
    switch status.st_mode & S_IFMT {
    case S_IFIFO:
      let anew = open("/proc/self/fd/\(stream)", mode | O_NONBLOCK | O_CLOEXEC)
      if anew >= 0 { return anew }
    case S_IFSOCK: break
    default: return nil
    }
    guard let copy = try? duplicate(stream) else { return nil }
    let flags = fcntl(copy, F_GETFL)
    if flags >= 0, flags & O_NONBLOCK == 0, let kept = try? duplicate(stream) { restore.append((kept, flags)) }
    return copy
  }

  /// A copy that children do not inherit, numbered above the first three.
  private static func duplicate(_ descriptor: CInt) throws(StreamError) -> CInt {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { throw StreamError("dup", errno) }
    return copy
  }

  private static func makePipe() throws(StreamError) -> (readEnd: CInt, writeEnd: CInt) {
    var ends: [CInt] = [0, 0]
    guard pipe(&ends) == 0 else { throw StreamError("pipe", errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  /// Copies until the source ends or one of them fails.
  ///
  /// - Parameter onFailure: called with whether it was the sink.
  private static func pump(from source: CInt, to sink: CInt, onFailure: (Bool) -> Void) {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = retrying(source, POLLIN) { read(source, &buffer, buffer.count) }
      guard count > 0 else { return count < 0 ? onFailure(false) : () }
      var written = 0
      while written < count {
        let step = buffer.withUnsafeBytes { bytes -> Int in
          guard let start = bytes.baseAddress else { return -1 }
          return retrying(sink, POLLOUT) { write(sink, start + written, count - written) }
        }
        guard step > 0 else { return onFailure(true) }
        written += step
      }
    }
  }

  /// Repeats a call that was interrupted, or whose descriptor another process made non-blocking.
  private static func retrying(_ descriptor: CInt, _ event: CInt, _ call: () -> Int) -> Int {
    while true {
      let result = call()
      if result >= 0 { return result }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        var waiting = pollfd(fd: descriptor, events: Int16(event), revents: 0)
        _ = poll(&waiting, 1, -1)
      default: return result
      }
    }
  }
}

/// The first failure of a thread that pumps.
private final class PumpFailure: Sendable {
  let error = Mutex<StreamError?>(nil)

  /// Records the current `errno`.
  func note(_ stream: String) {
    let found = StreamError(stream, errno)
    error.withLock { $0 = $0 ?? found }
  }
}

/// An unusable stream.
struct StreamError: Error, CustomStringConvertible {
  let description: String
  init(_ call: String, _ code: CInt) { description = "\(call): \(errorText(code))" }
}
