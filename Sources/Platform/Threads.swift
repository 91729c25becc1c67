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
