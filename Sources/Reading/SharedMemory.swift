// Files in memory, immutable once they are filled.

import CReader
import Platform

public enum SharedMemory {
  /// A sealed file with these bytes; nil with `errno` set on failure. The caller closes it.
  public static func file(holding bytes: some Sequence<UInt8>) -> CInt? {
    let bytes = Array(bytes)
    return bytes.withUnsafeBytes { file(holding: $0) }
  }

  public static func file(holding bytes: UnsafeRawBufferPointer) -> CInt? {
    let file = creader_memory_file()
    guard file >= 0 else { return nil }
    guard writeAll(bytes, to: file), seal(file) else {
      close(file)
      return nil
    }
    return file
  }

  public static func seal(_ file: CInt) -> Bool { creader_seal(file) == 0 }

  /// The bytes of a sealed file; nil if it is not sealed. The caller unmaps them.
  public static func map(_ file: CInt) -> UnsafeRawBufferPointer? {
    var status = stat()
    guard fstat(file, &status) == 0, status.st_size > 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    let size = Int(status.st_size)
    #if os(Linux)
      guard creader_is_sealed(file) != 0 else { return nil }
      guard let start = mmap(nil, size, PROT_READ, MAP_PRIVATE, file, 0), start != MAP_FAILED else { return nil }
    #else
      // The system cannot seal files, so the bytes are copied.
      guard let start = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0), start != MAP_FAILED
      else { return nil }
      guard pread(file, start, size, 0) == size else {
        munmap(start, size)
        return nil
      }
    #endif
    return UnsafeRawBufferPointer(start: start, count: size)
  }

  public static func unmap(_ bytes: UnsafeRawBufferPointer) {
    munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count)
  }
}
