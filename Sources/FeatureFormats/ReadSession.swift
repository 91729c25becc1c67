// State of one call's reads through GDAL: admitted files, progress, cancellation, and changes of the files.

import Files
import Geometry
import Synchronization

/// The files that GDAL may read in one call.
///
/// `@unchecked`: GDAL's callbacks find it by a number in a table visible to all threads. All but the table is used on
/// the calling thread, the only one on which GDAL's vector drivers read.
final class ReadSession: @unchecked Sendable {
  enum Content {
    /// A file, and those beside it with the same stem (`roads.shp`, `roads.dbf`).
    case file(directory: String, name: String, stem: String)
    case bytes([UInt8], name: String)
  }

  static let prefix = "/vsigeomodel/"
  private static let sessions = Mutex<(next: UInt64, table: [UInt64: ReadSession])>((1, [:]))

  let content: Content
  let policy: FilePolicy
  let token: UInt64
  private let isCancelled: @Sendable () -> Bool
  private let progress: (Double) -> Void
  private var reported = 0.0
  /// The fraction in 0...1 at the end of reading the main file; the rest is features.
  var readShare = 0.0
  private(set) var wasCancelled = false
  private var identities: [String: FileIdentity] = [:]
  private var changed: String?
  private var isLeftToSQLite = false

  init(
    _ content: Content, policy: FilePolicy, isCancelled: @escaping @Sendable () -> Bool,
    progress: @escaping (Double) -> Void
  ) {
    self.content = content
    self.policy = policy
    self.isCancelled = isCancelled
    self.progress = progress
    token = Self.sessions.withLock { sessions in
      defer { sessions.next += 1 }
      return sessions.next
    }
    Self.sessions.withLock { $0.table[token] = self }
  }

  /// Removes the session from the table.
  func end() { Self.sessions.withLock { $0.table[token] = nil } }

  /// The session and its path for a name that GDAL opens, `<token>/<path>`.
  static func find(_ name: String) -> (session: ReadSession, path: String)? {
    guard let slash = name.firstIndex(of: "/"), let token = UInt64(name[..<slash]) else { return nil }
    guard let session = sessions.withLock({ $0.table[token] }) else { return nil }
    return (session, String(name[slash...]))
  }

  /// The name that GDAL opens.
  var gdalName: String {
    switch content {
    case .file(let directory, let name, _): "\(Self.prefix)\(token)\(directory)/\(name)"
    case .bytes(_, let name): "\(Self.prefix)\(token)/\(name)"
    }
  }

  /// A message without the prefix of the virtual file system.
  func cleaned(_ message: String) -> String {
    let prefix = Array("\(Self.prefix)\(token)".utf8)
    let bytes = Array(message.utf8)
    var cleaned: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if bytes[index...].starts(with: prefix) {
        index += prefix.count
      } else {
        cleaned.append(bytes[index])
        index += 1
      }
    }
    return String(decoding: cleaned, as: UTF8.self)
  }

  /// Whether to stop; once true, it remains true.
  func stops() -> Bool {
    if !wasCancelled && isCancelled() { wasCancelled = true }
    return wasCancelled
  }

  /// Reports progress when it has risen by a hundredth.
  func reached(_ fraction: Double) {
    let fraction = min(fraction, 1)
    guard fraction >= reported + 0.01 || (fraction == 1 && reported < 1) else { return }
    reported = fraction
    progress(fraction)
  }

  /// Whether GDAL may open `path`: the file itself, or one beside it with the same stem.
  func admits(_ path: String) -> Bool {
    switch content {
    case .bytes(_, let name): return Text(path) == Text("/\(name)")
    case .file(let directory, let name, let stem):
      guard path.begins(with: directory + "/") else { return false }
      let leaf = String(Substring(path.utf8.dropFirst(directory.utf8.count + 1)))
      return Text(leaf) == Text(name) || (leaf.begins(with: stem + ".") && !leaf.utf8.contains(UInt8(ascii: "/")))
    }
  }

  func isMain(_ path: String) -> Bool {
    guard case .file(let directory, let name, _) = content else { return true }
    return Text(path) == Text("\(directory)/\(name)")
  }

  /// Records the identity of a file when first opened.
  func opened(_ path: String, _ identity: FileIdentity) {
    if let known = identities[path] {
      if known != identity { changed = changed ?? path }
    } else {
      identities[path] = identity
    }
  }

  /// Excludes the file from change detection: SQLite's locks and snapshots ensure that one state is read.
  func leaveChangesToSQLite() {
    isLeftToSQLite = true
  }

  /// The first file whose identity has changed since it was opened.
  func firstChangedFile() -> String? {
    if isLeftToSQLite { return nil }
    return changed ?? identities.first { FileIdentity(path: $0.key) != $0.value }?.key
  }
}
