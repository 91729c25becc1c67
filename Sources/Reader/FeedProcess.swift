// The role of the process that follows a feed: confines itself, then sends the lines of one file, FIFO or device as they arrive.

import CReader
import Files
import JSON
import Platform
import Reading

/// A process that reads one open feed and opens no file. It reads no further than two chunks ahead of the server, and ends with its
/// channel.
public enum FeedProcess {
  /// Serves one request at a descriptor.
  ///
  /// - Parameter memory: limit of the address space in bytes.
  public static func serve(at descriptor: CInt, memory: UInt64) -> Never {
    let channel = Channel(descriptor: descriptor)
    _ = creader_confine(memory, 0, 0, 0)
    _ = ReaderProcess.restrict(to: [])
    do {
      let message = try channel.receive()
      let request = try message.document.read { json throws(JSONError) in try ReaderRequest(from: json) }
      guard case .follow(let job) = request, let feed = message.takeFiles().first else { _exit(1) }
      var follower = Follower(job, feed, channel)
      try ReaderProcess.reply(follower.follow(), channel)
      channel.awaitEnd()
    } catch {}
    _exit(0)
  }
}

/// Reads the feed and cuts lines.
private struct Follower {
  private let job: FeedJob
  private let feed: CInt
  private let channel: Channel
  private let isRegular: Bool
  /// What follows the last line that was cut.
  private var rest: [UInt8] = []
  /// Whether the line that `rest` begins with is too long and left out, and the bytes of it so far.
  private var isSkipping = false
  private var skipped = 0
  private var lines: [ArraySlice<UInt8>] = []
  private var length = 0
  private var bad = BadLines()
  private static let skipLimit = 64 << 20
  /// Chunks sent and not yet taken.
  private var unread = 0
  /// Number of waits at the end of a growing file.
  private var waits = 0

  init(_ job: FeedJob, _ feed: CInt, _ channel: Channel) {
    self.job = job
    self.feed = feed
    self.channel = channel
    isRegular = FileIdentity(descriptor: feed)?.kind == .regular
    if job.skipsOld, isRegular { lseek(feed, 0, SEEK_END) }
  }

  /// Follows until the feed ends.
  ///
  /// - Returns: the last reply.
  mutating func follow() throws(ChannelError) -> ReaderReply {
    var buffer = [UInt8](repeating: 0, count: FeedJob.chunkLength)
    while true {
      let got = buffer.withUnsafeMutableBytes { read(feed, $0.baseAddress, $0.count) }
      if got > 0 {
        try cut(buffer[..<got])
        guard skipped < Self.skipLimit else { return lost("no line in \(Self.skipLimit >> 20) MiB") }
      } else if got == 0, isRegular, job.follows {
        try flush()
        // What is shorter than it was is another text.
        if let size = FileIdentity(descriptor: feed)?.size, size < lseek(feed, 0, SEEK_CUR) {
          return lost("the file was cut")
        }
        waits += 1
        // Only the server can see whether the file has its name yet.
        if waits % 20 == 0 { try ReaderProcess.reply(.waiting, channel) }
        try wait(for: -1, milliseconds: 50)
      } else if got == 0 {
        // Without a writer yet, a FIFO reads as ended; it does not hang up before it had one.
        guard !isRegular, try wait(for: feed, milliseconds: -1) else { return try finish() }
      } else if errno == EAGAIN {
        try flush()
        try wait(for: feed, milliseconds: -1)
      } else if errno != EINTR {
        try flush()
        return lost(errorText())
      }
    }
  }

  private func lost(_ reason: String) -> ReaderReply {
    .failed(.readFailed(driver: nil, path: "", layer: nil, reason: reason))
  }

  /// A last line counts without a line feed.
  private mutating func finish() throws(ChannelError) -> ReaderReply {
    if !rest.isEmpty { try cut([UInt8(ascii: "\n")]) }
    try flush()
    return .done(0)
  }

  /// Waits until the feed can be read, or for the time; ends with the channel.
  ///
  /// - Returns: false if the feed's other end is gone.
  @discardableResult
  private func wait(for feed: CInt, milliseconds: CInt) throws(ChannelError) -> Bool {
    var entries = [
      pollfd(fd: feed, events: Int16(POLLIN), revents: 0), pollfd(fd: channel.descriptor, events: 0, revents: 0),
    ]
    _ = poll(&entries, 2, milliseconds)
    guard entries[1].revents == 0 else { throw .closed }
    return entries[0].revents & Int16(POLLIN) != 0 || entries[0].revents & Int16(POLLHUP | POLLERR) == 0
  }

  private mutating func cut(_ bytes: ArraySlice<UInt8>) throws(ChannelError) {
    var bytes = bytes
    while let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
      rest += bytes[..<end]
      bytes = bytes[(end + 1)...]
      if isSkipping || rest.count > FeedJob.lineLimit { bad.tooLong += 1 } else { add(rest) }
      (isSkipping, skipped) = (false, 0)
      rest = []
      if length >= FeedJob.chunkLength { try flush() }
    }
    rest += bytes
    if rest.count > FeedJob.lineLimit {
      isSkipping = true
      skipped += rest.count
      rest = []
    }
  }

  private mutating func add(_ line: [UInt8]) {
    // RFC 8142 begins each text with a record separator; other systems end lines with CR LF.
    let isSpace: (UInt8) -> Bool = { $0 <= 0x20 }
    var line = line[...].drop(while: isSpace)
    while let last = line.last, isSpace(last) { line.removeLast() }
    guard !line.isEmpty else { return }
    if job.format == .ndjson, !isFeature(line) {
      bad.malformed += 1
      return
    }
    lines.append(line)
    length += line.count + 1
  }

  private func isFeature(_ line: ArraySlice<UInt8>) -> Bool {
    guard let document = line.withUnsafeBytes({ try? JSONDocument($0) }) else { return false }
    return document.read { $0["type"].kind == .string && (try? $0["type"].string()) == "Feature" }
  }

  private mutating func flush() throws(ChannelError) {
    guard !lines.isEmpty || !bad.isEmpty else { return }
    while unread > 1 { try awaitTaken() }
    unread += 1
    try channel.send { writer in
      writer.beginObject()
      ReaderReply.chunk(bad).encodeMembers(to: &writer)
      switch job.format {
      case .nmea:
        // No byte is refused here: a sentence with broken bytes has a wrong checksum.
        let text = String(decoding: Array(lines.joined(separator: [UInt8(ascii: "\n")])), as: UTF8.self)
        writer.member("text", text + "\n")
      case .ndjson:
        writer.key("features")
        writer.array(lines) { line, writer in line.withUnsafeBytes { writer.raw($0) } }
      }
      writer.endObject()
    }
    (lines, length, bad) = ([], 0, BadLines())
  }

  private mutating func awaitTaken() throws(ChannelError) {
    let message = try channel.receive()
    let request = try? message.document.read { json throws(JSONError) in try ReaderRequest(from: json) }
    guard request == .taken else { throw .malformed }
    unread -= 1
  }
}
