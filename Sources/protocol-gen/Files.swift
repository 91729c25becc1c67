// File access of the tool: reads the definition, writes or compares generated files.

import Platform

enum Files {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  static func read(_ path: String) throws(Failure) -> [UInt8] {
    guard let file = fopen(path, "rb") else { throw Failure(description: "\(path): \(errorText())") }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65536)
    while case let count = fread(&chunk, 1, chunk.count, file), count > 0 { bytes += chunk[..<count] }
    if ferror(file) != 0 { throw Failure(description: "\(path): cannot be read") }
    return bytes
  }

  static func write(_ text: String, to path: String) throws(Failure) {
    if let slash = path.lastIndex(of: "/") { mkdir(String(path[..<slash]), 0o777) }
    guard let file = fopen(path, "wb") else { throw Failure(description: "\(path): \(errorText())") }
    let bytes = Array(text.utf8)
    let written = fwrite(bytes, 1, bytes.count, file)
    guard fclose(file) == 0, written == bytes.count else { throw Failure(description: "\(path): \(errorText())") }
  }

  static func remove(_ path: String) throws(Failure) {
    guard unlink(path) == 0 else { throw Failure(description: "\(path): \(errorText())") }
  }

  /// Names in a folder, sorted; empty if there is no such folder.
  static func list(_ folder: String) -> [String] {
    guard let stream = opendir(folder) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
  }

  /// Writes a line to standard error.
  static func say(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    _ = bytes.withUnsafeBytes { writeBytes(2, $0) }
  }
}
