// Bytes in the form of gzip, as archives of tiles have them.

import CLibraries

extension [UInt8] {
  /// Packed by zlib; without it, as they are.
  package var gzip: [UInt8] {
    let packed = [UInt8](unsafeUninitializedCapacity: count + count >> 8 + 64) { target, size in
      size = withUnsafeBufferPointer { source in target.baseAddress.map { clibraries_gzip(source.baseAddress, count, $0, target.count) } ?? 0 }
    }
    return packed.isEmpty ? stored : packed
  }

  /// In stored blocks (RFC 1951, RFC 1952).
  private var stored: [UInt8] {
    var bytes: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]
    for start in stride(from: 0, to: Swift.max(count, 1), by: 0xffff) {
      let block = self[start..<Swift.min(start + 0xffff, count)]
      let size = UInt16(block.count)
      bytes += [block.endIndex == count ? 1 : 0, UInt8(size & 0xff), UInt8(size >> 8), UInt8(~size & 0xff), UInt8(~size >> 8)] + block
    }
    var check = ~UInt32(0)
    for byte in self {
      check ^= UInt32(byte)
      for _ in 0..<8 { check = check >> 1 ^ (check & 1 == 0 ? 0 : 0xedb8_8320) }
    }
    for word in [~check, UInt32(truncatingIfNeeded: count)] { Swift.withUnsafeBytes(of: word.littleEndian) { bytes += $0 } }
    return bytes
  }
}
