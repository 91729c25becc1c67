// The server without its standard streams: one world, and its clients.

import Calendar
import DequeModule
import Files
import GeoModel
import Geometry
import Handlers
import JSONRPC
import Logging
import Readers

/// Settings and services that the executable passes in.
public struct Configuration: Sendable {
  public var transformer: any CoordinateTransformer
  public var geodesy: any Geodesy
  public var timeZones: any TimeZoneSource = ZoneFiles()
  public var limits = SessionLimits()
  public var documentLimits = DocumentLimits()
  /// Folders in which files may be read, and written unless ``writableDirectories`` says where; an empty list allows all.
  public var allowedDirectories: [String] = []
  /// Folders in which files may be written; if empty, those in which they may be read.
  public var writableDirectories: [String] = []
  /// Whether data may come from the network.
  public var allowsNetwork = false
  public var workingDirectory: String
  /// Reads foreign files in separate processes.
  public var readers: Readers
  public var logger: Logger
  /// The real time.
  public var now: @Sendable () -> Instant
  /// The real time at the beginning of a session that is traced, or replayed.
  public var start: Instant?
  /// Whether several clients share the model.
  public var isShared = false
  /// The file with the unsaved model of an earlier server, and the path of its document.
  public var recovery: (file: String, path: String?)?
  /// Whether a trace is replayed, which makes the time pass.
  public var isReplay = false
  /// Returns memory freed by a bulk edit to the system.
  public var trimMemory: @Sendable () -> Void = {}
  /// Resident memory in bytes; nil where the system does not report it.
  public var residentBytes: @Sendable () -> Int? = { nil }

  public init(
    transformer: any CoordinateTransformer, geodesy: any Geodesy, workingDirectory: String,
    readers: Readers, logger: Logger, now: @escaping @Sendable () -> Instant
  ) {
    self.transformer = transformer
    self.geodesy = geodesy
    self.workingDirectory = workingDirectory
    self.readers = readers
    self.logger = logger
    self.now = now
  }
}

/// Owns the world and what all clients share: publishing, the clock, memory. Lives on one loop.
public final class Host {
  let configuration: Configuration
  package let loop: any Loop
  package var world: World
  /// The connected clients. Each removes itself when its session ends.
  private(set) var clients: [Connected] = []
  /// Clients that have left and are still in the model.
  var leaving: [ConnectedClientID] = []
  /// Number of clients that were ever connected.
  private var connected: Int32 = 0
  var ticking: LoopTimer?
  /// Number of replays that are being read.
  var readings = 0
  /// Whether input waits for an advance of a manual clock, or for judgements.
  var isInputHeld = false
  /// Whether a trace has each step of real time.
  private(set) var isTraced = false
  /// Number of steps that the trace has.
  var tracedSteps = 0
  let labels = LabelMemory()
  /// The files of sources.
  var followed: [ObjectReference: FollowedFile] = [:]
  /// Which files sources may follow, and jobs read and write.
  let files: FilePaths
  /// Attempts to do jobs' work, and those of them that wait for their turn.
  var runningJobs: [JobID: RunningJob] = [:]
  var waitingJobs: Deque<RunningJob> = []
  /// Those that have a place among the jobs that run.
  var jobsAtWork: [RunningJob] = []
  var trimming: LoopTimer?
  /// Number of features added and removed since memory was last trimmed.
  var untrimmed = 0
  /// Taps on scenes whose ground is being read, and those after them.
  var waitingTaps: [Tap] = []
  /// Whether another bulk edit arrived while trimming was scheduled.
  var isTrimmingPutOff = false

  /// A client, which is owned by its session.
  struct Connected {
    let id: ObjectIdentifier
    unowned let client: Client
  }

  /// A session that serves a new world.
  public static func makeSession(
    _ configuration: Configuration, on loop: any Loop, recorder: TrafficRecorder? = nil
  ) -> Session {
    Host(configuration, on: loop).connect(recorder)
  }

  package init(_ configuration: Configuration, on loop: any Loop) {
    self.configuration = configuration
    self.loop = loop
    files = FilePaths(
      root: configuration.workingDirectory, allowedDirectories: configuration.allowedDirectories,
      writableDirectories: configuration.writableDirectories, allowsNetwork: configuration.allowsNetwork)
    world = World(
      transformer: configuration.transformer, geodesy: configuration.geodesy, timeZones: configuration.timeZones,
      now: configuration.start ?? configuration.now(), isReplay: configuration.isReplay)
    world.setRecovery(configuration.recovery)
  }

  /// The real time; in a session that is traced, or replays a trace, that of the last step which the trace has.
  var now: Instant { isTraced || world.clock.isReplayed ? world.realTime : configuration.now() }

  /// Adds a client and returns its session.
  ///
  /// - Parameters:
  ///   - root: its folder of relative paths; the working directory if nil.
  ///   - isReadOnly: whether it may not change the model, whatever it asks for.
  package func connect(_ recorder: TrafficRecorder? = nil, root: String? = nil, isReadOnly: Bool = false) -> Session {
    connected += 1
    let client = Client(of: self, ClientNumber(connected))
    if let root { try? client.files.setRoot(root) }
    client.isReadOnly = isReadOnly
    clients.append(Connected(id: ObjectIdentifier(client), client: client))
    if recorder != nil, configuration.start != nil { isTraced = true }
    let session = client.makeSession(recorder)
    if isInputHeld { session.holdInput() }
    return session
  }

  /// Throws while a client opens a document.
  func checkDocument() throws(RPCError) {
    guard clients.contains(where: { $0.client.tasks.find(.openDocument) != nil }) else { return }
    throw RPCError(.documentBusy, "A document is being opened.")
  }

  /// Forgets a client, whose session has ended.
  func disconnect(_ client: ObjectIdentifier) {
    clients.removeAll { $0.id == client }
    trimLater(Self.featuresOfClient)
  }

  /// Runs `body` as one turn of every client's session.
  func turn(_ body: () -> Void) { turn(clients[...], body) }

  private func turn(_ clients: ArraySlice<Connected>, _ body: () -> Void) {
    guard let session = clients.first?.client.session else { return body() }
    session.turn { turn(clients.dropFirst(), body) }
  }
}
