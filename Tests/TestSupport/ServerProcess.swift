// The built server behind real pipes, for tests at the level of bytes. Nothing here sleeps.

import Glibc

/// A running server, ended with the object.
public final class ServerProcess {
  /// The connection of a standard stream of the server.
  public enum Stream: Sendable {
    /// A pipe whose other end this object holds.
    case pipe
    /// One end of a socket pair.
    case socket
    /// A pseudo-terminal.
    case terminal
    case file(String)
    case null
  }

  public enum Exit: Equatable, Sendable {
    case code(Int32)
    case signal(Int32)
  }

  public struct Failure: Error, CustomStringConvertible {
    public let description: String
  }

  public let process: pid_t
  /// Our ends; -1 if the server's end is not a pipe.
  public private(set) var input: CInt
  public private(set) var output: CInt
  public private(set) var errors: CInt
  private var received: [UInt8] = []
  private var exit: Exit?

  /// The built server: `GEOMODEL_SERVER`, or the one next to the test bundle.
  public static var path: String {
    if let given = getenv("GEOMODEL_SERVER") { return String(cString: given) }
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
    let own = String(decoding: buffer.prefix(max(count, 0)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    var directory = own.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    while !directory.isEmpty {
      let candidate = (directory + ["geomodel-server"]).joined(separator: "/")
      if access(candidate, X_OK) == 0 { return candidate }
      directory = directory.dropLast()
    }
    return "geomodel-server"
  }

  /// Starts the server, or `command` instead (such as a shell that starts the server).
  public init(
    _ arguments: [String] = [], input: Stream = .pipe, output: Stream = .pipe, errors: Stream = .pipe,
    command: [String]? = nil
  ) throws {
    let (serverInput, ownInput) = try Self.open(input, forReading: true)
    let (serverOutput, ownOutput) = try Self.open(output, forReading: false)
    let (serverErrors, ownErrors) = try Self.open(errors, forReading: false)
    self.input = ownInput
    self.output = ownOutput
    self.errors = ownErrors

    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_adddup2(&actions, serverInput, 0)
    posix_spawn_file_actions_adddup2(&actions, serverOutput, 1)
    posix_spawn_file_actions_adddup2(&actions, serverErrors, 2)
    // Other tests open streams meanwhile, which would stay open in this process. (Not exported by the Glibc module.)
    typealias CloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, CInt) -> CInt
    if let symbol = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") {
      _ = unsafeBitCast(symbol, to: CloseFrom.self)(&actions, 3)
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    // The server must not inherit signals that the test runner ignores or blocks.
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    for number in [SIGPIPE, SIGTERM, SIGINT] { sigaddset(&signals, number) }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    let words = command ?? [Self.path] + arguments
    var vector: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    var child = pid_t()
    let failure = posix_spawnp(&child, words[0], &actions, &attributes, &vector, environ)
    for word in vector { free(word) }
    posix_spawnattr_destroy(&attributes)
    posix_spawn_file_actions_destroy(&actions)
    for end in Set([serverInput, serverOutput, serverErrors]) { close(end) }
    process = child
    guard failure == 0 else { throw Failure(description: "\(words[0]): \(String(cString: strerror(failure)))") }
  }

  deinit {
    if exit == nil {
      kill(process, SIGKILL)
      waitpid(process, nil, 0)
    }
    for end in Set([input, output, errors]) where end >= 0 { close(end) }
  }

  private static func open(_ stream: Stream, forReading: Bool) throws -> (server: CInt, own: CInt) {
    var ends: [CInt] = [-1, -1]
    var failed = false
    switch stream {
    case .pipe:
      failed = Glibc.pipe(&ends) != 0
      if !forReading { ends.swapAt(0, 1) }
    case .socket: failed = socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) != 0
    case .terminal:
      // Not exported by the Glibc module.
      typealias Open =
        @convention(c) (
          UnsafeMutablePointer<CInt>, UnsafeMutablePointer<CInt>, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?,
          UnsafeMutableRawPointer?
        ) -> CInt
      guard let symbol = dlsym(nil, "openpty") else { throw Failure(description: "no openpty") }
      var master: CInt = -1
      failed = unsafeBitCast(symbol, to: Open.self)(&master, &ends[0], nil, nil, nil) != 0
      ends[1] = master
      // Raw mode, as set by programs that use a terminal for bytes.
      var settings = termios()
      tcgetattr(ends[0], &settings)
      cfmakeraw(&settings)
      tcsetattr(ends[0], TCSANOW, &settings)
    case .file(let path):
      ends[0] = forReading ? Glibc.open(path, O_RDONLY) : Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
      failed = ends[0] < 0
    case .null:
      ends[0] = Glibc.open("/dev/null", O_RDWR)
      failed = ends[0] < 0
    }
    if failed { throw Failure(description: "\(stream): \(String(cString: strerror(errno)))") }
    for end in ends where end >= 0 { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  // MARK: - To the server

  /// Writes all bytes, in pieces of at most `piece` bytes.
  public func send(_ bytes: [UInt8], piece: Int = .max) throws {
    var sent = 0
    while sent < bytes.count {
      let step = bytes.withUnsafeBytes { all -> Int in
        guard let start = all.baseAddress else { return 0 }
        return write(input, start + sent, min(piece, bytes.count - sent))
      }
      if step < 0, errno == EINTR { continue }
      guard step > 0 else { throw Failure(description: "write: \(String(cString: strerror(errno)))") }
      sent += step
    }
  }

  public func send(_ text: String, piece: Int = .max) throws { try send(Array(text.utf8), piece: piece) }

  /// Sends one message with LSP's headers.
  public func sendFramed(_ message: String) throws {
    try send("Content-Length: \(message.utf8.count)\r\n\r\n\(message)")
  }

  public func closeInput() {
    close(input)
    if output == input { output = -1 }
    input = -1
  }

  /// Closes the reading end: the server's writes will fail.
  public func closeOutput() {
    close(output)
    output = -1
  }

  // MARK: - From the server

  /// The next line, without its end.
  public func line(seconds: Int32 = 10) throws -> String {
    // A long line comes in many pieces: each is scanned once.
    var searched = 0
    while true {
      if let end = received[searched...].firstIndex(of: 0x0A) {
        defer { received.removeFirst(end + 1) }
        return String(decoding: received[..<end], as: UTF8.self)
      }
      searched = received.count
      guard try readMore(seconds) else { throw Failure(description: "the output ended") }
    }
  }

  /// The next message with headers, which have to be exactly as specified.
  public func message(seconds: Int32 = 10) throws -> String {
    while true {
      let head = Array("\r\n\r\n".utf8)
      if let end = received.indices.dropLast(3).first(where: { received[$0..<($0 + 4)].elementsEqual(head) }) {
        let header = String(decoding: received[..<end], as: UTF8.self)
        guard header.hasPrefix("Content-Length: "), let length = Int(header.dropFirst(16)) else {
          throw Failure(description: "no header: \(header)")
        }
        if received.count >= end + 4 + length {
          defer { received.removeFirst(end + 4 + length) }
          return String(decoding: received[(end + 4)..<(end + 4 + length)], as: UTF8.self)
        }
      }
      guard try readMore(seconds) else { throw Failure(description: "the output ended") }
    }
  }

  /// All output to its end.
  public func rest(seconds: Int32 = 10) throws -> String {
    while try readMore(seconds) {}
    defer { received = [] }
    return String(decoding: received, as: UTF8.self)
  }

  /// The bytes of one `read`: those written together.
  public func readOnce(seconds: Int32 = 10) throws -> [UInt8] {
    defer { received = [] }
    _ = try readMore(seconds)
    return received
  }

  /// Whether the server writes within the given milliseconds.
  public func hasOutput(milliseconds: Int32) -> Bool {
    var waiting = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    return poll(&waiting, 1, milliseconds) == 1
  }

  private func readMore(_ seconds: Int32) throws -> Bool {
    guard hasOutput(milliseconds: seconds * 1000) else { throw Failure(description: "no output in \(seconds) s") }
    var buffer = [UInt8](repeating: 0, count: 256 << 10)
    let count = read(output, &buffer, buffer.count)
    // Reading the master of a terminal without other holders fails instead of ending.
    if count < 0, errno != EIO { throw Failure(description: "read: \(String(cString: strerror(errno)))") }
    guard count > 0 else { return false }
    received += buffer[..<count]
    return true
  }

  /// The server's standard error to its end.
  public func errorText() -> String {
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      var waiting = pollfd(fd: errors, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, 10_000) == 1 else { break }
      let count = read(errors, &buffer, buffer.count)
      guard count > 0 else { break }
      text += buffer[..<count]
    }
    return String(decoding: text, as: UTF8.self)
  }

  // MARK: - Its end

  /// Waits for the end of the process.
  public func waitForExit(seconds: Int32 = 10) throws -> Exit {
    if let exit { return exit }
    guard waitForDeath(of: process, seconds: seconds) else {
      throw Failure(description: "the server still runs after \(seconds) s")
    }
    var status: CInt = 0
    waitpid(process, &status, 0)
    let result: Exit = status & 0x7F == 0 ? .code((status >> 8) & 0xFF) : .signal(status & 0x7F)
    exit = result
    return result
  }

  /// A line of `/proc/PID/status` in KiB, such as `VmRSS`.
  public func kibibytes(_ name: String) -> Int { Self.kibibytes(name, of: process) }

  /// The processes that the server has started to read files.
  public var readers: [pid_t] {
    threads.flatMap { readFile("\($0)/children").split(separator: " ").compactMap { pid_t($0) } }
  }

  /// Number of readers that the server has stopped.
  public var stoppedReaders: Int { readers.count { readFile("/proc/\($0)/stat").contains(") T ") } }

  /// The folder of each of its threads.
  private var threads: [String] {
    var found: [String] = []
    guard let folder = opendir("/proc/\(process)/task") else { return [] }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
      let thread = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if !thread.hasPrefix(".") { found.append("/proc/\(process)/task/\(thread)") }
    }
    return found
  }

  /// The largest resident memory of a reader in KiB; 0 without one.
  public var largestReader: Int { readers.map { Self.kibibytes("VmRSS", of: $0) }.max() ?? 0 }

  private static func kibibytes(_ name: String, of process: pid_t) -> Int {
    let fields = readFile("/proc/\(process)/status").split(whereSeparator: \.isWhitespace)
    guard let index = fields.firstIndex(of: "\(name):"), index + 1 < fields.count else { return 0 }
    return Int(fields[index + 1]) ?? 0
  }

  /// The target of one of its descriptors, such as `pipe:[4711]`.
  public func target(of descriptor: CInt) -> String {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/\(process)/fd/\(descriptor)", &buffer, buffer.count)
    return String(decoding: buffer.prefix(max(count, 0)).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Processor time so far, in milliseconds.
  public var processorMilliseconds: Int {
    let fields = readFile("/proc/\(process)/stat").split(separator: " ")
    guard fields.count > 14, let user = Int(fields[13]), let system = Int(fields[14]) else { return 0 }
    return (user + system) * 1000 / sysconf(CInt(_SC_CLK_TCK))
  }

  /// Whether bytes in the pipe to the server have not been read.
  public var hasUnreadInput: Bool {
    var count: CInt = 0
    return ioctl(input, UInt(FIONREAD), &count) == 0 && count > 0
  }

  /// Whether a thread of the server runs, or would if a processor were free.
  public var isWorking: Bool { threads.contains(where: isWorking(thread:)) }
}

/// Whether a thread runs, or would if a processor were free.
///
/// - Parameter thread: its folder in `/proc`.
public func isWorking(thread: String) -> Bool {
  // The state follows the name, which is in parentheses.
  readFile("\(thread)/stat").split(separator: ")").last?.dropFirst().first == "R"
}

/// Waits until a process, not only a child, has ended.
public func waitForDeath(of process: pid_t, seconds: Int32) -> Bool {
  // As declared by the system; not exported by the Glibc module.
  typealias Open = @convention(c) (pid_t, CUnsignedInt) -> CInt
  guard let symbol = dlsym(nil, "pidfd_open") else { return false }
  let descriptor = unsafeBitCast(symbol, to: Open.self)(process, 0)
  guard descriptor >= 0 else { return errno == ESRCH }
  defer { close(descriptor) }
  var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
  return poll(&waiting, 1, seconds * 1000) == 1
}

/// A whole file as text; empty if it cannot be read.
public func readFile(_ path: String) -> String {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return "" }
  defer { close(descriptor) }
  var text: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 64 << 10)
  while true {
    let count = read(descriptor, &buffer, buffer.count)
    guard count > 0 else { return String(decoding: text, as: UTF8.self) }
    text += buffer[..<count]
  }
}

/// A temporary file with that text, for one test.
public func makeTemporaryFile(_ text: String = "") -> String {
  var name = Array("/tmp/geomodel-test-XXXXXX".utf8CString)
  let descriptor = mkstemp(&name)
  _ = Array(text.utf8).withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
  close(descriptor)
  return String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
}
