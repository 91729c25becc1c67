// Signals: a closed pipe and a file that may not grow are errors like others, and a request to end is heard however busy the loop is.

import Platform

/// Ignores SIGPIPE and SIGXFSZ, and lets SIGTERM and SIGINT end the process, by that signal, after `cleanUp`. To be called before any
/// other thread is started: they inherit what is blocked here.
func installSignals(cleanUp: @escaping @Sendable () -> Void) {
  signal(SIGPIPE, SIG_IGN)
  signal(SIGXFSZ, SIG_IGN)
  var ending = sigset_t()
  sigemptyset(&ending)
  for number in [SIGTERM, SIGINT] where !isIgnored(number) { sigaddset(&ending, number) }
  pthread_sigmask(SIG_BLOCK, &ending, nil)
  startThread { [ending] in
    var set = ending
    var number: CInt = 0
    while sigwait(&set, &number) != 0 {}
    cleanUp()
    signal(number, SIG_DFL)
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
    kill(getpid(), number)
  }
}

/// A shell ignores SIGINT for what it starts in the background, and means it.
private func isIgnored(_ number: CInt) -> Bool {
  var action = sigaction()
  guard sigaction(number, nil, &action) == 0 else { return false }
  // Functions cannot be compared, their addresses can.
  return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
}
