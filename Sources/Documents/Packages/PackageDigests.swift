// What the features of a package were when it was made, as a number for each, by which an update counts what has changed.

import Files

/// The digests of the features of one file, by table.
struct PackageDigests: Equatable {
  var tables: [(name: String, features: [(id: Int, digest: UInt64)])] = []

  /// The name of the entry with the digests of a data file.
  static func name(of file: String) -> String { "digests/\(file.dropFirst("data/".count)).bin" }

  /// The data file whose digests are in an entry of this name; nil if it has none.
  static func file(of name: String) -> String? {
    guard name.hasPrefix("digests/"), name.hasSuffix(".bin") else { return nil }
    return "data/\(name.dropFirst("digests/".count).dropLast(".bin".count))"
  }

  init() {}

  static func == (left: PackageDigests, right: PackageDigests) -> Bool {
    left.tables.elementsEqual(right.tables) {
      $0.name.utf8.elementsEqual($1.name.utf8) && $0.features.elementsEqual($1.features, by: ==)
    }
  }

  // MARK: As bytes: for each table the length of its name, the name, the number of features; and for each its id and digest.

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    func add(_ number: UInt64) { withUnsafeBytes(of: number.littleEndian) { bytes += $0 } }
    for (name, features) in tables {
      add(UInt64(name.utf8.count))
      bytes += name.utf8
      add(UInt64(features.count))
      for (id, digest) in features {
        add(UInt64(bitPattern: Int64(id)))
        add(digest)
      }
    }
    return bytes
  }

  /// Nil if the bytes are none.
  ///
  /// - Parameter check: called every few thousand features; throws to cancel.
  init?(_ bytes: [UInt8], checking check: () throws -> Void) rethrows {
    var rest = bytes[...]
    func number() -> UInt64? {
      guard rest.count >= 8 else { return nil }
      defer { rest = rest.dropFirst(8) }
      return rest.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    while !rest.isEmpty {
      guard let length = number(), length <= rest.count,
        let name = String(validating: rest.prefix(Int(length)), as: UTF8.self)
      else { return nil }
      rest = rest.dropFirst(Int(length))
      guard let count = number(), count <= rest.count / 16 else { return nil }
      var features: [(id: Int, digest: UInt64)] = []
      features.reserveCapacity(Int(count))
      for index in 0..<count {
        if index & 65535 == 0 { try check() }
        guard let id = number(), let digest = number() else { return nil }
        features.append((Int(Int64(bitPattern: id)), digest))
      }
      tables.append((name, features))
    }
  }

  /// How many features a table has more, others, and fewer.
  ///
  /// - Parameter check: as of `init`.
  func change(
    to features: [(id: Int, digest: UInt64)], of name: String, checking check: () throws -> Void
  ) rethrows -> (added: Int, changed: Int, removed: Int) {
    let table = tables.first { $0.name.utf8.elementsEqual(name.utf8) }
    var old: [Int: UInt64] = [:]
    old.reserveCapacity(table?.features.count ?? 0)
    for (index, (id, digest)) in (table?.features ?? []).enumerated() {
      if index & 65535 == 0 { try check() }
      old[id] = old[id] ?? digest
    }
    var (added, changed) = (0, 0)
    for (index, (id, digest)) in features.enumerated() {
      if index & 65535 == 0 { try check() }
      guard let before = old.removeValue(forKey: id) else {
        added += 1
        continue
      }
      if before != digest { changed += 1 }
    }
    return (added, changed, old.count)
  }
}
