// The session: bytes in, bytes out, no I/O. Everything of it happens on one loop, in the order of arrival.

import JSON
import Logging

/// What an application does at the turns of a session's life.
public struct Lifecycle {
  /// Answers `initialize`. What it throws leaves the session uninitialized.
  public var initialize: (Call) throws -> any JSONEncodable
  /// The client has read that answer.
  public var initialized: () -> Void = {}
  /// `shutdown`, after everything in flight was cancelled: end what speaks by itself.
  public var shutdown: () -> Void = {}
  /// Nothing more will be asked: end live sources, answer those who wait for them.
  public var endOfInput: () -> Void = {}

  public init(initialize: @escaping (Call) throws -> any JSONEncodable) { self.initialize = initialize }
}

/// How a session is over.
public enum Ending: Equatable, Sendable {
  /// What has been written is still delivered; for `grace` nanoseconds at most, if given.
  case afterWriting(code: Int32, grace: UInt64?)
  /// At once.
  case atOnce(code: Int32)

  public var code: Int32 {
    switch self {
    case .afterWriting(let code, _), .atOnce(let code): code
    }
  }
}

/// Messages and bytes so far.
public struct SessionCounters: Sendable {
  /// Messages read, batches counted as one.
  public var received = 0
  /// Messages written.
  public var sent = 0
  /// Requests and deferred notifications that are not answered.
  public var pending = 0

  public init() {}
  /// Answers ever put off.
  public var deferred = 0
}

/// A JSON-RPC 2.0 session with LSP's lifecycle. See `receive` for the way in and `takeOutput` for the way out.
public final class Session {
  enum Phase { case created, initialized, shutDown }
  enum Trace { case off, messages, verbose }
  enum InFlight {
    case pending(PendingReply)
    /// In a batch whose array has not been written.
    case answered
  }

  public let loop: any Loop
  public let limits: SessionLimits
  public let logger: Logger
  public internal(set) var counters = SessionCounters()
  /// How it is over; nil while it goes on.
  public internal(set) var ending: Ending?

  /// There may be output, an ending, or a change of ``wantsInput``. Called on the loop; the transport's.
  public var onOutput: (() -> Void)?
  /// Unread bytes have fallen below a quarter of ``SessionLimits/congestionBytes``, after having been above it. The
  /// application's: now it tells what it held back.
  public var onDrained: (() -> Void)?
  /// Whether the application holds back what it tells when ``onDrained``: after the end of input, that is waited for.
  public var hasMore: (() -> Bool)?
  /// The `processId` of `initialize`: the transport watches it.
  public var onClientProcess: ((Int32) -> Void)?

  let router: Router
  let lifecycle: Lifecycle
  let mapError: (any Error) -> RPCError?
  let recorder: (any TrafficRecorder)?

  // Input.
  var framer: Framer
  var backlog = InputBuffer()
  /// Where the backlog stands in the whole stream.
  var streamPosition = 0
  var isParsing = false
  var ahead: LookAhead?
  var inputEnded = false
  var toldEndOfInput = false
  /// Whether a message is being run right now: what is answered later is late.
  var isHandling = false
  var unrecorded = Unrecorded()

  // Output.
  var output = JSONWriter(capacity: 64 << 10)
  /// Taken by the transport and not written yet.
  var taken = 0
  /// Ever taken by the transport.
  var gone = 0
  var gate = AnswerGate()
  var wasCongested = false
  var turns = 0
  var isOutputAnnounced = false

  // Requests.
  var phase = Phase.created
  var trace = Trace.off
  var inFlight: [RequestID: InFlight] = [:]
  var deferred: PendingReply?

  /// - Parameter mapError: what an error of the application's becomes on the wire; nil makes it an `internalError`.
  public init(
    router: Router, lifecycle: Lifecycle, limits: SessionLimits = SessionLimits(), loop: any Loop,
    recorder: (any TrafficRecorder)? = nil, logger: Logger,
    mapError: @escaping (any Error) -> RPCError? = { _ in nil }
  ) {
    self.router = router
    self.lifecycle = lifecycle
    self.limits = limits
    self.loop = loop
    self.recorder = recorder
    self.logger = logger
    self.mapError = mapError
    framer = Framer(messageBytes: limits.messageBytes, headerBytes: limits.headerBytes)
  }

  /// Runs `body` as one turn: what it writes leaves in one piece, at its end.
  public func turn<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    turns += 1
    defer {
      turns -= 1
      if turns == 0 { endTurn() }
    }
    return try body()
  }

  private func endTurn() {
    settleEndOfInput()
    if ending != nil || output.count > 0 { onOutput?() }
  }

  /// Ends the session. Only the first ending counts.
  public func end(_ ending: Ending) {
    guard self.ending == nil else { return }
    // Every request is answered, even where the client does not wait for what comes first.
    if case .afterWriting = ending { holdAnswers(from: nil, marking: 0) }
    self.ending = ending
    if case .afterWriting(let code, _) = ending { record(.ended(code: code)) } else { record(.ended(code: nil)) }
    if turns == 0 { onOutput?() }
  }

  /// What an error thrown by the application becomes on the wire.
  func wireError(_ error: any Error) -> RPCError {
    if let error = error as? RPCError { return error }
    if let mapped = mapError(error) { return mapped }
    logger.error("unexpected error: \(error)")
    return .internalError("The server failed: \(error)")
  }
}
