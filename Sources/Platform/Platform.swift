// The platform's C library under one name: the only file that imports it, so that every other file imports Platform.

#if canImport(Glibc)
  @_exported import Glibc
#elseif canImport(Musl)
  @_exported import Musl
#else
  @_exported import Darwin
#endif

/// The system's text for an error number, `errno` unless another is given.
public func errorText(_ code: CInt = errno) -> String { String(cString: strerror(code)) }

/// The real path, with every symbolic link resolved; nil with `errno` set when there is no such file.
public func realPath(_ path: String) -> String? {
  guard let resolved = realpath(path, nil) else { return nil }
  defer { free(resolved) }
  return String(cString: resolved)
}

/// Opens a folder as the starting point of names, without following a link. -1 with `errno` set on failure.
public func openFolder(_ name: String, in folder: CInt) -> CInt {
  #if canImport(Darwin)
    let access = O_RDONLY
  #else
    // O_PATH, which needs no right to list the names; some headers hide it.
    let access: CInt = 0o10_000_000
  #endif
  return openat(folder, name, access | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
}

extension stat {
  /// When the content was last modified.
  public var modified: timespec {
    #if canImport(Darwin)
      st_mtimespec
    #else
      st_mtim
    #endif
  }

  /// When content or attributes were last modified; no program can set it.
  public var changed: timespec {
    #if canImport(Darwin)
      st_ctimespec
    #else
      st_ctim
    #endif
  }
}

/// `read(2)`, callable from types that have a `read` of their own. -1 with `errno` set on failure, 0 at the end.
public func readBytes(_ descriptor: CInt, into buffer: UnsafeMutableRawBufferPointer) -> Int {
  read(descriptor, buffer.baseAddress, buffer.count)
}

/// `write(2)`, callable from types that have a `write` of their own. -1 with `errno` set on failure.
public func writeBytes(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer) -> Int {
  write(descriptor, bytes.baseAddress, bytes.count)
}

/// The real time of day in seconds since 1970-01-01T00:00:00Z, and nanoseconds below a second.
public func realTime() -> timespec {
  var now = timespec()
  clock_gettime(CLOCK_REALTIME, &now)
  return now
}

/// Writes all bytes; false with `errno` set on failure.
public func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: CInt) -> Bool {
  var done = 0
  while done < bytes.count {
    let wrote = writeBytes(descriptor, UnsafeRawBufferPointer(rebasing: bytes[done...]))
    if wrote < 0 && errno == EINTR { continue }
    guard wrote > 0 else { return false }
    done += wrote
  }
  return true
}
