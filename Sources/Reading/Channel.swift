// The channel between the server and a reader: a socket that carries messages of JSON, and open files with them.

import CReader
import JSON
import Platform
import Synchronization

/// The result of receiving when there is no message.
public enum ChannelError: Error, Hashable, Sendable {
  /// The other end is gone.
  case closed
  /// The other end sent bytes that are not a message.
  case malformed
  /// The process has no descriptors left for the files of a message.
  case exhausted
  case cancelled
}

/// A message as received: one JSON value, and the files that came with it, closed with the message.
public final class Message {
  public let document: JSONDocument
  private var descriptors: [CInt]

  fileprivate init(_ document: JSONDocument, _ descriptors: [CInt]) {
    self.document = document
    self.descriptors = descriptors
  }

  deinit { for descriptor in descriptors { close(descriptor) } }

  /// The open files, in order; the message owns them.
  public var files: [CInt] { descriptors }

  /// Passes ownership of the files to the caller.
  public func takeFiles() -> [CInt] {
    defer { descriptors = [] }
    return descriptors
  }
}

/// One end of a channel. Each message is its length in four bytes, little-endian, and JSON text.
///
/// One thread receives; any thread sends.
public final class Channel: Sendable {
  /// Longer messages are malformed: bulk data travels in files.
  private static let lengthLimit = 64 << 20
  private static let filesLimit = 128

  public let descriptor: CInt
  private let sending = Mutex<Void>(())

  /// Owns the descriptor of a stream socket.
  public init(descriptor: CInt) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Both ends of a new channel; nil with `errno` set on failure.
  public static func pair() -> (Channel, Channel)? {
    var ends: [CInt] = [-1, -1]
    #if canImport(Darwin)
      let type = SOCK_STREAM
    #else
      let type = CInt(SOCK_STREAM.rawValue)
    #endif
    guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (Channel(descriptor: ends[0]), Channel(descriptor: ends[1]))
  }

  /// Sends one message; the caller keeps ownership of the files.
  public func send(
    files: [CInt] = [], _ write: (inout JSONWriter) -> Void
  ) throws(ChannelError) {
    var writer = JSONWriter()
    write(&writer)
    let length = UInt32(truncatingIfNeeded: writer.count)
    let bytes = (0..<4).map { UInt8(truncatingIfNeeded: length >> ($0 * 8)) } + Array(writer.bytes)
    let failure = sending.withLock { _ in creader_send(descriptor, bytes, bytes.count, files, files.count) }
    guard failure == 0 else { throw .closed }
  }

  /// Whether a message, or the closing of the other end, arrives within the given time.
  public func hasMessage(within milliseconds: CInt) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, milliseconds) != 0
  }

  /// Waits for the next message without a time limit.
  public func receive() throws(ChannelError) -> Message { try receive { () throws(ChannelError) in } }

  /// Waits for the next message.
  ///
  /// - Parameter isCancelled: called every 10 ms.
  public func receive(isCancelled: () -> Bool) throws(ChannelError) -> Message {
    try receive { () throws(ChannelError) in
      while true {
        guard !isCancelled() else { throw .cancelled }
        if hasMessage(within: 10) { return }
      }
    }
  }

  private func receive(waiting: () throws(ChannelError) -> Void) throws(ChannelError) -> Message {
    var files: [CInt] = []
    do throws(ChannelError) {
      var head = [UInt8](repeating: 0, count: 4)
      try fill(&head, &files, waiting)
      let length = head.reversed().reduce(0) { $0 << 8 | Int($1) }
      guard length <= Self.lengthLimit else { throw .malformed }
      var text = [UInt8](repeating: 0, count: length)
      try fill(&text, &files, waiting)
      guard let document = text.withUnsafeBytes({ try? JSONDocument($0) }) else { throw .malformed }
      return Message(document, files)
    } catch {
      for file in files { close(file) }
      throw error
    }
  }

  private func fill(
    _ bytes: inout [UInt8], _ files: inout [CInt], _ waiting: () throws(ChannelError) -> Void
  ) throws(ChannelError) {
    var done = 0
    while done < bytes.count {
      try waiting()
      var descriptors = [CInt](repeating: -1, count: Self.filesLimit)
      var count = 0
      let limit = Self.filesLimit - files.count
      let got = bytes.withUnsafeMutableBytes { raw in
        raw.baseAddress.map { creader_receive(descriptor, $0 + done, raw.count - done, &descriptors, &count, limit) }
          ?? 0
      }
      let isExhausted = got < 0 && errno == EMFILE
      files += descriptors.prefix(count)
      guard got > 0 else { throw isExhausted ? .exhausted : .closed }
      done += got
    }
  }

  /// Waits until the other end has closed, ignoring messages.
  public func awaitEnd() {
    while true {
      var entry = pollfd(fd: descriptor, events: 0, revents: 0)
      _ = poll(&entry, 1, -1)
      if entry.revents & Int16(POLLHUP | POLLERR) != 0 { return }
    }
  }
}
