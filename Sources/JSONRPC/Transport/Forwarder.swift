// A client's standard streams as a connection to a server that several share: whole messages there and back, and an answer to every
// request even if that server ends.

import Dispatch
import JSON
import Platform

public enum Forwarder {
  /// Greets a server; false if it does not serve the connection, as it is about to end. Nil if it says nothing for 10 s.
  public static func greet(_ connection: CInt, _ greeting: Greeting) -> Bool? {
    signal(SIGPIPE, SIG_IGN)
    guard writeWhole(connection, greeting.bytes) else { return false }
    guard isReadable(connection, within: 10_000) else { return nil }
    var answer: UInt8 = 0
    return withUnsafeMutableBytes(of: &answer) { readBytes(connection, into: $0) } == 1 && answer == Greeting.welcome
  }

  /// Forwards until both sides have ended, and ends the process: with the exit code of the session, or with 1 if the server was lost.
  ///
  /// - Parameters:
  ///   - connection: a connected socket of a server that was greeted.
  ///   - lost: the error of requests that a lost server has not answered.
  public static func run(_ connection: CInt, lost: RPCError) -> Never {
    let streams: StandardStreams
    do {
      streams = try StandardStreams.take()
    } catch {
      _ = writeWhole(2, Array("geomodel-server: standard streams cannot be used: \(error)\n".utf8))
      _exit(1)
    }
    installSignals {
      streams.giveBack()
      return true
    }
    _ = fcntl(connection, F_SETFL, O_NONBLOCK)
    let forwarding = Forwarding(connection, streams)
    let code = forwarding.run()
    let isWritten = code != nil || writeWhole(streams.output, forwarding.open.answers(lost))
    // The pump of an output that cannot be polled then sees the end of its input.
    close(streams.output)
    _ = streams.pumped?.wait(timeout: .now() + 5)
    streams.giveBack()
    _exit(isWritten && streams.failure == nil ? code ?? 1 : 1)
  }

  /// Writes all to a descriptor that may not block.
  private static func writeWhole(_ descriptor: CInt, _ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = writeBytes(descriptor, UnsafeRawBufferPointer(rebasing: rest))
        if count > 0 {
          rest = rest.dropFirst(count)
        } else {
          guard count < 0, errno == EINTR || errno == EAGAIN else { return false }
          var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          _ = poll(&waiting, 1, -1)
        }
      }
      return true
    }
  }
}

/// Both directions on one thread: with one each, every message would wake two.
private final class Forwarding {
  private let connection: CInt
  private let input: CInt
  private let output: CInt
  let open = OpenRequests()
  /// What the connection has not taken yet; no input is read meanwhile.
  private var requests = InputBuffer()
  private var hasInput = true
  private var answers = InputBuffer()
  private var framer = Framer(messageBytes: .max / 2, headerBytes: 1 << 20)
  private var position = 0
  /// Length of the whole messages in `answers`, which the client has not taken yet; no answers are read meanwhile.
  private var whole = 0
  /// Whether nothing more comes of the server.
  private var hasEnded = false
  /// The exit code of the session; nil if the server was lost.
  private var code: CInt?
  private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
  /// How long to try again without a poll, in nanoseconds: as in `PipeTransport`.
  private var patience: UInt64 = 0
  private static let maxPatience: UInt64 = 50_000
  private static let quick: UInt64 = 150_000

  init(_ connection: CInt, _ streams: StandardStreams) {
    self.connection = connection
    (input, output) = (streams.input, streams.output)
  }

  /// The exit code of the session; nil if the server was lost.
  func run() -> CInt? {
    var movedAt = monotonicNanoseconds()
    while true {
      if move() {
        movedAt = monotonicNanoseconds()
      } else if hasEnded, whole == 0 {
        return code
      } else if monotonicNanoseconds() - movedAt < patience {
        sched_yield()
      } else {
        wait()
        patience = monotonicNanoseconds() - movedAt < Self.quick ? Self.maxPatience : 0
      }
    }
  }

  /// Moves what can be moved now; false if nothing can.
  private func move() -> Bool {
    let isAnswered = whole > 0 ? deliver() : takeAnswers()
    let isAsked = requests.isEmpty ? takeRequests() : send()
    return isAnswered || isAsked
  }

  /// Reads the client's input. Its end is the end of the connection's input.
  private func takeRequests() -> Bool {
    guard hasInput, !hasEnded, let count = read(input) else { return false }
    let bytes = UnsafeRawBufferPointer(rebasing: scratch[..<count])
    // Noted first: the answer may come at once.
    if count > 0 { open.note(sent: bytes) } else { open.noteEnd() }
    hasInput = count > 0
    requests.append(bytes)
    _ = send()
    return true
  }

  private func send() -> Bool {
    let count = requests.withBytes { write(connection, $0) }
    // A server that is gone is noticed by its end.
    requests.consume(count ?? requests.count)
    if requests.isEmpty, !hasInput { shutdown(connection, CInt(SHUT_WR)) }
    return count != 0
  }

  private func takeAnswers() -> Bool {
    guard !hasEnded, let count = read(connection) else { return false }
    hasEnded = count == 0
    answers.append(UnsafeRawBufferPointer(rebasing: scratch[..<count]))
    answers.withBytes { bytes in
      while position < bytes.count {
        if framer.isBetweenMessages, bytes[position] == Greeting.mark {
          if position + 1 < bytes.count { (hasEnded, code) = (true, CInt(bytes[position + 1])) }
          return
        }
        guard case .message(let range, let attached) = framer.next(in: bytes, at: &position) else { return }
        open.note(received: UnsafeRawBufferPointer(rebasing: bytes[range].dropLast(attached)))
        whole = position
      }
    }
    if whole > 0 { _ = deliver() }
    return true
  }

  /// Passes whole messages of the server on.
  private func deliver() -> Bool {
    let whole = whole
    guard let count = answers.withBytes({ write(output, UnsafeRawBufferPointer(rebasing: $0[..<whole])) }) else {
      nobodyReads()
      return true
    }
    answers.consume(count)
    self.whole -= count
    position -= count
    return count > 0
  }

  private func nobodyReads() { (whole, hasEnded, code) = (0, true, 1) }

  /// Waits until something can be moved.
  private func wait() {
    let answered = whole > 0 || hasEnded ? 0 : POLLIN
    let asked = requests.isEmpty ? 0 : POLLOUT
    // The end of a descriptor for which nothing is asked would be reported again and again.
    var waiting = [
      pollfd(fd: hasInput && asked == 0 && !hasEnded ? input : -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: answered | asked == 0 ? -1 : connection, events: Int16(answered | asked), revents: 0),
      pollfd(fd: output, events: whole > 0 ? Int16(POLLOUT) : 0, revents: 0),
    ]
    guard poll(&waiting, 3, -1) > 0 else { return }
    if waiting[2].revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 { nobodyReads() }
  }

  /// Number of bytes in `scratch`, 0 at the end; nil if there are none yet.
  private func read(_ descriptor: CInt) -> Int? {
    let count = readBytes(descriptor, into: scratch)
    if count < 0, errno == EAGAIN || errno == EINTR { return nil }
    return max(count, 0)
  }

  /// Number of bytes that are taken; nil if none will be any more.
  private func write(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer) -> Int? {
    let count = writeBytes(descriptor, bytes)
    if count < 0, errno == EAGAIN || errno == EINTR { return 0 }
    return count < 0 ? nil : count
  }
}

/// The requests that a connection has not answered, in both directions' order.
private final class OpenRequests {
  private var ids: [RequestID: Int] = [:]
  private var sent = 0
  private var framer = Framer(messageBytes: 1 << 20, headerBytes: 1 << 20)
  private var input = InputBuffer()
  private var position = 0
  /// How every answer of the server begins.
  private static let answer = Array("{\"jsonrpc\":\"2.0\",\"id\":".utf8)

  func note(sent bytes: UnsafeRawBufferPointer) {
    input.append(bytes)
    advance { $0.next(in: $1, at: &$2) }
  }

  /// The last message of lines may lack its end.
  func noteEnd() { advance { $0.last(in: $1, at: &$2) } }

  func note(received message: UnsafeRawBufferPointer) {
    if message.first == UInt8(ascii: "[") {
      for case let id? in MessageID.ofBatch(message) { ids[id] = nil }
    } else if message.starts(with: Self.answer), let id = MessageID(in: message)?.id {
      ids[id] = nil
    }
  }

  /// Answers to all open requests, as the client frames its messages.
  func answers(_ error: RPCError) -> [UInt8] {
    var all: [UInt8] = []
    for (id, _) in ids.sorted(by: { $0.value < $1.value }) {
      var writer = JSONWriter()
      writer.beginObject()
      writer.member("jsonrpc", "2.0")
      writer.key("id")
      id.encode(to: &writer)
      writer.key("error")
      error.encode(to: &writer)
      writer.endObject()
      if framer.framing == .headers { all += Array("Content-Length: \(writer.count)\r\n\r\n".utf8) }
      all += Array(writer.bytes)
      if framer.framing != .headers { all.append(0x0A) }
    }
    return all
  }

  private func advance(_ next: (inout Framer, UnsafeRawBufferPointer, inout Int) -> Framer.Step) {
    input.withBytes { bytes in
      while true {
        switch next(&framer, bytes, &position) {
        case .message(let range, let attached):
          let text = UnsafeRawBufferPointer(rebasing: bytes[range].dropLast(attached))
          if text.first == UInt8(ascii: "[") { MessageID.ofBatch(text).forEach { add($0) } } else { add(MessageID(in: text)?.id) }
        case .tooLarge(let range): add(MessageID.ofBeginning(UnsafeRawBufferPointer(rebasing: bytes[range]))?.id)
        case .needsMore, .lost: return
        }
      }
    }
    // What follows may need the bytes of an unfinished message only.
    if framer.isBetweenMessages || framer.isSkipping {
      input.consume(position)
      position = 0
    }
  }

  private func add(_ id: RequestID?) {
    guard let id else { return }
    sent += 1
    ids[id] = sent
  }
}
