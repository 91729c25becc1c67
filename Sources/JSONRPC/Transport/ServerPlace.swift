// Where servers that clients share are found: a folder for its owner alone, and in it a socket, a lock and what was not saved, by name.

import JSON
import Platform

/// The files of one name.
public struct ServerPlace: Sendable {
  public let name: String
  private let folder: String

  public var socket: String { path("sock") }
  /// Held by the server of the name as long as it lives, however it ends.
  public var lock: String { path("lock") }
  /// The address of its web socket, with the token, and on a line of its own that of its page, if it has one.
  public var web: String { path("web") }
  /// Port and token of its page, which outlive it: an open page goes on with the next server of the name.
  public var page: String { path("page") }
  /// What a server says that was started in the background.
  public var log: String { path("log") }

  private func path(_ suffix: String) -> String { "\(folder)/\(name).\(suffix)" }

  /// - Throws: a reason, for people.
  public init(_ name: String) throws(PlaceError) {
    let isName = (1...64).contains(name.utf8.count) && name.utf8.first != UInt8(ascii: ".")
      && name.utf8.allSatisfy { byte in
        byte &- UInt8(ascii: "0") < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 26 || "_.-".utf8.contains(byte)
      }
    guard isName else { throw PlaceError("\"\(name)\" is no name of a server: letters, digits, _, . and -, at most 64") }
    self.name = name
    folder = Self.folder
    try Self.prepare(folder)
  }

  /// All names that a server has or had.
  public static func all() throws(PlaceError) -> [ServerPlace] {
    guard let list = opendir(folder) else { return [] }
    defer { closedir(list) }
    var names: [String] = []
    while let entry = readdir(list) {
      let file = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if file.utf8.count > 5, file.utf8.suffix(5).elementsEqual(".sock".utf8) { names.append(String(file.dropLast(5))) }
    }
    var places: [ServerPlace] = []
    for name in names.sorted() { places.append(try ServerPlace(name)) }
    return places
  }

  /// Beneath the user's folder for this; without one beneath that for temporary files.
  private static var folder: String {
    folder("XDG_RUNTIME_DIR").map { $0 + "/geomodel-server" } ?? "/tmp/geomodel-server-\(getuid())"
  }

  /// Makes the folder, and checks that nobody else may enter it.
  private static func prepare(_ folder: String) throws(PlaceError) {
    _ = mkdir(folder, 0o700)
    var status = stat()
    guard lstat(folder, &status) == 0 else { throw PlaceError("\(folder): \(errorText())") }
    guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == getuid(), status.st_mode & 0o077 == 0 else {
      throw PlaceError("\(folder) is no folder that belongs to this user alone (mode 0700)")
    }
  }

  /// Takes the lock for the life of this process.
  public func takeLock() throws(PlaceError) {
    let descriptor = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      guard descriptor < 0 || errno != EWOULDBLOCK else {
        throw PlaceError("another server has the name \(name)", isTaken: true)
      }
      throw PlaceError("\(lock): \(errorText())")
    }
  }

  /// Writes a text to one of the files, which is for its owner alone.
  public static func write(_ text: String, to path: String) -> Bool {
    unlink(path)
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var text = text
    return text.withUTF8 { writeBytes(descriptor, UnsafeRawBufferPointer($0)) == $0.count }
  }

  /// The text of one of the files; nil if there is none.
  public static func read(_ path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 64 << 10)
    let count = bytes.withUnsafeMutableBytes { readBytes(descriptor, into: $0) }
    return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
  }

  /// Connects to the server of the name; -1 with `errno` set if there is none. Its user is this one.
  public func connect() -> CInt {
    let descriptor = connectSocket(socket)
    guard descriptor >= 0 else { return -1 }
    guard peer(of: descriptor)?.user == getuid() else {
      close(descriptor)
      errno = EPERM
      return -1
    }
    return descriptor
  }
}

/// Why a server of a name cannot be found or started.
public struct PlaceError: Error, CustomStringConvertible {
  public let description: String
  /// Whether another server has the name, or one that is about to end.
  let isTaken: Bool

  init(_ description: String, isTaken: Bool = false) {
    self.description = description
    self.isTaken = isTaken
  }
}

/// What a server says to the process that starts it; nothing if it cannot serve.
public enum Readiness: UInt8 {
  case ready = 0x52
  /// Another server has the name.
  case taken = 0x54

  func say(_ descriptor: CInt) {
    _ = withUnsafeBytes(of: rawValue) { writeBytes(descriptor, $0) }
    close(descriptor)
  }
}

// Unsaved models of servers that had to end.
extension ServerPlace {
  /// Where one may be kept: beside the socket; if that fails in the user's folder for state, then in that for temporary files.
  public var recoveries: [String] {
    let home = Self.folder("XDG_STATE_HOME") ?? Self.folder("HOME").map { $0 + "/.local/state" }
    let folders = [folder, home.map { $0 + "/geomodel-server" }, Self.temporaryFolder].compactMap { $0 }
    return folders.map { "\($0)/\(name).recovery.json" }
  }

  /// The one that was kept last; nil if there is none.
  public var recovery: String? {
    func time(_ path: String) -> (Int, Int)? {
      var status = stat()
      guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, access(path, R_OK) == 0 else { return nil }
      return (Int(status.modified.tv_sec), Int(status.modified.tv_nsec))
    }
    return recoveries.compactMap { path in time(path).map { (path, $0) } }.max { $0.1 < $1.1 }?.0
  }

  /// The file with the path of the document that an unsaved model had.
  public static func pathFile(of recovery: String) -> String { String(recovery.dropLast(5)) + ".path" }

  /// Makes the folder of one of ``recoveries``.
  public static func makeFolder(of recovery: String) throws(PlaceError) {
    let folder = String(recovery.prefix(upTo: recovery.lastIndex(of: "/") ?? recovery.endIndex))
    for slash in folder.indices where slash > folder.startIndex && folder[slash] == "/" { _ = mkdir(String(folder[..<slash]), 0o700) }
    try prepare(folder)
  }

  private static func folder(_ variable: String) -> String? {
    guard let path = getenv(variable), path.pointee == UInt8(ascii: "/") else { return nil }
    return String(cString: path)
  }

  private static var temporaryFolder: String { (folder("TMPDIR") ?? "/tmp") + "/geomodel-server-\(getuid())" }
}

/// The line that may precede a connection's messages, after a NUL: who connects, or what is asked without becoming a client.
public struct Greeting: Sendable {
  /// The folder of the client's relative paths.
  public var folder: String?
  public var isReadOnly = false
  /// Whether only the server's state is asked for.
  public var asksStatus = false

  static let mark: UInt8 = 0
  static let limit = 64 << 10
  /// The server's answer: it will serve the connection. One that is about to end closes it without.
  static let welcome: UInt8 = 6

  public init() {}

  init(from json: JSONValue) {
    folder = try? json["folder"].string()
    isReadOnly = (try? json["isReadOnly"].bool()) ?? false
    asksStatus = (try? json["asksStatus"].bool()) ?? false
  }

  public var bytes: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("folder", folder)
    writer.member("isReadOnly", isReadOnly)
    writer.member("asksStatus", asksStatus)
    writer.endObject()
    return [Self.mark] + Array(writer.bytes) + [0x0A]
  }

  /// What a server writes at the end of a connection that began with a greeting: a NUL, which is in no message, and the exit code.
  static func farewell(_ code: Int32) -> [UInt8] { [mark, UInt8(truncatingIfNeeded: code)] }
}
