// A session without pipes: bytes given by hand, answers kept in memory. Tests and embedders drive the real session by it.

import JSON

/// The client's end of a session in memory. On the session's loop.
public final class MemoryConnection {
  public let session: Session
  public let loop: ManualLoop
  /// Whether the client reads; when it does not, one write hangs and the rest piles up in the session.
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

  /// Gives the session bytes, in one piece, and runs what is ready.
  public func send(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { session.receive($0) }
    loop.run()
  }

  public func send(_ text: String) { send(Array(text.utf8)) }

  /// The input has ended.
  public func close() {
    session.endOfInput()
    loop.run()
  }

  /// Everything written since the last call.
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
