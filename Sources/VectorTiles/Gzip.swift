// Bytes in the form of gzip, as archives of tiles have them.

import CLibraries

/// The machine has no zlib.
package struct GzipError: Error {
  package init() {}
}

extension [UInt8] {
  /// Packed by zlib.
  package var gzip: [UInt8] {
    get throws(GzipError) {
      let packed = [UInt8](unsafeUninitializedCapacity: count + count >> 8 + 64) { target, size in
        size = withUnsafeBufferPointer { source in target.baseAddress.map { clibraries_gzip(source.baseAddress, count, $0, target.count) } ?? 0 }
      }
      guard !packed.isEmpty else { throw GzipError() }
      return packed
    }
  }
}
