// Threads for blocking calls: terminals, files, process exits. NIO offers none.

import CPlatform

/// Runs `body` on its own thread, which is never joined.
public func startThread(stackBytes: Int = 256 << 10, _ body: @escaping @Sendable () -> Void) {
  final class Box: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  pthread_attr_setstacksize(&attributes, stackBytes)
  pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
  var thread = pthread_t()
  let box = Unmanaged.passRetained(Box(body))
  let failure = pthread_create(
    &thread, &attributes,
    { raw in
      guard let raw else { return nil }
      Unmanaged<Box>.fromOpaque(raw).takeRetainedValue().body()
      return nil
    }, box.toOpaque())
  if failure != 0 { box.release() }
  pthread_attr_destroy(&attributes)
}

/// A clock that never goes back.
public func monotonicNanoseconds() -> UInt64 {
  var now = timespec()
  clock_gettime(CLOCK_MONOTONIC, &now)
  return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
}

/// A number of the calling thread, which another may have later. It costs no system call.
public func threadHash() -> UInt64 { cplatform_thread_handle() &* 0x9E37_79B9_7F4A_7C15 >> 32 }

#if canImport(Darwin)
  /// The system's number of the calling thread.
  public func threadNumber() -> Int { Int(pthread_mach_thread_np(pthread_self())) }

  /// Threads have no nice value here.
  public func lowerPriority(ofThread thread: Int, by steps: CInt) {}
  public func niceness(ofThread thread: Int = 0) -> CInt { 0 }
  public func setNiceness(ofThread thread: Int, to value: CInt) -> Bool { true }
#else
  /// The system's number of the calling thread.
  public func threadNumber() -> Int { Int(cplatform_thread_number()) }

  /// Lowers the priority of a thread, or of a process by its first thread. Raising it again takes the administrator's rights.
  public func lowerPriority(ofThread thread: Int, by steps: CInt) {
    _ = setNiceness(ofThread: thread, to: niceness(ofThread: thread) + steps)
  }

  /// The nice value; a thread with a larger one runs less often.
  ///
  /// - Parameter thread: 0 for the calling thread.
  public func niceness(ofThread thread: Int = 0) -> CInt { getpriority(CInt(PRIO_PROCESS.rawValue), id_t(thread)) }

  /// False if the system does not allow it: raising a priority takes more rights than lowering one.
  public func setNiceness(ofThread thread: Int, to value: CInt) -> Bool {
    setpriority(CInt(PRIO_PROCESS.rawValue), id_t(thread), value) == 0
  }
#endif

/// Waits for what another thread gives free, and looks for it every millisecond: a thread that waits in a lock cannot be cancelled.
///
/// - Parameters:
///   - check: called before each look; throws to cancel.
///   - take: takes what is free; nil if nothing is.
public func waitUntilFree<Value, Failure>(
  checking check: () throws(Failure) -> Void, take: () throws(Failure) -> Value?
) throws(Failure) -> Value {
  while true {
    try check()
    if let value = try take() { return value }
    var time = timespec(tv_sec: 0, tv_nsec: 1_000_000)
    nanosleep(&time, nil)
  }
}
