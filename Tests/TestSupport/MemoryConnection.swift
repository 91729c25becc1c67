// A session without pipes: bytes are passed in, and output is kept in memory.

import JSON
import JSONRPC

/// The client's end of an in-memory session. Used on the session's loop.
///
/// ```swift
/// connection.send(Array(#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#.utf8) + [10])
/// let output = connection.takeOutput()
/// ```
public final class MemoryConnection {
  public let session: Session
  public let loop: ManualLoop
  /// Whether the client reads. If not, one write is pending and the rest stays in the session.
  public var reads = true { didSet { flush() } }
  /// The bytes of each write since the last ``takeOutput()``.
  public private(set) var writes: [[UInt8]] = []

  private var sending = JSONWriter()
  private var hanging = 0
  private var isFlushing = false

  public init(_ session: Session, on loop: ManualLoop) {
    self.session = session
    self.loop = loop
    session.onOutput = { [weak self] in self?.flush() }
  }

  /// Passes bytes to the session in one piece and runs what is ready.
  public func send(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { session.receive($0) }
    loop.run()
  }

  public func send(_ text: String) { send(Array(text.utf8)) }

  /// Ends the input.
  public func close() {
    session.endOfInput()
    loop.run()
  }

  /// All output since the last call.
  public func takeOutput() -> [UInt8] {
    loop.run()
    defer { writes = [] }
    return Array(writes.joined())
  }

  private func flush() {
    guard !isFlushing else { return }
    isFlushing = true
    defer { isFlushing = false }
    while true {
      if hanging > 0 {
        guard reads else { return }
        writes.append(Array(sending.bytes))
        let count = hanging
        hanging = 0
        sending.reset()
        session.outputWritten(count)
      }
      guard session.takeOutput(into: &sending) else { return }
      hanging = sending.count
    }
  }
}
