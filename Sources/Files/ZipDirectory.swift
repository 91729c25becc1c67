// What a zip archive contains, by its directory alone. An archive counts as hostile: whatever it says is checked before it is used.

import Platform

/// A file in an archive.
public struct ZipEntry: Hashable, Sendable {
  public let name: String
  /// Where its bytes begin in the archive.
  public fileprivate(set) var offset: Int
  /// Bytes in the archive.
  public let packedSize: Int
  /// Bytes of the file.
  public let size: Int
  /// CRC-32 of the file.
  public let checksum: UInt32
  /// Whether it is compressed by Deflate; otherwise its bytes are those of the file.
  public let isPacked: Bool

  public init(name: String, offset: Int, packedSize: Int, size: Int, checksum: UInt32, isPacked: Bool) {
    (self.name, self.offset, self.packedSize) = (name, offset, packedSize)
    (self.size, self.checksum, self.isPacked) = (size, checksum, isPacked)
  }
}

/// Why an archive is refused.
public struct ZipFault: Error, Hashable, Sendable {
  public enum Kind: String, Sendable {
    /// No zip archive, or one that contradicts itself.
    case damaged
    /// The name leads outside of the archive.
    case leavesPackage
    /// A symbolic link or a special file.
    case link
    /// It would unpack to more than the limits allow.
    case bomb
    case encrypted
    /// There is another entry of the name.
    case doubled
    /// The bytes have another CRC-32.
    case checksum
    /// A way of compression other than Deflate.
    case method
    /// Its directory is beyond the limits.
    case tooManyEntries
  }
  public let kind: Kind
  /// Nil for the archive as a whole.
  public let entry: String?

  public init(_ kind: Kind, _ entry: String? = nil) { (self.kind, self.entry) = (kind, entry) }

  /// Whether the file is none.
  var isNoArchive: Bool { kind == .damaged && entry == nil }

  /// For people.
  public var reason: String {
    let name = entry.map { "\"\($0)\"" } ?? "the archive"
    return switch kind {
    case .damaged: "\(name) is damaged"
    case .leavesPackage: "\(name) leads outside of the archive"
    case .link: "\(name) is a link or a special file"
    case .bomb: "\(name) unpacks to more than is allowed"
    case .encrypted: "\(name) is encrypted"
    case .doubled: "\(name) is there twice"
    case .checksum: "\(name) has another checksum"
    case .method: "\(name) is compressed in a way other than Deflate"
    case .tooManyEntries: "\(name) has more entries than the 65,536 that are read, or a directory of more than 64 MiB"
    }
  }
}

/// The directory of an archive.
///
/// - Source: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, sections 4.3 and 4.5.3.
public struct ZipDirectory: Sendable {
  /// Files, in the order of the directory.
  public let entries: [ZipEntry]
  /// Their numbers by name.
  private let numbers: [[UInt8]: Int]

  public static let entryLimit = 65_536
  private static let directoryLimit = 64 << 20
  /// Of an entry in the directory, without its name.
  private static let entrySize = 46
  /// What Deflate reaches at most is 1,032; data of maps stay far below.
  public static let ratioLimit = 200
  /// Limit of one packed entry, which a reader unpacks in its memory; and of all together.
  public static let packedLimit = 1 << 30
  public static let totalLimit = 4 << 30
  /// Entries below are no bombs.
  private static let smallSize = 1 << 20

  public subscript(name: String) -> ZipEntry? { numbers[Array(name.utf8)].map { entries[$0] } }

  /// - Parameters:
  ///   - file: the archive, open for reading.
  ///   - size: its size.
  public init(_ file: CInt, size: Int) throws(ZipFault) {
    let (start, length, count) = try Self.place(file, size)
    guard count <= length / Self.entrySize else { throw ZipFault(.damaged) }
    guard length <= Self.directoryLimit, count <= Self.entryLimit else { throw ZipFault(.tooManyEntries) }
    guard let bytes = Bytes(file, at: start, count: length) else { throw ZipFault(.damaged) }
    var found: [ZipEntry] = []
    var numbers: [[UInt8]: Int] = [:]
    var folders: [[UInt8]] = []
    var at = 0
    var total = 0
    for _ in 0..<count {
      guard let (entry, next) = try Self.entry(bytes, at: at) else { throw ZipFault(.damaged) }
      at = next
      guard numbers.updateValue(found.count, forKey: Array(entry.name.utf8)) == nil else { throw ZipFault(.doubled, entry.name) }
      guard entry.name.utf8.last != UInt8(ascii: "/") else {
        folders.append(Array(entry.name.utf8))
        continue
      }
      if entry.isPacked { total += entry.size }
      guard total <= Self.totalLimit else { throw ZipFault(.bomb, entry.name) }
      found.append(entry)
    }
    guard at == length else { throw ZipFault(.damaged) }
    // Entries that share bytes multiply what they unpack to.
    var end = 0
    for index in found.indices.sorted(by: { found[$0].offset < found[$1].offset }) {
      guard found[index].offset >= end else { throw ZipFault(.damaged, found[index].name) }
      end = try Self.findBytes(of: &found[index], in: file, before: start)
    }
    for folder in folders { numbers[folder] = nil }
    entries = found
    self.numbers = numbers
  }

  /// Where the directory begins, its length, and the number of its entries.
  private static func place(_ file: CInt, _ size: Int) throws(ZipFault) -> (start: Int, length: Int, count: Int) {
    let tail = min(size, 22 + 0xFFFF)
    guard tail >= 22, let bytes = Bytes(file, at: size - tail, count: tail) else { throw ZipFault(.damaged) }
    // A comment may contain the signature, so the record has to end with the file.
    guard let end = stride(from: tail - 22, through: 0, by: -1).first(where: {
      bytes.word($0) == 0x0605_4B50 && $0 + 22 + bytes.half($0 + 20) == tail
    }) else { throw ZipFault(.damaged) }
    guard bytes.half(end + 4) == 0, bytes.half(end + 6) == 0 else { throw ZipFault(.damaged) }
    var (count, length, start) = (bytes.half(end + 10), bytes.word(end + 12), bytes.word(end + 16))
    let own = size - tail + end
    var limit = own
    // An archive without Zip64 may have just as many entries as its numbers can say.
    if count == 0xFFFF || length == 0xFFFF_FFFF || start == 0xFFFF_FFFF, own >= 20,
      let locator = Bytes(file, at: own - 20, count: 20), locator.word(0) == 0x0706_4B50
    {
      guard let place = locator.long(8), place <= own - 76, let record = Bytes(file, at: place, count: 56),
        record.word(0) == 0x0606_4B50, let all = record.long(32), let bytes = record.long(40), let first = record.long(48)
      else { throw ZipFault(.damaged) }
      (count, length, start, limit) = (all, bytes, first, place)
    }
    guard start <= limit, length <= limit - start else { throw ZipFault(.damaged) }
    return (start, length, count)
  }

  /// An entry of the directory, whose offset is that of its header, and where the next one begins; nil if it is damaged.
  private static func entry(_ bytes: Bytes, at: Int) throws(ZipFault) -> (ZipEntry, next: Int)? {
    guard at + 46 <= bytes.count, bytes.word(at) == 0x0201_4B50 else { return nil }
    let (nameLength, extraLength) = (bytes.half(at + 28), bytes.half(at + 30))
    let next = at + 46 + nameLength + extraLength + bytes.half(at + 32)
    guard next <= bytes.count, let name = bytes.text(at + 46, nameLength) else { return nil }
    let (flags, method, mode) = (bytes.half(at + 8), bytes.half(at + 10), bytes.half(at + 40) & 0o170000)
    guard leads(name) else { throw ZipFault(.leavesPackage, name) }
    guard mode == 0 || mode == 0o100000 || mode == 0o040000 else { throw ZipFault(.link, name) }
    guard flags & 0x2041 == 0, method != 99 else { throw ZipFault(.encrypted, name) }
    guard method == 0 || method == 8 else { throw ZipFault(.method, name) }
    var (packed, size, offset) = (bytes.word(at + 20), bytes.word(at + 24), bytes.word(at + 42))
    // Sizes beyond 32 bits are in an extra field, those that are needed, in this order.
    var extra = at + 46 + nameLength
    let end = extra + extraLength
    while extra + 4 <= end {
      let (kind, length) = (bytes.half(extra), bytes.half(extra + 2))
      guard extra + 4 + length <= end else { return nil }
      if kind == 1 {
        var part = extra + 4
        func long(_ value: inout Int) {
          guard value == 0xFFFF_FFFF, part + 8 <= extra + 4 + length, let number = bytes.long(part) else { return }
          value = number
          part += 8
        }
        long(&size)
        long(&packed)
        long(&offset)
      }
      extra += 4 + length
    }
    guard method == 8 || size == packed else { throw ZipFault(.damaged, name) }
    let isBomb = method == 8 && size > smallSize && (size > packedLimit || size / ratioLimit > packed)
    guard !isBomb else { throw ZipFault(.bomb, name) }
    return (
      ZipEntry(
        name: name, offset: offset, packedSize: packed, size: size, checksum: UInt32(bytes.word(at + 16)), isPacked: method == 8),
      next
    )
  }

  /// Whether a name leads to a place in the archive, on any system.
  private static func leads(_ name: String) -> Bool {
    let parts = (name.hasSuffix("/") ? name.dropLast() : name[...]).split(separator: "/", omittingEmptySubsequences: false)
    // A colon in the first part would be behind the letter of a drive.
    return !name.utf8.contains(UInt8(ascii: "\\")) && !name.utf8.contains(0) && !parts[0].utf8.contains(UInt8(ascii: ":"))
      && parts.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." }
  }

  /// Sets the offset of an entry to that of its bytes, which follow its header.
  ///
  /// - Returns: where they end.
  private static func findBytes(of entry: inout ZipEntry, in file: CInt, before limit: Int) throws(ZipFault) -> Int {
    guard entry.offset <= limit - 30, let header = Bytes(file, at: entry.offset, count: 30), header.word(0) == 0x0403_4B50,
      let name = Bytes(file, at: entry.offset + 30, count: header.half(26))?.text(0, header.half(26)),
      name.utf8.elementsEqual(entry.name.utf8), (header.half(8) == 8) == entry.isPacked
    else { throw ZipFault(.damaged, entry.name) }
    guard header.half(6) & 0x2041 == 0 else { throw ZipFault(.encrypted, entry.name) }
    entry.offset += 30 + header.half(26) + header.half(28)
    guard entry.offset <= limit, entry.packedSize <= limit - entry.offset else { throw ZipFault(.damaged, entry.name) }
    return entry.offset + entry.packedSize
  }
}

/// Bytes of a file, as numbers with the low byte first.
private struct Bytes {
  private let bytes: [UInt8]
  var count: Int { bytes.count }

  /// Nil if the file has not as many there.
  init?(_ file: CInt, at offset: Int, count: Int) {
    guard offset >= 0, let bytes = readExactly(file, at: offset, count: count) else { return nil }
    self.bytes = bytes
  }

  func half(_ at: Int) -> Int { Int(bytes[at]) | Int(bytes[at + 1]) << 8 }
  func word(_ at: Int) -> Int { half(at) | half(at + 2) << 16 }
  /// Nil for what no file has.
  func long(_ at: Int) -> Int? { word(at + 4) < 0x8000_0000 ? word(at) | word(at + 4) << 32 : nil }
  func text(_ at: Int, _ count: Int) -> String? { String(validating: bytes[at..<at + count], as: UTF8.self) }
}

/// Bytes of a file; nil with `errno` set on failure, and if there are not as many.
public func readExactly(_ file: CInt, at offset: Int, count: Int) -> [UInt8]? {
  var done = 0
  let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
    while done < count {
      let got = pread(file, buffer.baseAddress.map { $0 + done }, count - done, off_t(offset + done))
      if got < 0, errno == EINTR { continue }
      guard got > 0 else { break }
      done += got
    }
    filled = done
  }
  return done == count ? bytes : nil
}

/// CRC-32 as zip has it.
///
/// - Source: ISO 3309; eight tables let eight bytes be taken at once (Kounavis and Berry, 2005).
public struct CRC32: Sendable {
  private static let tables: [UInt32] = {
    var tables = [UInt32](repeating: 0, count: 8 * 256)
    for index in 0..<256 {
      tables[index] = (0..<8).reduce(UInt32(index)) { crc, _ in crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
    }
    for index in 256..<8 * 256 {
      let before = tables[index - 256]
      tables[index] = tables[Int(before & 0xFF)] ^ before >> 8
    }
    return tables
  }()

  private var state = UInt32.max
  public var value: UInt32 { ~state }

  public init() {}

  public mutating func add(_ bytes: UnsafeRawBufferPointer) {
    var crc = state
    Self.tables.withUnsafeBufferPointer { table in
      var at = 0
      while at + 8 <= bytes.count {
        let low = crc ^ UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt32.self))
        let high = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: at + 4, as: UInt32.self))
        crc = table[7 * 256 + Int(low & 0xFF)] ^ table[6 * 256 + Int(low >> 8 & 0xFF)]
          ^ table[5 * 256 + Int(low >> 16 & 0xFF)] ^ table[4 * 256 + Int(low >> 24)]
        crc ^= table[3 * 256 + Int(high & 0xFF)] ^ table[2 * 256 + Int(high >> 8 & 0xFF)]
          ^ table[256 + Int(high >> 16 & 0xFF)] ^ table[Int(high >> 24)]
        at += 8
      }
      while at < bytes.count {
        crc = table[Int((crc ^ UInt32(bytes[at])) & 0xFF)] ^ crc >> 8
        at += 1
      }
    }
    state = crc
  }
}
