// Sockets in the file system: addresses, and who is at the other end.

/// A socket for the file system, which children do not inherit. -1 with `errno` set on failure.
private func localSocket() -> CInt {
  #if canImport(Darwin)
    let descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
    if descriptor >= 0 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    return descriptor
  #elseif canImport(Musl)
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)
  #else
    return socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
  #endif
}

/// Calls `body` with the address of a path; nil with `errno` set if it is too long.
private func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt? {
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  let bytes = Array(path.utf8)
  guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
    errno = ENAMETOOLONG
    return nil
  }
  withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
  return withUnsafePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
  }
}

/// Connects to a socket of the file system. -1 with `errno` set on failure.
public func connectSocket(_ path: String) -> CInt {
  let descriptor = localSocket()
  guard descriptor >= 0 else { return -1 }
  guard withAddress(path, { connect(descriptor, $0, $1) }) == 0 else { return failed(descriptor) }
  return descriptor
}

/// Listens at a path, which is replaced and for its owner alone. -1 with `errno` set on failure.
public func listenAtSocket(_ path: String) -> CInt {
  let descriptor = localSocket()
  guard descriptor >= 0 else { return -1 }
  unlink(path)
  let mask = umask(0o177)
  let bound = withAddress(path) { bind(descriptor, $0, $1) }
  umask(mask)
  guard bound == 0, listen(descriptor, 1024) == 0 else { return failed(descriptor) }
  return descriptor
}

private func failed(_ descriptor: CInt) -> CInt {
  let code = errno
  close(descriptor)
  errno = code
  return -1
}

/// Accepts a connection, whose descriptor does not block and is not inherited. -1 with `errno` set on failure.
public func acceptSocket(_ listening: CInt) -> CInt {
  let descriptor = accept(listening, nil, nil)
  guard descriptor >= 0 else { return -1 }
  _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
  return descriptor
}

/// Process and user at the other end of a socket, as it was connected; the process is 0 where the system does not say it.
public func peer(of descriptor: CInt) -> (process: pid_t, user: uid_t)? {
  #if canImport(Darwin)
    var (user, group) = (uid_t(), gid_t())
    return getpeereid(descriptor, &user, &group) == 0 ? (0, user) : nil
  #else
    // struct ucred, which some headers hide: process, user, group.
    var peer: (pid_t, uid_t, gid_t) = (0, 0, 0)
    var size = socklen_t(MemoryLayout.size(ofValue: peer))
    return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? (peer.0, peer.1) : nil
  #endif
}

/// Whether the other end of a socket is closed in both directions.
public func isHungUp(_ descriptor: CInt) -> Bool {
  var waiting = pollfd(fd: descriptor, events: 0, revents: 0)
  return poll(&waiting, 1, 0) > 0 && waiting.revents & Int16(POLLHUP | POLLERR) != 0
}

/// Lets the process open as many files as the system allows it.
public func raiseFileLimit() {
  var limit = rlimit()
  #if canImport(Glibc)
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  #else
    let resource = RLIMIT_NOFILE
  #endif
  guard getrlimit(resource, &limit) == 0 else { return }
  limit.rlim_cur = limit.rlim_max
  setrlimit(resource, &limit)
}

/// Waits until a descriptor can be read, or has ended; false after some milliseconds.
public func isReadable(_ descriptor: CInt, within milliseconds: CInt) -> Bool {
  var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
  var found: CInt
  repeat { found = poll(&waiting, 1, milliseconds) } while found < 0 && errno == EINTR
  return found > 0
}
