// Decodes texts in encodings other than UTF-8, which the source or its caller names.

import CReader

/// Converts texts to UTF-8. Bytes that are invalid in the encoding become U+FFFD; GDAL would drop them silently.
final class TextDecoder {
  private let handle: UnsafeMutableRawPointer

  /// Nil if the encoding is unknown.
  init?(_ encoding: String) {
    guard let handle = creader_decoder_open(encoding) else { return nil }
    self.handle = handle
  }

  deinit { creader_decoder_close(handle) }

  /// Calls `body` with the text as UTF-8.
  func decode<R>(_ text: UnsafeBufferPointer<CChar>, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    guard let start = text.baseAddress else { return body(UnsafeRawBufferPointer(text)) }
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4 * text.count) { room in
      let count = room.baseAddress.map { creader_decode(handle, start, text.count, $0) } ?? 0
      return body(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: room[..<count])))
    }
  }
}
