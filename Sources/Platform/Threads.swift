// Threads for blocking calls: terminals, files, process exits. NIO offers none.

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

/// Wakes one waiting thread for each time that it is raised.
// Safe: semaphores are shareable; the last owner destroys it.
public final class Signal: @unchecked Sendable {
  private let semaphore: UnsafeMutablePointer<sem_t>

  public init() {
    semaphore = .allocate(capacity: 1)
    sem_init(semaphore, 0, 0)
  }

  deinit {
    sem_destroy(semaphore)
    semaphore.deallocate()
  }

  public func raise() { sem_post(semaphore) }

  /// Waits at most the given seconds; returns whether it was raised.
  @discardableResult
  public func wait(seconds: Double) -> Bool {
    var deadline = realTime()
    let nanoseconds = deadline.tv_nsec + Int(seconds * 1e9)
    deadline.tv_sec += nanoseconds / 1_000_000_000
    deadline.tv_nsec = nanoseconds % 1_000_000_000
    while sem_timedwait(semaphore, &deadline) != 0 {
      if errno != EINTR { return false }
    }
    return true
  }
}
