// Several sessions on one socket of the file system.

import Dispatch
import JSON
import Logging
import NIOCore
import NIOPosix
import Platform
import Synchronization

/// What a server of several clients is to its transport. Confined to the loop.
public protocol SharedService: AnyObject {
  func connect(_ greeting: Greeting) -> Session
  /// Its state as JSON.
  func status() -> [UInt8]
  /// Whether nothing would be lost or interrupted if the server ended.
  var isIdle: Bool { get }
  /// Called before the end. False if something would be lost, once: the server ends all the same when it is asked again.
  func end() -> Bool
}

public final class SocketServer {
  private let eventLoop: any EventLoop
  let loop: NIOLoop
  private let service: any SharedService
  private let place: ServerPlace
  private let lingerNanoseconds: UInt64
  private let logger: Logger
  /// The transports of connections, by the number of the connection.
  private var transports: [Int: PipeTransport] = [:]
  private var taken = 0
  var webSockets = 0
  private var lingering: LoopTimer?

  private init(
    _ eventLoop: any EventLoop, _ loop: NIOLoop, _ service: any SharedService, _ place: ServerPlace, _ linger: UInt64, _ logger: Logger
  ) {
    self.eventLoop = eventLoop
    self.loop = loop
    self.service = service
    self.place = place
    lingerNanoseconds = linger
    self.logger = logger
  }

  /// Serves clients on this thread until none has been there for some time and nothing is unsaved, or until a signal.
  ///
  /// - Parameters:
  ///   - web: where it listens for web sockets, too; the address is in the place's file for it.
  ///   - linger: time in nanoseconds without clients after which it ends.
  ///   - ready: a descriptor that is closed once clients can connect; nil for none.
  ///   - atEnd: called once before the process ends, unless it is killed; other threads may still run.
  ///   - makeService: called once on the loop, which is this thread.
  public static func run(
    at place: ServerPlace, web: WebDoor? = nil, linger: UInt64, logger: Logger, waitingLimit: Int, ready: CInt?, atEnd: @escaping @Sendable () -> Void,
    makeService: @escaping @Sendable (any Loop) -> any SharedService
  ) -> Never {
    do throws(PlaceError) { try place.takeLock() } catch {
      logger.critical("\(error)")
      if error.isTaken, let ready { Readiness.taken.say(ready) }
      _exit(69)
    }
    raiseFileLimit()
    let ending = Ended()
    installSignals([SIGTERM, SIGINT, SIGHUP]) {
      guard ending.wait() else { return false }
      atEnd()
      return true
    }
    MultiThreadedEventLoopGroup.withCurrentThreadAsEventLoop { eventLoop in
      let loop = NIOLoop(eventLoop, waitingLimit: waitingLimit)
      let server = SocketServer(eventLoop, loop, makeService(loop), place, linger, logger)
      let listening = listenAtSocket(place.socket)
      guard listening >= 0 else {
        logger.critical("\(place.socket): \(errorText())")
        _exit(71)
      }
      let bound = LoopBound(server, on: loop)
      ending.begin.withLock { begin in
        begin = { done in
          loop.execute { done(bound.value.finish()) }
        }
      }
      if let web {
        web.open(for: server, on: eventLoop).whenComplete { result in
          switch result {
          case .success(let port):
            if web.page != nil, !ServerPlace.write(web.key(port), to: place.page) { logger.error("\(place.page): \(errorText())") }
            if !ServerPlace.write(web.urls(port), to: place.web) { logger.error("\(place.web): \(errorText())") }
          case .failure(let error):
            logger.critical("no web sockets at port \(web.port): \(error)")
            unlink(place.socket)
            _exit(71)
          }
          if let ready { Readiness.ready.say(ready) }
        }
      } else if let ready {
        Readiness.ready.say(ready)
      }
      server.linger(atLeast: 10_000_000_000)
      startThread { accept(at: listening) { descriptor in loop.execute { bound.value.take(descriptor) } } }
    }
    _exit(0)
  }

  /// Accepts connections of this user, on a thread of its own.
  private static func accept(at listening: CInt, _ take: (CInt) -> Void) {
    while true {
      let descriptor = acceptSocket(listening)
      if descriptor < 0 {
        // Without descriptors connections wait until some are free.
        if errno == EMFILE || errno == ENFILE || errno == ENOMEM { poll(nil, 0, 100) }
      } else if peer(of: descriptor)?.user == getuid() {
        take(descriptor)
      } else {
        close(descriptor)
      }
    }
  }

  private func take(_ descriptor: CInt) {
    let output = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    guard output >= 0 else {
      close(descriptor)
      return
    }
    taken += 1
    let door = NIOLoopBound(Door(self, taken, input: descriptor, output: output), eventLoop: eventLoop)
    NIOPipeBootstrap(group: eventLoop, handler: door)
      .takingOwnershipOfDescriptors(input: descriptor, output: output)
      .whenFailure { [logger] error in logger.error("a connection cannot be used: \(error)") }
  }

  /// Begins the session of a connection.
  fileprivate func begin(_ number: Int, _ greeting: Greeting?, input: CInt, output: CInt) -> PipeTransport {
    lingering?.cancel()
    lingering = nil
    let session = service.connect(greeting ?? Greeting())
    let bound = LoopBound(self, on: loop)
    let boundSession = LoopBound(session, on: loop)
    let farewell: ((Int32) -> [UInt8])? = greeting == nil ? nil : { Greeting.farewell($0) }
    let transport = PipeTransport(
      session: session, input: input, output: output,
      // Another client's request shall not wait for a reply of this one.
      isWorking: { [unowned self] in loop.isWorking || transports.count > 1 }, isSocket: true, farewell: farewell
    ) { [eventLoop] (_: Int32) in
      // In a later turn, in which nothing of the session runs any more.
      eventLoop.execute {
        boundSession.value.close()
        bound.value.transports[number] = nil
        bound.value.linger()
      }
    }
    transports[number] = transport
    return transport
  }

  fileprivate func status() -> [UInt8] { service.status() + [0x0A] }

  /// Ends the process once nobody has been there for some time.
  ///
  /// - Parameter least: time for the first to come, in nanoseconds.
  private func linger(atLeast least: UInt64 = 0) {
    guard transports.isEmpty, webSockets == 0 else { return }
    lingering?.cancel()
    let bound = LoopBound(self, on: loop)
    lingering = loop.schedule(after: max(lingerNanoseconds, least)) {
      let server = bound.value
      guard server.transports.isEmpty, server.webSockets == 0 else { return }
      guard server.service.isIdle else { return server.linger(atLeast: 1_000_000_000) }
      if server.finish() { _exit(0) }
    }
  }

  private func finish() -> Bool {
    guard service.end() else { return false }
    unlink(place.web)
    unlink(place.socket)
    return true
  }
}

extension SocketServer: WebService {
  func beginWeb() -> Session {
    lingering?.cancel()
    lingering = nil
    return service.connect(Greeting())
  }

  func endWeb(_ session: Session) {
    session.close()
    linger()
  }
}

/// Runs the end on the loop, however it is asked for.
private final class Ended: Sendable {
  /// Set once the server listens; a signal before that finds nothing to end.
  let begin = Mutex<(@Sendable (_ done: @escaping @Sendable (Bool) -> Void) -> Void)?>(nil)
  private let isRefused = Atomic(false)

  /// False if the end is refused.
  func wait() -> Bool {
    guard let begin = begin.withLock({ $0 }) else { return true }
    isRefused.store(false, ordering: .relaxed)
    let done = DispatchSemaphore(value: 0)
    begin { [self] ends in
      isRefused.store(!ends, ordering: .relaxed)
      done.signal()
    }
    return done.wait(timeout: .now() + 60) == .timedOut || !isRefused.load(ordering: .relaxed)
  }
}

/// The first handler of a connection: reads the greeting, then leaves its place to the session's transport.
private final class Door: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let server: SocketServer
  private let number: Int
  private let input: CInt
  private let output: CInt
  private var held = ByteBuffer()
  private var hasEnded = false

  init(_ server: SocketServer, _ number: Int, input: CInt, output: CInt) {
    self.server = server
    self.number = number
    self.input = input
    self.output = output
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    held.writeBuffer(&bytes)
    guard held.readableBytesView.first == Greeting.mark else { return open(context, nil) }
    guard let end = held.readableBytesView.firstIndex(of: 0x0A) else {
      if held.readableBytes > Greeting.limit { context.close(promise: nil) }
      return
    }
    let line = held.readBytes(length: end - held.readerIndex + 1)?.dropFirst().dropLast() ?? []
    guard let document = try? JSONDocument(Array(line)) else { return context.close(promise: nil) }
    let greeting = document.read { Greeting(from: $0) }
    if greeting.asksStatus {
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: server.status())), promise: nil)
      return context.close(promise: nil)
    }
    open(context, greeting)
  }

  private func open(_ context: ChannelHandlerContext, _ greeting: Greeting?) {
    let transport = server.begin(number, greeting, input: input, output: output)
    do { try context.pipeline.syncOperations.addHandler(transport) } catch { return context.close(promise: nil) }
    if greeting != nil { context.writeAndFlush(wrapOutboundOut(ByteBuffer(integer: Greeting.welcome)), promise: nil) }
    if held.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(held)) }
    context.pipeline.syncOperations.removeHandler(self, promise: nil)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case ChannelEvent.inputClosed? = event as? ChannelEvent { context.close(promise: nil) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
