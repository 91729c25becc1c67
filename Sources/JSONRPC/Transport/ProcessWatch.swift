// Ends the server when its client's process ends, even if it closed nothing.

import Platform

/// Calls `died` on its own thread when the process ends, at once if there is none of that number.
func watchProcess(_ process: pid_t, died: @escaping @Sendable () -> Void) {
  guard process > 0, process != getpid() else { return }
  guard isAlive(process) else { return died() }
  // A pidfd is safe against reuse of process ids. (glibc 2.36 and later; otherwise the process is polled.)
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
