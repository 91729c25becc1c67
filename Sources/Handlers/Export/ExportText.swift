// Buffers text for an exported file and writes it in pieces, so that memory does not grow with the file.

import JSON
import JSONRPC

/// A buffer in front of a file.
struct ExportText: ~Copyable {
  /// Minimum size of a piece, in bytes.
  private static let pieceBytes = 1 << 20

  var writer = JSONWriter(capacity: pieceBytes + 1 << 16)

  /// Appends the text to the file if it has reached the size of a piece.
  mutating func flushPiece(to file: borrowing AtomicFile) throws(RPCError) {
    if writer.count >= Self.pieceBytes { try flush(to: file) }
  }

  mutating func flush(to file: borrowing AtomicFile) throws(RPCError) {
    try file.append(writer.bytes)
    writer.reset()
  }
}
