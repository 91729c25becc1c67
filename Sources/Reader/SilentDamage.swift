// What GDAL reads without a word about the damage in it: archives of KML, and CSV with a quotation mark that nothing closes.

import CReader
import Files
import Platform

extension ReaderFiles {
  /// Why a document of a KMZ archive cannot be read; LIBKML leaves out the layer that is in it.
  var archiveFault: String? {
    guard let file = mainDescriptor, let directory = try? ZipDirectory(file, size: mainSize) else { return nil }
    for entry in directory.entries where entry.name.lowercased().hasSuffix(".kml") {
      if entry.isPacked {
        let memory = creader_memory_file()
        defer { close(memory) }
        let result = creader_inflate(file, off_t(entry.offset), entry.packedSize, memory, entry.size, entry.checksum)
        if result == CInt(CREADER_CHECKSUM) { return ZipFault(.checksum, entry.name).reason }
        if result == CInt(CREADER_DAMAGED) { return ZipFault(.damaged, entry.name).reason }
      } else if let bytes = readExactly(file, at: entry.offset, count: entry.size) {
        var sum = CRC32()
        bytes.withUnsafeBytes { sum.add($0) }
        if sum.value != entry.checksum { return ZipFault(.checksum, entry.name).reason }
      }
    }
    return nil
  }

  /// The number of the line from which on GDAL takes all others into one row of a CSV file, as a quotation mark is missing; nil if there
  /// is none.
  ///
  /// - Parameter count: the rows that GDAL has read.
  func swallowingLine(after count: Int) -> Int? {
    guard let file = mainDescriptor else { return nil }
    let bytes = range(file)
    guard isQuestionable(file, bytes) else { return nil }
    // GDAL reads a line to its first zero, rows to the line that makes their quotation marks even, and no empty lines.
    var (line, row, rows, quotes, isEmpty, isCut) = (1, 1, 0, 0, true, false)
    var (at, rest) = (bytes.lowerBound, 0)
    while at < bytes.upperBound {
      guard let part = readExactly(file, at: at, count: min(1 << 20, bytes.upperBound - at)) else { return nil }
      at += part.count
      for byte in part {
        switch byte {
        case UInt8(ascii: "\n"):
          if quotes & 1 == 0 { (rows, row, rest) = (rows + (isEmpty ? 0 : 1), line + 1, 0) } else if !isEmpty { rest += 1 }
          (line, isEmpty, isCut) = (line + 1, true, false)
        case 0: isCut = true
        case UInt8(ascii: "\r"): break
        default:
          isEmpty = false
          if byte == UInt8(ascii: "\""), !isCut { quotes += 1 }
        }
      }
    }
    if !isEmpty { rest += 1 }
    // Where GDAL sees no quotation in it, there is a row of each line.
    return quotes & 1 == 1 && rest > 1 && count < rows + rest - 1 ? row : nil
  }

  /// Whether there are an odd number of quotation marks, or zeros: quick, as few files have them.
  private func isQuestionable(_ file: CInt, _ bytes: Range<Int>) -> Bool {
    var (quotes, hasZero) = (0, false)
    for at in stride(from: bytes.lowerBound, to: bytes.upperBound, by: 1 << 20) {
      guard let part = readExactly(file, at: at, count: min(1 << 20, bytes.upperBound - at)) else { return false }
      part.withUnsafeBytes { part in
        guard var next = part.baseAddress else { return }
        let end = next + part.count
        hasZero = hasZero || memchr(next, 0, part.count) != nil
        while let mark = memchr(next, CInt(UInt8(ascii: "\"")), end - next) { (quotes, next) = (quotes + 1, UnsafeRawPointer(mark) + 1) }
      }
    }
    return hasZero || quotes & 1 == 1
  }
}
