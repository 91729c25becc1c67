// One open file as read by GDAL: each read reports progress.

import Files
import Platform

final class ReadHandle: VirtualFile {
  private let files: ReaderFiles
  private let descriptor: CInt
  private let isMain: Bool
  private let range: Range<Int>
  override var size: Int { range.count }
  // Some drivers read a few bytes at a time, mostly in sequence: reads are buffered.
  private var ahead: [UInt8] = []
  private var aheadStart = 0
  private static let aheadSize = 65536

  /// Nil if the name is not that of a file of the request.
  init?(_ name: String, in files: ReaderFiles) {
    guard let (descriptor, isMain) = files.find(name) else { return nil }
    self.files = files
    self.descriptor = descriptor
    self.isMain = isMain
    range = files.range(descriptor)
  }

  override func read(into target: UnsafeMutableRawBufferPointer) -> Int {
    var done = 0
    while done < target.count {
      let got = readSome(UnsafeMutableRawBufferPointer(rebasing: target[done...]))
      guard got > 0 else { break }
      done += got
      offset += got
    }
    if done < target.count { isAtEnd = true }
    if isMain && size > 0 { files.reached(files.readShare * Double(offset) / Double(size)) }
    return done
  }

  private func readSome(_ target: UnsafeMutableRawBufferPointer) -> Int {
    if offset < aheadStart || offset >= aheadStart + ahead.count {
      guard target.count < Self.aheadSize else { return read(target, at: offset) }
      aheadStart = offset
      ahead = [UInt8](unsafeUninitializedCapacity: Self.aheadSize) { buffer, count in
        count = max(0, read(UnsafeMutableRawBufferPointer(buffer), at: aheadStart))
      }
    }
    let start = offset - aheadStart
    let count = min(target.count, ahead.count - start)
    guard count > 0 else { return 0 }
    ahead.withUnsafeBytes { target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[start..<start + count])) }
    return count
  }

  private func read(_ target: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
    while true {
      let count = max(0, min(target.count, size - offset))
      let got = pread(descriptor, target.baseAddress, count, off_t(range.lowerBound + offset))
      if got >= 0 || errno != EINTR { return got }
    }
  }
}

/// The target offset of a seek; nil before the beginning.
///
/// - Parameters:
///   - offset: GDAL's offsets are unsigned; backward offsets from the end wrap.
///   - origin: as for `fseek`.
func filePosition(_ offset: UInt64, from origin: Int32, at current: Int, size: @autoclosure () -> Int) -> Int? {
  let base =
    switch origin {
    case SEEK_CUR: current
    case SEEK_END: size()
    default: 0
    }
  let target = base &+ Int(truncatingIfNeeded: offset)
  return target < 0 ? nil : target
}
