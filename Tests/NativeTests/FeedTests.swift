// Feeds as processes: lines of files that grow, of FIFOs and devices, in order and whole; and how feeds end.

import Files
import Foundation
import Glibc
import JSON
import Readers
import Reading
import Synchronization
import TestSupport
import Testing

@Suite(.serialized) struct FeedTests {
  /// What a feed has said, in order.
  private final class Log: Sendable {
    private let entries = Mutex<[String]>([])
    private let arrived = DispatchSemaphore(value: 0)

    func add(_ event: Feeds.Event) {
      let text: String =
        switch event {
        case .opened: "opened"
        case .chunk(let document, let bad):
          document.read { json in
            let lines = (try? json["text"].string()) ?? "\((try? json["features"].array { _ in 0 }.count) ?? -1) features"
            return bad.isEmpty ? lines : "\(lines) (\(bad.tooLong) too long, \(bad.malformed) malformed)"
          }
        case .ended: "ended"
        case .failed(let error): "failed: \(error)"
        }
      entries.withLock { $0.append(text) }
      arrived.signal()
    }

    /// The next event; nil if there is none for ten seconds.
    func next() -> String? {
      guard arrived.wait(timeout: .now() + 10) == .success else { return nil }
      return entries.withLock { $0.removeFirst() }
    }
  }

  private func follow(_ path: String, _ job: FeedJob, limit: Int = 64) throws -> (Feed, Log, Readers) {
    let readers = Readers(executable: ServerProcess.path, feedLimit: limit)
    let log = Log()
    let feed = try readers.feeds.follow(path, job, FilePolicy()) { log.add($0) }
    #expect(log.next() == "opened")
    return (feed, log, readers)
  }

  private func file(_ text: String) throws -> String {
    let path = NSTemporaryDirectory() + "feed-\(UUID().uuidString)"
    try text.write(toFile: path, atomically: false, encoding: .utf8)
    return path
  }

  private func append(_ text: String, to path: String) throws {
    let handle = try #require(FileHandle(forWritingAtPath: path))
    handle.seekToEndOfFile()
    handle.write(Data(text.utf8))
    try handle.close()
  }

  @Test func `a file ends after its last line, which needs no line feed`() throws {
    let (feed, log, _) = try follow(try file("$A\r\n\n$B\n$C"), FeedJob(format: .nmea, follows: false))
    #expect(log.next() == "$A\n$B\n$C\n")
    #expect(log.next() == "ended")
    withExtendedLifetime(feed) {}
  }

  @Test func `a file that grows is followed, from its end if asked, by whole lines; one that is cut is lost`() throws {
    let path = try file("old\n")
    let (feed, log, _) = try follow(path, FeedJob(format: .nmea, follows: true))
    #expect(log.next() == "old\n")
    feed.taken()
    try append("one\ntw", to: path)
    #expect(log.next() == "one\n")
    feed.taken()
    try append("o\n", to: path)
    #expect(log.next() == "two\n")
    feed.taken()
    truncate(path, 0)
    #expect(log.next()?.contains("the file was cut") == true)
  }

  @Test func `a file that is replaced by another of its name is lost once it is read`() throws {
    let path = try file("old\n")
    let (feed, log, _) = try follow(path, FeedJob(format: .nmea, follows: true))
    #expect(log.next() == "old\n")
    feed.taken()
    rename(try file("new\n"), path)
    #expect(log.next()?.contains("another file has its name") == true)
  }

  @Test func `a FIFO waits for its first writer and ends with its last`() throws {
    let path = NSTemporaryDirectory() + "fifo-\(UUID().uuidString)"
    try #require(mkfifo(path, 0o600) == 0)
    let (feed, log, _) = try follow(path, FeedJob(format: .ndjson, follows: true))
    let writer = try #require(FileHandle(forWritingAtPath: path))
    writer.write(Data("{\"type\":\"Feature\"}\n\u{1e}{\"type\":\"Feature\",\"geometry\":null}\n{\"type\":\"Point\"}\n{]\n".utf8))
    #expect(log.next() == "2 features (0 too long, 2 malformed)")
    feed.taken()
    try writer.close()
    #expect(log.next() == "ended")
  }

  @Test func `a line over the limit is left out, and no more than two chunks are read ahead`() throws {
    let line = String(repeating: "x", count: 1000) + "\n"
    let long = String(repeating: "y", count: FeedJob.lineLimit + 1) + "\n"
    let (feed, log, _) = try follow(
      try file(String(repeating: line, count: 300) + long), FeedJob(format: .nmea, follows: false))
    var count = 0
    var chunks = 0
    while let text = log.next(), text != "ended" {
      chunks += 1
      count += text.split(separator: "\n").filter { $0.hasPrefix("x") }.count
      if text.contains("too long") { #expect(text.hasSuffix("(1 too long, 0 malformed)")) }
      feed.taken()
    }
    #expect(count == 300)
    #expect(chunks > 3)
  }

  @Test func `a folder and a feed too many are refused`() throws {
    #expect(throws: ReadError.self) { _ = try follow(NSTemporaryDirectory(), FeedJob(format: .nmea, follows: true)) }
    let path = try file("a\n")
    let (feed, log, readers) = try follow(path, FeedJob(format: .nmea, follows: true), limit: 1)
    #expect(log.next() == "a\n")
    #expect(throws: ReadError.self) {
      _ = try readers.feeds.follow(path, FeedJob(format: .nmea, follows: true), FilePolicy()) { _ in }
    }
    feed.end()
  }

  @Test func `a device without lines is lost`() throws {
    let (feed, log, _) = try follow("/dev/zero", FeedJob(format: .nmea, follows: true))
    #expect(log.next()?.contains("no line in") == true)
    withExtendedLifetime(feed) {}
  }
}
