// The traffic as a transcript that the conformance runner replays: one JSON object a line.

import JSON
import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A file that is written on a thread of its own: a slow disk costs memory up to a bound, then lines, never the loop's time.
public final class TraceFile: TrafficRecorder, Sendable {
  private struct State {
    var lines = [UInt8]()
    var leftOut = 0
    var isWriting = false
    var isClosed = false
    var hasFailed = false
  }

  private static let bound = 64 << 20
  private let descriptor: CInt
  private let state = Mutex(State())
  private let finished = Signal()
  private let onFailure: @Sendable (CInt) -> Void

  /// nil when the file cannot be made; `errno` says why.
  ///
  /// - Parameters:
  ///   - header: members of the first line beside `case`, as JSON text without braces.
  ///   - onFailure: called once with the system's error when lines cannot be written: they are missing from then on.
  public init?(path: String, header: String = "", onFailure: @escaping @Sendable (CInt) -> Void = { _ in }) {
    self.onFailure = onFailure
    descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { return nil }
    append { writer in
      writer.beginObject()
      writer.key("case")
      writer.value("trace")
      if !header.isEmpty {
        writer.append(",")
        header.utf8.forEach { writer.append(byte: $0) }
      }
      writer.endObject()
    }
  }

  public func received(_ text: UnsafeRawBufferPointer, isJSON: Bool) {
    append { writer in
      writer.beginObject()
      if isJSON {
        writer.key("send")
        writer.raw(text)
      } else {
        writer.key("sendText")
        writer.value(String(decoding: text, as: UTF8.self))
      }
      writer.endObject()
    }
  }

  public func sent(_ text: UnsafeRawBufferPointer) {
    append { writer in
      writer.beginObject()
      writer.key("expect")
      writer.raw(text)
      writer.endObject()
    }
  }

  /// Writes what is left, but waits no longer than a slow disk deserves.
  public func close() {
    let isWriting = state.withLock { state in
      state.isClosed = true
      return state.isWriting
    }
    if isWriting { finished.wait(seconds: 3) }
  }

  private func append(_ write: (inout JSONWriter) -> Void) {
    var writer = JSONWriter(capacity: 512)
    write(&writer)
    // A text of the client's may have line ends between its tokens.
    writer.replace(0x0A, by: 0x20, from: 0)
    writer.append(byte: 0x0A)
    let starts = state.withLock { state in
      guard !state.isClosed else { return false }
      guard state.lines.count + writer.count <= Self.bound else {
        state.leftOut += 1
        return false
      }
      if state.leftOut > 0 {
        state.lines += Array("{\"leftOut\":\(state.leftOut)}\n".utf8)
        state.leftOut = 0
      }
      state.lines.append(contentsOf: writer.bytes)
      defer { state.isWriting = true }
      return !state.isWriting
    }
    if starts { startThread { [self] in writeOut() } }
  }

  /// Writes until there is nothing more; the next line starts another thread.
  private func writeOut() {
    while true {
      let lines = state.withLock { state -> [UInt8]? in
        guard !state.lines.isEmpty else {
          state.isWriting = false
          if state.isClosed { finished.raise() }
          return nil
        }
        defer { state.lines = [] }
        return state.lines
      }
      guard let lines else { return }
      var written = 0
      while written < lines.count {
        let step = lines.withUnsafeBytes { bytes -> Int in
          guard let start = bytes.baseAddress else { return -1 }
          return write(descriptor, start + written, lines.count - written)
        }
        if step < 0, errno == EINTR { continue }
        guard step > 0 else {
          tellFailure(errno)
          break
        }
        written += step
      }
    }
  }

  private func tellFailure(_ code: CInt) {
    let isNews = state.withLock { state in
      defer { state.hasFailed = true }
      return !state.hasFailed
    }
    if isNews { onFailure(code) }
  }
}
