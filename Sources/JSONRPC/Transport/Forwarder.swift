// A client's standard streams as a connection to a server that several share: whole messages there and back, and an answer to every
// request even if that server ends.

import JSON
import Platform
import Synchronization

public enum Forwarder {
  /// Greets a server; false if it does not serve the connection, as it is about to end. Nil if it says nothing for 10 s.
  public static func greet(_ connection: CInt, _ greeting: Greeting) -> Bool? {
    signal(SIGPIPE, SIG_IGN)
    guard greeting.bytes.withUnsafeBytes({ writeWhole(connection, $0) }) else { return false }
    guard isReadable(connection, within: 10_000) else { return nil }
    var answer: UInt8 = 0
    return withUnsafeMutableBytes(of: &answer) { readSome(connection, into: $0) } == 1 && answer == Greeting.welcome
  }

  /// Forwards until both sides have ended, and ends the process: with the exit code of the session, or with 1 if the server was lost.
  ///
  /// - Parameters:
  ///   - connection: a connected socket of a server that was greeted.
  ///   - lost: the error of requests that a lost server has not answered.
  public static func run(_ connection: CInt, lost: RPCError) -> Never {
    let open = OpenRequests()
    startThread { forward(to: connection, noting: open) }
    startThread {
      // Nobody reads answers any more.
      var waiting = pollfd(fd: 1, events: 0, revents: 0)
      while poll(&waiting, 1, -1) < 0, errno == EINTR {}
      _exit(1)
    }
    back(from: connection, open)
    leave(open, lost)
  }

  /// Passes the client's input on as it comes. Its end is the end of the connection's input.
  private static func forward(to connection: CInt, noting open: OpenRequests) {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = buffer.withUnsafeMutableBytes { readSome(0, into: $0) }
      guard count > 0 else { break }
      buffer.withUnsafeBytes { bytes in
        let bytes = UnsafeRawBufferPointer(rebasing: bytes[..<count])
        // Noted first: the answer may come at once.
        open.note(sent: bytes)
        _ = writeWhole(connection, bytes)
      }
    }
    open.noteEnd()
    shutdown(connection, CInt(SHUT_WR))
  }

  /// Passes whole messages of the server on. Returns when the connection has ended without a farewell.
  private static func back(from connection: CInt, _ open: OpenRequests) {
    var input = InputBuffer()
    var framer = Framer(messageBytes: .max / 2, headerBytes: 1 << 20)
    var position = 0
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    while true {
      let count = readSome(connection, into: buffer)
      guard count > 0 else { return }
      input.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      var whole = 0
      let farewell = input.withBytes { bytes -> UInt8? in
        while position < bytes.count {
          if framer.isBetweenMessages, bytes[position] == Greeting.mark {
            return position + 1 < bytes.count ? bytes[position + 1] : nil
          }
          guard case .message(let range) = framer.next(in: bytes, at: &position) else { break }
          open.note(received: UnsafeRawBufferPointer(rebasing: bytes[range]))
          whole = position
        }
        if whole > 0, !writeWhole(1, UnsafeRawBufferPointer(rebasing: bytes[..<whole])) { _exit(1) }
        return nil
      }
      if let farewell {
        input.withBytes { _ = writeWhole(1, UnsafeRawBufferPointer(rebasing: $0[..<whole])) }
        _exit(CInt(farewell))
      }
      input.consume(whole)
      position -= whole
    }
  }

  private static func leave(_ open: OpenRequests, _ lost: RPCError) -> Never {
    let answers = open.answers(lost)
    _ = answers.withUnsafeBytes { writeWhole(1, $0) }
    _exit(1)
  }

  private static func readSome(_ descriptor: CInt, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    while true {
      let count = readBytes(descriptor, into: buffer)
      guard count < 0, errno == EINTR || errno == EAGAIN else { return count }
      wait(descriptor, POLLIN)
    }
  }

  private static func writeWhole(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = writeBytes(descriptor, UnsafeRawBufferPointer(rebasing: rest))
      if count > 0 {
        rest = rest.dropFirst(count)
      } else {
        guard count < 0, errno == EINTR || errno == EAGAIN else { return false }
        wait(descriptor, POLLOUT)
      }
    }
    return true
  }

  private static func wait(_ descriptor: CInt, _ event: CInt) {
    var waiting = pollfd(fd: descriptor, events: Int16(event), revents: 0)
    _ = poll(&waiting, 1, -1)
  }
}

/// The requests that a connection has not answered, in both directions' order.
private final class OpenRequests: Sendable {
  fileprivate struct State {
    var ids: [RequestID: Int] = [:]
    var sent = 0
    var framer = Framer(messageBytes: 1 << 20, headerBytes: 1 << 20)
    var input = InputBuffer()
    var position = 0
  }

  private let state = Mutex(State())
  /// How every answer of the server begins.
  private static let answer = Array("{\"jsonrpc\":\"2.0\",\"id\":".utf8)

  func note(sent bytes: UnsafeRawBufferPointer) {
    state.withLock { state in
      state.input.append(bytes)
      state.advance { $0.next(in: $1, at: &$2) }
    }
  }

  /// The last message of lines may lack its end.
  func noteEnd() {
    state.withLock { state in state.advance { $0.last(in: $1, at: &$2) } }
  }

  func note(received message: UnsafeRawBufferPointer) {
    let isBatch = message.first == UInt8(ascii: "[")
    guard isBatch || message.starts(with: Self.answer) else { return }
    let ids = isBatch ? MessageID.ofBatch(message) : [MessageID(in: message)?.id]
    state.withLock { state in
      for case let id? in ids { state.ids[id] = nil }
    }
  }

  /// Answers to all open requests, as the client frames its messages.
  func answers(_ error: RPCError) -> [UInt8] {
    state.withLock { state in
      var all: [UInt8] = []
      for (id, _) in state.ids.sorted(by: { $0.value < $1.value }) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("jsonrpc", "2.0")
        writer.key("id")
        id.encode(to: &writer)
        writer.key("error")
        error.encode(to: &writer)
        writer.endObject()
        if state.framer.framing == .headers { all += Array("Content-Length: \(writer.count)\r\n\r\n".utf8) }
        all += Array(writer.bytes)
        if state.framer.framing != .headers { all.append(0x0A) }
      }
      state.ids = [:]
      return all
    }
  }
}

extension OpenRequests.State {
  mutating func advance(_ next: (inout Framer, UnsafeRawBufferPointer, inout Int) -> Framer.Step) {
    var (framer, position) = (framer, position)
    var found: [RequestID?] = []
    input.withBytes { bytes in
      steps: while true {
        let step = next(&framer, bytes, &position)
        switch step {
        case .message(let range):
          let text = UnsafeRawBufferPointer(rebasing: bytes[range])
          found += text.first == UInt8(ascii: "[") ? MessageID.ofBatch(text) : [MessageID(in: text)?.id]
        case .tooLarge(let range):
          found.append(MessageID.ofBeginning(UnsafeRawBufferPointer(rebasing: bytes[range]))?.id)
        case .needsMore, .lost: break steps
        }
      }
    }
    (self.framer, self.position) = (framer, position)
    for case let id? in found {
      sent += 1
      ids[id] = sent
    }
    // What follows may need the bytes of an unfinished message only.
    if framer.isBetweenMessages || framer.isSkipping {
      input.consume(self.position)
      self.position = 0
    }
  }
}
