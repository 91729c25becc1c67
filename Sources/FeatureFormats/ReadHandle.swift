// One open file as read by GDAL: each read checks for cancellation and reports progress.

import Files
import Geometry
import Platform

/// A file, or bytes, with a read offset. Used by one thread, as GDAL uses its files.
final class ReadHandle {
  private enum Storage {
    case file(Int32)
    case bytes([UInt8])
  }

  private let session: ReadSession
  private let storage: Storage
  private let size: Int
  private let tellsProgress: Bool
  private(set) var offset = 0
  private(set) var isAtEnd = false
  // Some drivers read a few bytes at a time, mostly in sequence: reads are buffered.
  private var ahead: [UInt8] = []
  private var aheadStart = 0
  private static let aheadSize = 65536

  /// Nil if the session does not admit the file, or it cannot be opened.
  init?(_ path: String, in session: ReadSession) {
    self.session = session
    tellsProgress = session.isMain(path)
    guard session.admits(path), !session.stops() else { return nil }
    if case .bytes(let bytes, _) = session.content {
      storage = .bytes(bytes)
      size = bytes.count
      return
    }
    // Non-blocking, in case the name now belongs to a FIFO.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    // The open file is checked, not its name, which may have been redirected meanwhile.
    guard let identity = FileIdentity(descriptor: descriptor), identity.kind == .regular,
      let real = realPath(ofDescriptor: descriptor) ?? realPath(path), session.policy.allows(realPath: real)
    else {
      close(descriptor)
      return nil
    }
    session.opened(path, identity)
    storage = .file(descriptor)
    size = identity.size
  }

  deinit {
    if case .file(let descriptor) = storage { close(descriptor) }
  }

  /// Returns the bytes read: fewer than requested at the end, on an error, or once the call is cancelled.
  func read(into target: UnsafeMutableRawBufferPointer) -> Int {
    guard !session.stops() else {
      isAtEnd = true
      return 0
    }
    var done = 0
    while done < target.count {
      let got = readSome(UnsafeMutableRawBufferPointer(rebasing: target[done...]))
      guard got > 0 else { break }
      done += got
      offset += got
    }
    if done < target.count { isAtEnd = true }
    if tellsProgress && size > 0 {
      session.reached(session.readShare * Double(offset) / Double(size))
    }
    return done
  }

  private func readSome(_ target: UnsafeMutableRawBufferPointer) -> Int {
    switch storage {
    case .bytes(let bytes):
      guard offset < bytes.count else { return 0 }
      let count = min(target.count, bytes.count - offset)
      bytes.withUnsafeBytes { target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + count])) }
      return count
    case .file(let descriptor):
      if offset < aheadStart || offset >= aheadStart + ahead.count {
        guard target.count < Self.aheadSize else { return Self.read(descriptor, target, at: offset) }
        aheadStart = offset
        ahead = [UInt8](unsafeUninitializedCapacity: Self.aheadSize) { buffer, count in
          count = max(0, Self.read(descriptor, UnsafeMutableRawBufferPointer(buffer), at: aheadStart))
        }
      }
      let start = offset - aheadStart
      let count = min(target.count, ahead.count - start)
      guard count > 0 else { return 0 }
      ahead.withUnsafeBytes { target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[start..<start + count])) }
      return count
    }
  }

  private static func read(_ descriptor: Int32, _ target: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
    while true {
      let got = pread(descriptor, target.baseAddress, target.count, off_t(offset))
      if got >= 0 || errno != EINTR { return got }
    }
  }

  /// - Parameter origin: as for `fseek`.
  func seek(to place: UInt64, from origin: Int32) -> Bool {
    let base =
      switch origin {
      case SEEK_CUR: offset
      case SEEK_END: size
      default: 0
      }
    // GDAL's offsets are unsigned; backward offsets from the end wrap.
    let target = base &+ Int(truncatingIfNeeded: place)
    guard target >= 0 else { return false }
    offset = target
    isAtEnd = false
    return true
  }
}
