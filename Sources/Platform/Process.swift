// Properties of the running process.

/// The current directory, absolute.
public func workingDirectory() -> String {
  guard let path = getcwd(nil, 0) else { return "/" }
  defer { free(path) }
  return String(cString: path)
}

/// The running program's file, even if its name now denotes another file.
public func executablePath() -> String {
  #if canImport(Darwin)
    var size: UInt32 = 0
    _ = _NSGetExecutablePath(nil, &size)
    var buffer = [CChar](repeating: 0, count: Int(size) + 1)
    _ = _NSGetExecutablePath(&buffer, &size)
    return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  #else
    return "/proc/self/exe"
  #endif
}

/// Processors that may run this process.
public func processorCount() -> Int { max(1, sysconf(CInt(_SC_NPROCESSORS_ONLN))) }

/// Returns freed memory to the system: after a bulk edit the allocator would keep most of what the message took.
public func trimMemory() {
  // Looked up at run time: glibc has malloc_trim, but Swift's module of it does not, and other systems lack it.
  typealias Trim = @convention(c) (Int) -> Int32
  guard let symbol = dlsym(nil, "malloc_trim") else { return }
  _ = unsafeBitCast(symbol, to: Trim.self)(0)
}

/// Resident memory in bytes; nil if the system does not report it. Linux reports it in pages, as the second number of
/// /proc/self/statm.
public func residentBytes() -> Int? {
  guard let file = fopen("/proc/self/statm", "r") else { return nil }
  defer { fclose(file) }
  var line = [CChar](repeating: 0, count: 256)
  guard fgets(&line, Int32(line.count), file) != nil else { return nil }
  let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  let numbers = text.split(separator: " ")
  return numbers.count > 1 ? Int(numbers[1]).map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) } : nil
}

/// Starts a program in a session of its own: without input, with `output` as its standard output and error, and `ready` as descriptor 3.
///
/// - Returns: 0, or the system's error.
public func spawnInBackground(_ executable: String, _ arguments: [String], output: CInt, ready: CInt) -> CInt {
  #if canImport(Darwin)
    var actions: posix_spawn_file_actions_t?
    var attributes: posix_spawnattr_t?
    let ownSession: Int16 = 0x0400
  #else
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    let ownSession: Int16 = 0x80
  #endif
  posix_spawn_file_actions_init(&actions)
  posix_spawnattr_init(&attributes)
  defer {
    posix_spawn_file_actions_destroy(&actions)
    posix_spawnattr_destroy(&attributes)
  }
  posix_spawnattr_setflags(&attributes, ownSession)
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
  for target in 1...2 as ClosedRange<CInt> {
    if output >= 0 {
      posix_spawn_file_actions_adddup2(&actions, output, target)
    } else {
      posix_spawn_file_actions_addopen(&actions, target, "/dev/null", O_WRONLY, 0)
    }
  }
  posix_spawn_file_actions_adddup2(&actions, ready, 3)
  if ready != 3 { posix_spawn_file_actions_addclose(&actions, ready) }
  var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
  defer { for pointer in pointers { free(pointer) } }
  var process = pid_t()
  return posix_spawn(&process, executable, &actions, &attributes, &pointers, environ)
}
