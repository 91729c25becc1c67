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
