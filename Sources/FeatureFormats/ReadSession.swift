// One call's hold on GDAL's reads: what it may open, how far it got, whether to go on, and whether the files stayed.

import Files
import Geometry
import Synchronization

/// What one call lets GDAL read.
///
/// `@unchecked` because GDAL's callbacks find it by a number in a table that any thread can see; all but the table is
/// used on the thread that made the call, which is the only one that GDAL's vector drivers read on.
final class ReadSession: @unchecked Sendable {
  enum Content {
    /// A file, and beside it those that share its stem (`roads.shp`, `roads.dbf`): nothing else.
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
  private var told = 0.0
  /// Where in 0...1 the reads of the main file lead; what is above is for features.
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

  /// GDAL finds it no more.
  func end() { Self.sessions.withLock { $0.table[token] = nil } }

  /// The session and the path in it of a name that GDAL asks for, `<token>/<path>`.
  static func find(_ name: String) -> (session: ReadSession, path: String)? {
    guard let slash = name.firstIndex(of: "/"), let token = UInt64(name[..<slash]) else { return nil }
    guard let session = sessions.withLock({ $0.table[token] }) else { return nil }
    return (session, String(name[slash...]))
  }

  /// What GDAL is given to open.
  var gdalName: String {
    switch content {
    case .file(let directory, let name, _): "\(Self.prefix)\(token)\(directory)/\(name)"
    case .bytes(_, let name): "\(Self.prefix)\(token)/\(name)"
    }
  }

  /// Messages without our prefix, as the client knows the file.
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

  /// Whether to stop; once stopped, stopped for good.
  func stops() -> Bool {
    if !wasCancelled && isCancelled() { wasCancelled = true }
    return wasCancelled
  }

  /// Tells progress when it rose by a hundredth.
  func reached(_ fraction: Double) {
    let fraction = min(fraction, 1)
    guard fraction >= told + 0.01 || (fraction == 1 && told < 1) else { return }
    told = fraction
    progress(fraction)
  }

  /// Whether GDAL may see `path`: the file itself, or one beside it that shares its stem.
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

  /// Remembers how a file looked when first opened.
  func opened(_ path: String, _ identity: FileIdentity) {
    if let known = identities[path] {
      if known != identity { changed = changed ?? path }
    } else {
      identities[path] = identity
    }
  }

  /// SQLite's locks and snapshots see to it that one state is read, whatever becomes of the file.
  func leaveChangesToSQLite() {
    isLeftToSQLite = true
  }

  /// The first file that no longer looks as it did when it was opened.
  func firstChangedFile() -> String? {
    if isLeftToSQLite { return nil }
    return changed ?? identities.first { FileIdentity(path: $0.key) != $0.value }?.key
  }
}
