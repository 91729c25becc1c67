// A thread with a given stack size, to test the depth of recursion.

import Glibc
import Synchronization

enum SmallThread {
  struct NoThread: Error {}

  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Runs `body` on such a thread and returns its result.
  static func run<Value: Sendable>(
    kilobytes: Int, _ body: @escaping @Sendable () throws -> Value
  ) throws -> Value {
    let box = Box<Value>()
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setstacksize(&attributes, kilobytes << 10)
    defer { pthread_attr_destroy(&attributes) }
    let work = Unmanaged.passRetained(Work { box.set(Result { try body() }) })
    var thread = pthread_t()
    let failure = pthread_create(
      &thread, &attributes,
      { raw in
        guard let raw else { return nil }
        Unmanaged<Work>.fromOpaque(raw).takeRetainedValue().body()
        return nil
      }, work.toOpaque())
    guard failure == 0 else {
      work.release()
      throw NoThread()
    }
    pthread_join(thread, nil)
    guard let result = box.result else { throw NoThread() }
    return try result.get()
  }

  private final class Box<Value: Sendable>: Sendable {
    private let value = Mutex<Result<Value, any Error>?>(nil)
    var result: Result<Value, any Error>? { value.withLock { $0 } }
    func set(_ new: Result<Value, any Error>) { value.withLock { $0 = new } }
  }
}
