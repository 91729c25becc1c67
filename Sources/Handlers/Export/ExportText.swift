// Text on its way to an exported file, in pieces, so that memory does not grow with the file.

import JSON
import JSONRPC

/// A buffer before a file.
struct ExportText: ~Copyable {
  /// Text is appended to the file in pieces of at least this size.
  private static let pieceBytes = 1 << 20

  var writer = JSONWriter(capacity: pieceBytes + 1 << 16)

  /// Appends the text to the file once there is enough.
  mutating func flushPiece(to file: borrowing AtomicFile) throws(RPCError) {
    if writer.count >= Self.pieceBytes { try flush(to: file) }
  }

  mutating func flush(to file: borrowing AtomicFile) throws(RPCError) {
    try file.append(writer.bytes)
    writer.reset()
  }
}
