// The server's access to painters: processes that make pictures of lists of what is drawn.

import Pictures
import Platform
import Reading
import Synchronization

/// Why there is no picture.
public enum PaintError: Error, Hashable, Sendable {
  /// A library is not installed.
  case unavailable(reason: String)
  case failed(reason: String)
  /// The painter died: of a fault in a library, at its memory limit, or killed by another process.
  case processFailed(signal: Int?)
  case cancelled
  /// The size of the picture is none that is painted.
  case tooLarge
}

/// A picture and what is to be said of it. Its bytes are in shared memory.
public final class PaintedPicture: Sendable {
  public let notes: PaintNotes
  // Never changed: the file is sealed.
  private nonisolated(unsafe) let bytes: UnsafeRawBufferPointer

  init(_ notes: PaintNotes, _ bytes: UnsafeRawBufferPointer) { (self.notes, self.bytes) = (notes, bytes) }

  deinit { SharedMemory.unmap(bytes) }

  public var byteCount: Int { bytes.count }

  /// Passes the bytes, which are there no longer than the picture.
  public func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    defer { withExtendedLifetime(self) {} }
    return try body(bytes)
  }
}

/// Paints in separate processes, which keep fonts and markers for the next picture.
///
/// A call blocks its thread; a cancel kills the process.
public final class Painters: Sendable {
  private let processes: WarmProcesses
  private let isMissing = Mutex(false)

  /// Whether the libraries are there, as far as is known: it is when something was to be painted.
  public var isAvailable: Bool { !isMissing.withLock { $0 } }

  /// - Parameters:
  ///   - executable: the program that serves with `--painter`.
  ///   - memory: limit of a painter's address space in bytes.
  init(executable: String, memory: UInt64) { processes = WarmProcesses(executable: executable, ["--painter", String(memory)]) }

  /// Paints a picture.
  ///
  /// - Parameter words: those of a ``PictureWriter``.
  public func paint(
    _ job: PictureJob, _ words: [UInt32], isCancelled: () -> Bool
  ) throws(PaintError) -> PaintedPicture {
    guard job.isPaintable else { throw .tooLarge }
    let (reply, message) = try run(.paint(job), words, isCancelled)
    guard case .painted(let notes) = reply, let bytes = message.files.first.flatMap(SharedMemory.map) else {
      throw .processFailed(signal: nil)
    }
    let picture = PaintedPicture(notes, bytes)
    guard job.format != .items || bytes.count == job.pixels.width * job.pixels.height * 4 else { throw .processFailed(signal: nil) }
    return picture
  }

  /// The pages of a PDF, which are painted one after the other.
  ///
  /// - Parameter job: that of each.
  public func pages(_ job: PictureJob) throws(PaintError) -> PagePainter {
    guard job.isPaintable else { throw .tooLarge }
    guard let process = processes.ownProcess() else { throw .processFailed(signal: nil) }
    return PagePainter(self, job, process)
  }

  /// The sizes of texts, in the order in which they are in a list of fonts and texts.
  public func measure(_ words: [UInt32], isCancelled: () -> Bool) throws(PaintError) -> [TextSize] {
    guard !words.isEmpty else { return [] }
    let (reply, message) = try run(.measure, words, isCancelled)
    guard case .measured = reply else { throw .processFailed(signal: nil) }
    // A file of no sizes is not mapped.
    guard let bytes = message.files.first.flatMap(SharedMemory.map) else { return [] }
    defer { SharedMemory.unmap(bytes) }
    let floats = bytes.bindMemory(to: Float.self)
    return (0..<floats.count / 3).map { TextSize(width: floats[3 * $0], height: floats[3 * $0 + 1], ascent: floats[3 * $0 + 2]) }
  }

  /// - Parameter process: one's own; nil for any.
  fileprivate func run(
    _ request: ReaderRequest, _ words: [UInt32], in process: ReaderHandle? = nil, _ isCancelled: () -> Bool
  ) throws(PaintError) -> (reply: ReaderReply, message: Message) {
    guard let file = words.withUnsafeBytes({ SharedMemory.file(holding: $0) }) else {
      throw .failed(reason: "shared memory: \(errorText())")
    }
    defer { close(file) }
    let answer: (reply: ReaderReply, message: Message)
    do throws(ProcessFault) {
      answer =
        if let process { try processes.run(request, in: process, file, isCancelled) } else { try processes.run(request, file, isCancelled) }
    } catch {
      switch error {
      case .cancelled: throw .cancelled
      case .ended(let signal): throw .processFailed(signal: signal)
      }
    }
    switch answer.reply {
    case .failed(.unavailable(let reason)):
      isMissing.withLock { $0 = true }
      throw .unavailable(reason: reason)
    case .refused(_, let reason): throw .failed(reason: reason)
    default: return answer
    }
  }
}

/// Paints the pages of one PDF in a process of its own, so that no more than one of them is in memory.
public final class PagePainter {
  private let painters: Painters
  private var job: PictureJob
  private let process: ReaderHandle

  fileprivate init(_ painters: Painters, _ job: PictureJob, _ process: ReaderHandle) {
    (self.painters, self.job, self.process) = (painters, job, process)
  }

  deinit { process.end() }

  /// Paints the next page.
  ///
  /// - Returns: the bytes that follow those of the pages before it.
  public func paint(_ words: [UInt32], isLast: Bool, isCancelled: () -> Bool) throws(PaintError) -> PaintedPicture {
    job.isLast = isLast
    let (reply, message) = try painters.run(.paint(job), words, in: process, isCancelled)
    job.isFirst = false
    guard case .painted(let notes) = reply, let file = message.files.first else { throw .processFailed(signal: nil) }
    // A file of no bytes is not mapped.
    return PaintedPicture(notes, SharedMemory.map(file) ?? UnsafeRawBufferPointer(start: nil, count: 0))
  }
}
