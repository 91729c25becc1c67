// Sessions over web sockets on the loopback interface, for pages and notebooks' front ends: one message a frame.

import JSON
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import Platform

/// Where a server listens for web sockets, and for whom.
public struct WebDoor: Sendable {
  /// 0 for any that is free.
  public var port: Int
  /// Origins of pages that may connect, besides those of this machine's loopback addresses.
  public var origins: Set<String>
  /// Maximum length of a message, and of a frame.
  let messageBytes: Int
  /// What a client has to know.
  let token: String
  /// Whether it may have another port where its own is taken.
  let mayMove: Bool
  /// What browsers are shown; nil for nothing.
  let page: WebPage?

  /// - Parameter earlier: what ``key(_:)`` said of an earlier server of the name: its page goes on with this one. Nil for none.
  public init(port: Int, origins: [String], messageBytes: Int, page: WebPage? = nil, earlier: String? = nil) {
    let parts = (earlier ?? "").split { $0 == " " || $0 == "\n" }
    let earlierPort = parts.count == 2 && parts[1].utf8.count == 64 ? Int(parts[0]) : nil
    self.port = port == 0 ? earlierPort ?? 0 : port
    mayMove = port == 0
    self.page = page
    self.messageBytes = min(Int(UInt32.max), messageBytes)
    self.origins = Set(origins)
    guard earlierPort == nil else {
      token = String(parts[1])
      return
    }
    var source = SystemRandomNumberGenerator()
    token = (0..<4).map { _ in
      let digits = String(source.next(), radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  /// Maximum number of web sockets at a time.
  static let limit = 256
  /// Seconds that a connection may take until it is one.
  static let patience = Int64(10)

  /// The addresses, one a line: of the web sockets, and of the page. The page's has the token in its path, so that those of its files have it, too.
  func urls(_ port: Int) -> String {
    "ws://127.0.0.1:\(port)/?token=\(token)\n" + (page == nil ? "" : "http://127.0.0.1:\(port)/\(token)/\n")
  }

  /// What the next server of the name needs, so that pages find it.
  func key(_ port: Int) -> String { "\(port) \(token)\n" }

  /// Why a request for a web socket is refused; nil if it is not.
  ///
  /// - Parameter port: where it came in.
  func refusal(of request: HTTPRequestHead, at port: Int) -> HTTPResponseStatus? {
    guard isFromHere(request, at: port) else { return .forbidden }
    let parts = request.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.first == "/" else { return .notFound }
    let given = parts.count == 2 ? parts[1].split(separator: "&").first { $0.hasPrefix("token=") }?.dropFirst(6) : nil
    return given.map { isToken(Array($0.utf8)) } == true ? nil : .unauthorized
  }

  /// The file that a request asks for, or why there is none; nil if it asks for no file.
  func file(for request: HTTPRequestHead, at port: Int) -> Result<(type: String, bytes: ByteBuffer), Refusal>? {
    guard let page, request.uri.hasPrefix("/") else { return nil }
    let parts = request.uri.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    guard isFromHere(request, at: port) else { return .failure(Refusal(status: .forbidden)) }
    if parts[0] == "proof", (1...64).contains(parts[1].utf8.count) {
      // Whoever has the port while no server runs shall not get the token from a page that looks for it. The port is in the hash, so that
      // nobody can have it from this server at another.
      let proof = SHA256.digits(of: Array("\(parts[1]):\(port):\(token)".utf8))
      return .success(("text/plain", ByteBuffer(string: proof)))
    }
    guard isToken(Array(parts[0].utf8)) else { return .failure(Refusal(status: .unauthorized)) }
    guard request.method == .GET else { return .failure(Refusal(status: .methodNotAllowed)) }
    return page.file(parts[1].prefix { $0 != "?" }).map { .success($0) } ?? .failure(Refusal(status: .notFound))
  }

  struct Refusal: Error { let status: HTTPResponseStatus }

  private func isFromHere(_ request: HTTPRequestHead, at port: Int) -> Bool {
    // Another name of this address is that of a page which wants to pass for this server.
    let hosts = request.headers["host"]
    guard hosts.count == 1, ["127.0.0.1:\(port)", "localhost:\(port)"].contains(hosts[0].lowercased()) else { return false }
    return request.headers["origin"].allSatisfy { isAllowed($0.lowercased()) }
  }

  private func isAllowed(_ origin: String) -> Bool {
    guard !origins.contains(origin) else { return true }
    for scheme in ["http://", "https://"] where origin.hasPrefix(scheme) {
      let host = origin.dropFirst(scheme.count)
      let name = host.hasPrefix("[") ? host.prefix { $0 != "]" } + "]" : host.prefix { $0 != ":" }
      let port = host.dropFirst(name.count)
      let isPort = port.isEmpty || port.first == ":" && port.dropFirst().allSatisfy { $0.isASCII && $0.isNumber }
      return isPort && ["localhost", "127.0.0.1", "[::1]"].contains(String(name))
    }
    return false
  }

  /// Takes as long whatever the text is, so that the time shows nothing of how much of it was right.
  private func isToken(_ text: [UInt8]) -> Bool {
    let own = Array(token.utf8)
    guard text.count == own.count else { return false }
    return zip(text, own).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

/// What the door needs of the server behind it. Confined to the loop.
protocol WebService: AnyObject {
  var loop: NIOLoop { get }
  /// Number of web sockets.
  var webSockets: Int { get set }
  func beginWeb() -> Session
  /// A session's connection has ended.
  func endWeb(_ session: Session)
}

extension WebDoor {
  /// Listens; the future's value is the port.
  func open(for service: some WebService, on eventLoop: any EventLoop) -> EventLoopFuture<Int> {
    let bound = LoopBound(service as any WebService, on: service.loop)
    @Sendable func bind(_ port: Int) -> EventLoopFuture<any Channel> {
      ServerBootstrap(group: eventLoop)
        .serverChannelOption(.backlog, value: 64)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .childChannelOption(.maxMessagesPerRead, value: 1)
        .childChannelInitializer { channel in configure(channel, bound) }
        .bind(host: "127.0.0.1", port: port)
    }
    return bind(port)
      .flatMapError { error in port != 0 && mayMove ? bind(0) : eventLoop.makeFailedFuture(error) }
      .map { $0.localAddress?.port ?? 0 }
  }

  private func configure(_ channel: any Channel, _ service: LoopBound<any WebService>) -> EventLoopFuture<Void> {
    let upgrader = NIOWebSocketServerUpgrader(
      maxFrameSize: messageBytes,
      shouldUpgrade: { channel, head in
        let isFull = service.value.webSockets >= Self.limit
        let isRefused = refusal(of: head, at: channel.localAddress?.port ?? 0) != nil
        return channel.eventLoop.makeSucceededFuture(isFull || isRefused ? nil : HTTPHeaders())
      },
      upgradePipelineHandler: { channel, _ in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers([
            NIOWebSocketFrameAggregator(
              minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: 1 << 16, maxAccumulatedFrameSize: messageBytes),
            WebTransport(service.value),
          ])
        }
      })
    let configuration: NIOHTTPServerUpgradeSendableConfiguration = (
      upgraders: [upgrader],
      completionHandler: { context in context.pipeline.syncOperations.removeHandler(name: "answer", promise: nil) }
    )
    return channel.pipeline.configureHTTPServerPipeline(withServerUpgrade: configuration).flatMapThrowing {
      try channel.pipeline.syncOperations.addHandler(HTTPAnswer(self, service), name: "answer")
    }
  }
}

/// Answers HTTP requests that become no web socket, with a file or a refusal, and closes.
private final class HTTPAnswer: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let door: WebDoor
  private let service: LoopBound<any WebService>
  private var patience: Scheduled<Void>?

  init(_ door: WebDoor, _ service: LoopBound<any WebService>) {
    self.door = door
    self.service = service
  }

  func handlerAdded(context: ChannelHandlerContext) {
    let channel = context.channel
    patience = context.eventLoop.scheduleTask(in: .seconds(WebDoor.patience)) { channel.close(promise: nil) }
  }

  func handlerRemoved(context: ChannelHandlerContext) { patience?.cancel() }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(let head) = unwrapInboundIn(data) else { return }
    let port = context.channel.localAddress?.port ?? 0
    switch door.file(for: head, at: port) {
    case .success(let file)?:
      answer(.ok, WebPage.headers(file.type, port: port, framedBy: door.origins.sorted()), file.bytes, context)
    case .failure(let refusal)?: answer(refusal.status, [:], ByteBuffer(), context)
    case nil:
      let isFull = service.value.webSockets >= WebDoor.limit
      answer(door.refusal(of: head, at: port) ?? (isFull ? .serviceUnavailable : .upgradeRequired), [:], ByteBuffer(), context)
    }
  }

  private func answer(_ status: HTTPResponseStatus, _ headers: HTTPHeaders, _ body: ByteBuffer, _ context: ChannelHandlerContext) {
    var headers = headers
    headers.add(contentsOf: ["content-length": "\(body.readableBytes)", "connection": "close"])
    context.write(wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))), promise: nil)
    context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
    let channel = context.channel
    context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in channel.close(promise: nil) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // A refused upgrade, whose request follows.
    if !(error is NIOWebSocketUpgradeError) { context.close(promise: nil) }
  }
}

/// Connects a session to a web socket.
private final class WebTransport: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundOut = WebSocketFrame

  private let service: any WebService
  private let session: Session
  private var context: ChannelHandlerContext?
  private var sending = JSONWriter(capacity: 4 << 10)
  private var isWriting = false
  private var isReading = true
  private var isOver = false

  init(_ service: any WebService) {
    self.service = service
    session = service.beginWeb()
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    service.webSockets += 1
    session.onOutput = { [weak self] in self?.flush() }
  }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    var bytes = frame.unmaskedData
    switch frame.opcode {
    case .text:
      // A message a line: line ends in JSON are between its tokens alone.
      var line = bytes.readBytes(length: bytes.readableBytes) ?? []
      for index in line.indices where line[index] == 0x0A || line[index] == 0x0D { line[index] = 0x20 }
      let first = line.first { $0 != 0x20 && $0 != 0x09 }
      // Whatever else would begin with another framing is no JSON either.
      if first != UInt8(ascii: "{"), first != UInt8(ascii: "[") { line = [UInt8(ascii: "{")] }
      line.append(0x0A)
      line.withUnsafeBytes { session.receive($0) }
      regulateReading()
    case .ping:
      context.writeAndFlush(wrapOutboundOut(WebSocketFrame(fin: true, opcode: .pong, data: bytes)), promise: nil)
    case .connectionClose: over(.normalClosure)
    case .binary: over(.unacceptableData)
    default: break
    }
  }

  private func regulateReading() {
    guard isReading != session.wantsInput, let context else { return }
    isReading = session.wantsInput
    try? context.channel.syncOptions?.setOption(.autoRead, value: isReading)
  }

  private func flush() {
    guard !isWriting, !isOver, let context else { return }
    if !isReading { regulateReading() }
    if case .atOnce? = session.ending { return over(.unexpectedServerError) }
    sending.reset()
    guard session.takeOutput(into: &sending) else {
      if session.ending != nil { over(.normalClosure) }
      return
    }
    isWriting = true
    let count = sending.count
    let promise = context.eventLoop.makePromise(of: Void.self)
    promise.futureResult.assumeIsolated().whenComplete { [self] result in
      isWriting = false
      guard case .success = result else { return over(.goingAway) }
      session.outputWritten(count)
      flush()
    }
    var rest = sending.bytes.split(separator: 0x0A)[...]
    while let line = rest.popFirst() {
      var data = context.channel.allocator.buffer(capacity: line.count)
      data.writeBytes(UnsafeRawBufferPointer(rebasing: line))
      context.write(wrapOutboundOut(WebSocketFrame(fin: true, opcode: .text, data: data)), promise: rest.isEmpty ? promise : nil)
    }
    context.flush()
  }

  func channelInactive(context: ChannelHandlerContext) { over(.goingAway) }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { over(.protocolError) }

  private func over(_ code: WebSocketErrorCode) {
    guard !isOver else { return }
    isOver = true
    if let context, context.channel.isActive {
      var data = context.channel.allocator.buffer(capacity: 2)
      data.write(webSocketErrorCode: code)
      let channel = context.channel
      context.writeAndFlush(wrapOutboundOut(WebSocketFrame(fin: true, opcode: .connectionClose, data: data)))
        .whenComplete { _ in channel.close(promise: nil) }
    }
    let bound = LoopBound(self, on: service.loop)
    // In a later turn, in which nothing of the session runs any more.
    service.loop.execute {
      bound.value.service.webSockets -= 1
      bound.value.service.endWeb(bound.value.session)
    }
  }
}
