// One request to a reader or writer: its replies, its messages, and the cause of its death.

import Platform
import Reading
import Synchronization

/// One request to a reader, and the state of its replies.
final class ReaderWork: Sendable {
  let reader: ReaderHandle
  private let path: String
  /// Nil for a writer, which the client itself asked for and which ends.
  private let turns: ReaderTurns?
  private let noteProtections: @Sendable (UInt32) -> Void
  /// Whether a reply to the request has arrived, the driver that recognized the file, and GDAL's last messages.
  private let said = Mutex<(begun: Bool, driver: String?, messages: [String])>((false, nil, []))
  private let memory = Atomic(0)
  static let messageLimit = 20

  init(
    _ reader: ReaderHandle, _ path: String, _ turns: ReaderTurns?, _ noteProtections: @escaping @Sendable (UInt32) -> Void
  ) {
    self.reader = reader
    self.path = path
    self.turns = turns
    self.noteProtections = noteProtections
  }

  /// The reader's resident memory at the end of the request.
  var residentBytes: Int { memory.load(ordering: .relaxed) }

  /// The last of GDAL's warnings and errors.
  var messages: [String] { said.withLock(\.messages) }

  /// Whether any reply to the request has arrived.
  var hasBegun: Bool { said.withLock(\.begun) }

  func end() { reader.end() }

  func send(_ request: ReaderRequest, files: [CInt] = []) throws(ReadError) {
    do throws(ChannelError) { try reader.send(request, files: files) } catch { throw failure() }
  }

  /// Receives replies until the request is done.
  func finish(
    isCancelled: () -> Bool, _ body: (ReaderReply, Message) throws(ReadError) -> Bool
  ) throws(ReadError) {
    turns?.begin(reader)
    defer { turns?.end(reader) }
    while true {
      let (reply, message): (ReaderReply, Message)
      do throws(ChannelError) { (reply, message) = try reader.receive(path) {
          turns?.review(reader)
          return isCancelled()
        }
      } catch {
        if error == .cancelled {
          end()
          throw .cancelled
        }
        if error == .exhausted {
          end()
          throw .file(.exhausted(path: path, reason: errorText(EMFILE)))
        }
        throw failure(died: error == .closed)
      }
      if case .ready(let held) = reply {
        noteProtections(held)
        continue
      }
      said.withLock { $0.begun = true }
      switch reply {
      case .done(let bytes): return memory.store(bytes, ordering: .relaxed)
      case .failed(let error): throw error
      case .opened(let name): said.withLock { $0.driver = name }
      case .complaint(let text):
        said.withLock { $0.messages = $0.messages.suffix(Self.messageLimit - 1) + [String(text.prefix(1000))] }
      default:
        guard try body(reply, message) else { throw failure(died: false) }
        if reply == .block { try send(.taken) }
      }
    }
  }

  /// Ends the reader and returns the error.
  ///
  /// - Parameter died: whether the reader died; otherwise it sent an invalid reply, and the signal is the server's own.
  func failure(died: Bool = true) -> ReadError {
    let (_, driver, messages) = said.withLock { $0 }
    let signal = reader.endSignal()
    let said = died ? reader.endReason : nil
    let reason = died ? said ?? signal.map(Self.meaning) ?? "it ended without an answer" : "its answer is invalid"
    return .readerFailed(
      ReaderFailure(
        path: path, driver: driver, signal: died ? signal : nil, messages: messages + (said.map { [$0] } ?? []), reason: reason))
  }

  private static func meaning(of signal: Int) -> String {
    switch CInt(signal) {
    case SIGKILL: "it was killed, by the system for want of memory or by another process"
    case SIGABRT, SIGILL, SIGTRAP: "it stopped itself, as at its limit of memory"
    case SIGSEGV, SIGBUS, SIGFPE: "a fault in a library of its format"
    case SIGSYS: "it tried what readers may not do"
    default: "a signal ended it"
    }
  }
}
