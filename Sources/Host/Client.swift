// A connection: its session, and everything that belongs to it and ends with it.

import DequeModule
import Documents
import GeoModel
import GeoProtocol
import Handlers
import JSON
import JSONRPC
import Readers
import Subscriptions

/// Answers one client's requests. Owns its subscriptions, tasks, requests in flight, limits and root of relative paths; the host
/// owns the world.
final class Client: MethodHost, HandlerClient {
  typealias Types = Server

  let host: Host
  let number: ClientNumber
  /// Whether it may neither change the model nor write files.
  var isReadOnly = false {
    didSet { if isReadOnly { files.forbidWriting() } }
  }
  /// Whether texts are measured with the fonts of the machine.
  package var hasFonts = true
  /// When its last message came, in nanoseconds of the loop.
  var heardAt: UInt64 = 0
  var router = Router()
  /// The commands of transactions, by name.
  var commands: [String: Command] = [:]
  /// The session, which owns the client through its routes. Set at the first message; nil when it has ended. Not weak, since
  /// every access to an object with weak references is slower.
  private(set) unowned var session: Session?
  /// Whether params with unknown members are refused.
  var isStrict = false
  /// The model's time when changes were last published.
  var publishedAt = Instant(nanoseconds: 0)
  /// Whether the request that is being handled made a step that was too large for history.
  var historyWasCut = false
  /// The edit that this client has begun, while it is open.
  var edit: EditID?
  var files: FilePaths
  var subscribers = Subscribers()
  let tasks = Tasks()
  let endedWork = EndedWork()
  /// The session method's request that is being handled.
  var running: Call?
  /// Requests that wait for a process to end.
  var waits: [ProcessID: Wait] = [:]
  var flushing: LoopTimer?
  /// Whether changes are held back until the client has read more.
  var isHeldBack = false
  /// Whether sending further parts of a delivery is scheduled.
  var isResumeScheduled = false
  /// Number of unread bytes when parts were last sent, or when the client last read.
  var unreadBefore = 0
  /// Tasks with an unsent part of their result, or a whole unsent result, in the order in which these were made.
  var tasksWithParts: Deque<RunningTask> = []
  let waitingSize: WaitingSize
  /// Postponed work, which begins when fewer results wait.
  var postponed: [() -> Void] = []

  struct Wait {
    let pending: PendingReply
    let end: (ProcessEnd) -> Void
  }

  init(of host: Host, _ number: ClientNumber) {
    self.host = host
    self.number = number
    waitingSize = WaitingSize(limit: host.configuration.limits.resultBytes)
    files = host.files
    registerAll()
  }

  deinit { host.disconnect(ObjectIdentifier(self)) }

  var loop: any Loop { host.loop }
  var world: World { host.world }
  var realTime: Instant { host.now }
  var jobMethods: JobMethods { .all }
  var readers: Readers { host.configuration.readers }
  var residentBytes: Int? { host.configuration.residentBytes() }

  /// Throws if another client's edit is open and the running command would become part of it or end it: the other client would
  /// undo this client's changes together with its edit.
  ///
  /// - Parameters:
  ///   - before: the edit that was open when the command began.
  ///   - editor: its client.
  func checkEdit(since before: EditID?, of editor: ConnectedClientID?) throws(ModelError) {
    if let before, before != edit, world.changesHistory { throw .editInProgress(by: editor) }
  }

  /// Records that a command of this client has begun or ended an edit.
  func noteEdit(since before: EditID?) {
    guard world.edit != before else { return }
    edit = world.edit
    if edit != nil, host.configuration.isShared { watchEdit() }
  }

  /// Makes the session. Called once.
  func makeSession(_ recorder: TrafficRecorder?) -> Session {
    let configuration = host.configuration
    let session = Session(
      router: router, lifecycle: lifecycle, limits: configuration.limits, loop: loop, recorder: recorder,
      logger: configuration.logger
    ) { RPCError($0, in: nil, at: "/params") }
    if recorder != nil { session.onInput = { [unowned self] in host.passBeforeInput() } }
    if configuration.isShared {
      heardAt = loop.nanoseconds
      session.onInput = { [unowned self] in heardAt = loop.nanoseconds }
    }
    session.onClose = { [unowned self] in leave() }
    session.onRelease = { [unowned self] in self.session = nil }
    session.onDrained = { [unowned self] in drained() }
    session.hasMore = { [unowned self] in isHeldBack || isResumeScheduled || !host.waitingTaps.isEmpty }
    self.session = session
    router = Router()
    subscribers.limit = configuration.limits.subscriptions
    return session
  }

  private func registerAll() {
    registerServices()
    // Returns all members, including unknown ones.
    router.on("session/echo") { call in .aside(call.params) }
  }
}
