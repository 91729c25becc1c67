// A server must not outlive its client, even one that died without closing anything.

import Platform

/// Calls `died`, on a thread of its own, when the process ends. Does nothing when there is no such process.
func watchProcess(_ process: pid_t, died: @escaping @Sendable () -> Void) {
  guard process > 0, process != getpid(), isAlive(process) else { return }
  // A descriptor cannot be fooled by another process of the same number. (glibc 2.36 and later; older ones look again and
  // again.)
  typealias Open = @convention(c) (pid_t, CUnsignedInt) -> CInt
  let descriptor = dlsym(nil, "pidfd_open").map { unsafeBitCast($0, to: Open.self)(process, 0) } ?? -1
  startThread {
    if descriptor >= 0 {
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      while poll(&waiting, 1, -1) < 0, errno == EINTR {}
    } else {
      while isAlive(process) { poll(nil, 0, 500) }
    }
    died()
  }
}

private func isAlive(_ process: pid_t) -> Bool { kill(process, 0) == 0 || errno == EPERM }
