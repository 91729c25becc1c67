// Signals: a closed pipe and a file size limit become ordinary errors, and a termination request works however busy the
// loop is.

import Platform

/// Ignores SIGPIPE and SIGXFSZ. The signals that end the process do so after `cleanUp`, unless that returns false. To be called
/// before any other thread is started, since threads inherit the mask of blocked signals.
func installSignals(_ ends: [CInt] = [SIGTERM, SIGINT], cleanUp: @escaping @Sendable () -> Bool) {
  signal(SIGPIPE, SIG_IGN)
  signal(SIGXFSZ, SIG_IGN)
  var ending = sigset_t()
  sigemptyset(&ending)
  for number in ends where !isIgnored(number) { sigaddset(&ending, number) }
  pthread_sigmask(SIG_BLOCK, &ending, nil)
  startThread { [ending] in
    var set = ending
    var number: CInt = 0
    repeat {
      while sigwait(&set, &number) != 0 {}
    } while !cleanUp()
    signal(number, SIG_DFL)
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
    kill(getpid(), number)
  }
}

/// A shell ignores SIGINT for background processes; this is respected.
private func isIgnored(_ number: CInt) -> Bool {
  var action = sigaction()
  guard sigaction(number, nil, &action) == 0 else { return false }
  // Function values cannot be compared, addresses can.
  return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
}
