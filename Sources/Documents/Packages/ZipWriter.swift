// Writes zip archives whose entries are stored as they are, so that readers find them in place.

import Files
import Handlers
import JSONRPC
import Platform

/// An archive that is being written.
///
/// - Source: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, sections 4.3 and 4.5.3.
struct ZipWriter: ~Copyable {
  private struct Entry {
    let name: String
    let offset: Int
    let size: Int
    let checksum: UInt32
  }

  private let file: AtomicFile
  private let path: String
  private var entries: [Entry] = []
  private var offset = 0

  /// - Parameter path: names the archive in errors.
  init(_ file: consuming AtomicFile, _ path: String) {
    self.file = file
    self.path = path
  }

  /// Adds a file of bytes.
  mutating func add(_ name: String, _ bytes: [UInt8]) throws(RPCError) {
    var sum = CRC32()
    bytes.withUnsafeBytes { sum.add($0) }
    let entry = Entry(name: name, offset: offset, size: bytes.count, checksum: sum.value)
    try append(Self.header(entry))
    try append(bytes)
    entries.append(entry)
  }

  /// Adds a part of an open file.
  ///
  /// - Parameter check: called for each piece, with the bytes so far; throws to cancel.
  /// - Returns: its CRC-32.
  @discardableResult
  mutating func add(_ name: String, from source: CInt, at start: Int, count: Int, _ check: (Int) throws -> Void) throws -> UInt32 {
    let begin = offset
    try append(Self.header(Entry(name: name, offset: begin, size: count, checksum: 0)))
    var sum = CRC32()
    var done = 0
    while done < count {
      try check(done)
      let next = min(1 << 20, count - done)
      guard let bytes = readExactly(source, at: start + done, count: next) else {
        throw RPCError(savingTo: path, "\(name) became shorter")
      }
      bytes.withUnsafeBytes { sum.add($0) }
      try append(bytes)
      done += next
    }
    let entry = Entry(name: name, offset: begin, size: count, checksum: sum.value)
    entries.append(entry)
    // The checksum is known only now.
    let header = Self.header(entry)
    guard header.withUnsafeBytes({ pwrite(file.descriptor, $0.baseAddress, $0.count, off_t(begin)) }) == header.count else {
      throw RPCError(savingTo: path, errno)
    }
    return entry.checksum
  }

  /// Writes the directory and gives the archive its name.
  consuming func commit(replaces: Bool, for worker: Worker) throws {
    let start = offset
    for entry in entries { try append(Self.record(entry)) }
    try append(Self.end(entries.count, start, offset - start))
    try file.commit(replaces: replaces, for: worker)
  }

  /// Number of bytes that the archive will have.
  var size: Int { offset + entries.reduce(0) { $0 + Self.record($1).count } + Self.end(entries.count, offset, 0).count }

  private mutating func append(_ bytes: [UInt8]) throws(RPCError) {
    var failure: RPCError?
    bytes.withUnsafeBytes { bytes in
      do throws(RPCError) { try file.append(bytes) } catch { failure = error }
    }
    if let failure { throw failure }
    offset += bytes.count
  }

  // MARK: Records

  private static let limit = 0xFFFF_FFFF
  /// The first of January 1980: the index says when the package was made.
  private static let date = 0x0021

  private static func half(_ number: Int) -> [UInt8] { [UInt8(number & 0xFF), UInt8(number >> 8 & 0xFF)] }
  private static func word(_ number: Int) -> [UInt8] { half(number) + half(number >> 16) }
  private static func long(_ number: Int) -> [UInt8] { word(number) + word(number >> 32) }

  /// The header before the bytes of an entry.
  private static func header(_ entry: Entry) -> [UInt8] {
    let isLong = entry.size >= limit
    let extra = isLong ? half(1) + half(16) + long(entry.size) + long(entry.size) : []
    let size = word(isLong ? limit : entry.size)
    return word(0x0403_4B50) + half(isLong ? 45 : 20) + half(0x0800) + half(0) + half(0) + half(date) + word(Int(entry.checksum)) + size
      + size + half(entry.name.utf8.count) + half(extra.count) + Array(entry.name.utf8) + extra
  }

  /// The record of an entry in the directory.
  private static func record(_ entry: Entry) -> [UInt8] {
    let isLong = entry.size >= limit || entry.offset >= limit
    let extra = isLong ? half(1) + half(24) + long(entry.size) + long(entry.size) + long(entry.offset) : []
    let size = word(isLong ? limit : entry.size)
    return word(0x0201_4B50) + half(0x0300 | 45) + half(isLong ? 45 : 20) + half(0x0800) + half(0) + half(0) + half(date)
      + word(Int(entry.checksum)) + size + size + half(entry.name.utf8.count) + half(extra.count) + half(0) + half(0) + half(0)
      + word(0o100644 << 16) + word(isLong ? limit : entry.offset) + Array(entry.name.utf8) + extra
  }

  /// What follows the directory.
  private static func end(_ count: Int, _ start: Int, _ length: Int) -> [UInt8] {
    let isLong = start + length >= limit || count >= 0xFFFF
    let more =
      isLong
      ? word(0x0606_4B50) + long(44) + half(0x0300 | 45) + half(45) + word(0) + word(0) + long(count) + long(count) + long(length)
        + long(start) + word(0x0706_4B50) + word(0) + long(start + length) + word(1) : []
    let (count, length, start) = isLong ? (0xFFFF, limit, limit) : (count, length, start)
    return more + word(0x0605_4B50) + half(0) + half(0) + half(count) + half(count) + word(length) + word(start) + half(0)
  }
}
