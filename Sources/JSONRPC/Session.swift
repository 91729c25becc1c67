// The session: bytes in, bytes out, no I/O. All of it runs on one loop, in order of arrival.

import DequeModule
import JSON
import Logging

/// Callbacks for the phases of a session.
public struct Lifecycle {
  /// Answers `initialize`. If it throws, the session stays uninitialized.
  public var initialize: (Call) throws -> any JSONEncodable
  /// The client has sent `initialized`.
  public var initialized: () -> Void = {}
  /// Throws for `shutdown` with params that it does not have.
  public var checkShutdown: (Call) throws -> Void = { _ in }
  /// `shutdown`, after everything in flight was cancelled: stops sources of notifications.
  public var shutdown: () -> Void = {}
  /// The input has ended: ends live sources and answers requests that wait for them.
  public var endOfInput: () -> Void = {}

  public init(initialize: @escaping (Call) throws -> any JSONEncodable) { self.initialize = initialize }
}

/// How a session ends.
public enum Ending: Equatable, Sendable {
  /// After the output has been written, within `grace` nanoseconds if given.
  case afterWriting(code: Int32, grace: UInt64?)
  /// Immediately.
  case atOnce(code: Int32)

  public var code: Int32 {
    switch self {
    case .afterWriting(let code, _), .atOnce(let code): code
    }
  }
}

/// Counts of messages and replies so far.
public struct SessionCounters: Sendable {
  /// Messages read; a batch counts as one.
  public var received = 0
  /// Messages written.
  public var sent = 0
  /// Unanswered requests and deferred notifications.
  public var pending = 0

  public init() {}
  /// Answers ever deferred.
  public var deferred = 0
}

/// A JSON-RPC 2.0 session with LSP's lifecycle: input goes to `receive`, output comes from `takeOutput`.
public final class Session {
  enum Phase { case created, initialized, shutDown }
  package enum Trace: String { case off, messages, verbose }

  public let loop: any Loop
  public let limits: SessionLimits
  public let logger: Logger
  public internal(set) var counters = SessionCounters()
  /// How it ended; nil while it runs.
  public internal(set) var ending: Ending?

  /// Called on the loop when there may be output, an ending, or a change of ``wantsInput``. Set by the transport.
  public var onOutput: (() -> Void)?
  /// Called when unread bytes fall below a quarter of ``SessionLimits/congestionBytes`` after having been above it. Set
  /// by the application, which then sends what it held back.
  public var onDrained: (() -> Void)?
  /// Whether the application holds back changes until ``onDrained``: the end of input waits for them.
  public var hasMore: (() -> Bool)?
  /// Called before input that begins with a message.
  public var onInput: (() -> Void)?
  /// Called when the connection of one of several clients has ended.
  public var onClose: (() -> Void)?
  private(set) var isClosed = false
  /// Called when nothing uses the session any more.
  public var onRelease: (() -> Void)?
  /// Receives the `processId` of `initialize`: the transport watches that process.
  public var onClientProcess: ((Int32) -> Void)?

  let router: Router
  let lifecycle: Lifecycle
  let mapError: (any Error) -> RPCError?
  let recorder: TrafficRecorder?

  // Input.
  var framer: Framer
  var backlog = InputBuffer()
  /// The stream position of the backlog's start.
  var streamPosition = 0
  var isParsing = false
  /// The beginning of the message that is being parsed; empty once its request has been answered as cancelled.
  var parsedBeginning: [UInt8] = []
  /// Whether the application holds the input back.
  var isInputHeld = false
  var cancelScan: CancelScan?
  var inputEnded = false
  var hasEndedInput = false
  /// Whether the client has sent `exit` while work that can no longer be cancelled is unanswered.
  var isExiting = false
  /// Whether a message is being run; answers given later are deferred.
  var isHandling = false
  var unrecorded = Unrecorded()

  /// Whether the messages of this connection have headers.
  public var hasHeaders: Bool { framer.framing == .headers }
  /// Whether bytes may follow the messages that are sent.
  public internal(set) var attaches = false

  // Output.
  var output = JSONWriter(capacity: 64 << 10)
  /// Output that comes before.
  var queue: Deque<QueuedOutput> = []
  var queuedBytes = 0
  /// The message being written, when headers with its length precede it.
  var body = JSONWriter()
  var header = JSONWriter(capacity: 64)
  /// Taken by the transport and not yet written.
  var taken = 0
  /// Bytes ever taken by the transport.
  var handedOver = 0
  var gate = AnswerGate()
  var wasCongested = false
  var turns = 0
  var isOutputAnnounced = false

  // Requests.
  var phase = Phase.created
  var trace = Trace.off
  var inFlight: [RequestID: PendingReply] = [:]
  /// Ids of batches whose arrays have not been written.
  var batchIDs: Set<RequestID> = []
  var deferred: PendingReply?

  /// - Parameter mapError: maps an application's error to a wire error; nil makes it an `internalError`.
  public init(
    router: Router, lifecycle: Lifecycle, limits: SessionLimits = SessionLimits(), loop: any Loop,
    recorder: TrafficRecorder? = nil, logger: Logger,
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

  deinit { onRelease?() }

  /// Runs `body` as one turn: its output is handed over in one piece at the end.
  public func turn<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    turns += 1
    defer {
      turns -= 1
      if turns == 0 { endTurn() }
    }
    return try body()
  }

  private func endTurn() {
    finishExit()
    finishEndOfInput()
    if ending != nil || hasOutput { onOutput?() }
  }

  /// Ends the session. The first ending counts, except that `atOnce` replaces an earlier `afterWriting`.
  public func end(_ ending: Ending) {
    switch (self.ending, ending) {
    case (nil, _): break
    case (.afterWriting, .atOnce):
      self.ending = ending
      onOutput?()
      return
    default: return
    }
    // Every request is answered, even if the client does not wait for the notifications that precede its answer.
    if case .afterWriting = ending { holdAnswers(from: nil, marking: 0) }
    self.ending = ending
    if case .afterWriting(let code, _) = ending { record(.ended(code: code)) } else { record(.ended(code: nil)) }
    if turns == 0 { onOutput?() }
  }

  /// Ends all that belongs to the session, when a transport that serves several clients has lost or ended its connection.
  public func close() {
    guard !isClosed else { return }
    isClosed = true
    end(.atOnce(code: 1))
    onClose?()
    cancelAll()
    counters.pending = 0
  }

  /// The wire error for an error thrown by the application.
  func wireError(_ error: any Error) -> RPCError {
    if let error = error as? RPCError { return error }
    if let mapped = mapError(error) { return mapped }
    logger.error("unexpected error: \(error)")
    return .internalError("The server failed: \(error)")
  }
}
