// The server's access to feeds: files, FIFOs and devices that are followed by processes of their own.

import Files
import JSON
import Platform
import Reading
import Synchronization

/// Follows feeds, each in a process that stays as long as it is wanted. It counts towards the limit of feeds alone.
public final class Feeds: Sendable {
  /// A part of a feed, on a thread of its own.
  public enum Event: Sendable {
    /// The first event.
    case opened
    /// Lines of the feed (see ``FeedFormat``), to be read from the document: `text` or `features`. No more than one further chunk is
    /// read before ``Feed/taken()``.
    case chunk(JSONDocument, BadLines)
    /// The last event: the end of the file, or of the FIFO's writers.
    case ended
    /// The last event.
    case failed(ReadError)
  }

  private static let memory: UInt64 = 1 << 30
  private let executable: String
  public let limit: Int
  private let running = Atomic(0)

  init(executable: String, limit: Int) {
    self.executable = executable
    self.limit = limit
  }

  /// Begins to follow a feed.
  ///
  /// - Parameters:
  ///   - path: absolute.
  ///   - receive: called on a thread of the feed, in order, until the last event.
  /// - Throws: if the feed cannot be opened, or ``limit`` are being followed.
  public func follow(
    _ path: String, _ job: FeedJob, _ policy: FilePolicy, receive: @escaping @Sendable (Event) -> Void
  ) throws(ReadError) -> Feed {
    guard running.add(1, ordering: .relaxed).newValue <= limit else {
      running.subtract(1, ordering: .relaxed)
      throw .file(.exhausted(path: path, reason: "\(limit) feeds are followed already (--feeds)"))
    }
    let file: OpenedFile
    do throws(FileRefusal) { file = try policy.open(path, isFeed: true) } catch {
      running.subtract(1, ordering: .relaxed)
      throw .file(error)
    }
    defer { close(file.descriptor) }
    let process = ReaderHandle(executable, ["--feed", String(Self.memory)]) { [self] in
      running.subtract(1, ordering: .relaxed)
    }
    guard let process else {
      running.subtract(1, ordering: .relaxed)
      throw .file(.exhausted(path: path, reason: errorText()))
    }
    let feed = Feed(process, file)
    // If the process has died, receiving reports it.
    try? process.send(.follow(job), files: [file.descriptor])
    let path = Address(path).shown
    startThread {
      receive(.opened)
      while let event = feed.next(path) {
        receive(event)
        guard case .chunk = event else { return }
      }
    }
    return feed
  }
}

/// A feed that is being followed.
public final class Feed: Sendable {
  private let process: ReaderHandle
  private let file: OpenedFile
  private let isEnded = Atomic(false)

  fileprivate init(_ process: ReaderHandle, _ file: OpenedFile) { (self.process, self.file) = (process, file) }

  deinit { process.end() }

  /// Asks for one further chunk.
  public func taken() { try? process.send(.taken) }

  /// Ends the process. No event begins after this.
  public func end() {
    isEnded.store(true, ordering: .sequentiallyConsistent)
    process.end()
  }

  /// Waits for the next event; nil once the feed was ended.
  fileprivate func next(_ path: String) -> Feeds.Event? {
    let event: Feeds.Event
    do throws(ChannelError) {
      var (reply, message) = try process.receive(path) { false }
      while reply == .waiting, file.hasItsName { (reply, message) = try process.receive(path) { false } }
      switch reply {
      case .chunk(let bad): event = .chunk(message.document, bad)
      case .done:
        event = .ended
        process.end()
      case .failed(let error):
        event = .failed(error)
        process.end()
      case .waiting:
        event = .failed(.readFailed(driver: nil, path: path, layer: nil, reason: "another file has its name"))
        process.end()
      default: event = .failed(Readers.nonsense(path))
      }
    } catch {
      let signal = process.endSignal()
      event = .failed(
        .readerFailed(
          ReaderFailure(
            path: path, driver: nil, signal: signal, messages: [], reason: process.endReason ?? "it ended without an answer")))
    }
    return isEnded.load(ordering: .sequentiallyConsistent) ? nil : event
  }
}
