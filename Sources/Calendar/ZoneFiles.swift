// The system's time zone files, read on demand.

import Platform
import Synchronization

/// The zones in a folder of TZif files, as installed by tzdata; zones of whole hours need no files.
///
/// Zones are cached, so that a zone stays known even if its file is removed. Names that were not found are looked up again.
public final class ZoneFiles: TimeZoneSource {
  /// The largest existing files have a few kilobytes.
  private static let largest = 1 << 18

  private let folder: String
  private let known = Mutex<[String: TimeZone]>([:])

  /// - Parameter folder: an absolute path; nil for `TZDIR` or else `/usr/share/zoneinfo`.
  public init(folder: String? = nil) {
    let variable = getenv("TZDIR").map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
    self.folder = folder ?? variable ?? "/usr/share/zoneinfo"
  }

  public func zone(named name: String) -> TimeZone? {
    if let fixed = FixedTimeZones().zone(named: name) { return fixed }
    // The name becomes a path, which must not leave the folder: it contains no dot and no empty part.
    guard name.utf8.count <= 64, name.split(separator: "/", omittingEmptySubsequences: false).allSatisfy(Self.isPart)
    else { return nil }
    return known.withLock { known in
      if let zone = known[name] { return zone }
      guard let bytes = Self.read("\(folder)/\(name)"), let zone = TimeZone(tzif: bytes) else { return nil }
      known[name] = zone
      return zone
    }
  }

  private static func isPart(_ part: Substring) -> Bool {
    !part.isEmpty
      && part.utf8.allSatisfy { byte in
        (byte | 0x20) >= UInt8(ascii: "a") && (byte | 0x20) <= UInt8(ascii: "z") || byte >= 0x30 && byte <= 0x39
          || "_-+".utf8.contains(byte)
      }
  }

  /// Nil for unreadable files, and for files larger than ``largest``.
  private static func read(_ path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= largest else {
      return nil
    }
    let bytes = [UInt8](unsafeUninitializedCapacity: Int(status.st_size)) { buffer, count in
      // Files are read in one call; a truncated one is not a zone.
      let got = pread(descriptor, buffer.baseAddress, buffer.count, 0)
      count = max(0, got)
    }
    return bytes
  }
}
