// The server without its standard streams: one world, one session, and what lies between them.

import Calendar
import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Logging

/// What the server is wired with.
public struct Configuration: Sendable {
  public var transformer: any CoordinateTransformer
  public var geodesy: any Geodesy
  public var timeZones: any TimeZoneSource = ZoneFiles()
  public var limits = SessionLimits()
  /// Directories that files may be opened in; anywhere when empty.
  public var allowedDirectories: [String] = []
  public var workingDirectory: String
  public var version: String
  public var logger: Logger
  /// The real time.
  public var now: @Sendable () -> Instant
  /// Gives back to the system what a bulk edit left over.
  public var trimMemory: @Sendable () -> Void = {}
  /// Resident memory in bytes, where the system tells.
  public var residentBytes: @Sendable () -> Int? = { nil }

  public init(
    transformer: any CoordinateTransformer, geodesy: any Geodesy, workingDirectory: String, version: String,
    logger: Logger, now: @escaping @Sendable () -> Instant
  ) {
    self.transformer = transformer
    self.geodesy = geodesy
    self.workingDirectory = workingDirectory
    self.version = version
    self.logger = logger
    self.now = now
  }
}

/// Owns the world and answers for it. Lives on the session's loop.
public final class Host: MethodHost {
  public typealias World = GeoModel.World
  public typealias Process = ProcessID
  public typealias ProcessEnd = GeoModel.ProcessEnd
  public typealias TaskContext = Worker

  let configuration: Configuration
  let loop: any Loop
  var world: World
  var files: Files
  var subscribers = Subscribers()
  var tasks = Tasks()
  var router = Router()
  /// A command within a transaction: writes its result.
  typealias Command = (_ params: JSONValue, inout World, inout JSONWriter) throws -> Void
  /// What transactions are made of, by name.
  var commands: [String: Command] = [:]
  /// The request of the session's shape that is being answered.
  var running: Call?
  /// There from the first message on.
  private(set) weak var session: Session?
  var waits: [ProcessID: Wait] = [:]
  var ticking: LoopTimer?
  var flushing: LoopTimer?
  var trimming: LoopTimer?
  /// Features that have come and gone since memory was last trimmed.
  var untrimmed = 0
  /// Whether a further bulk edit came while trimming was waited for.
  var isTrimmingPutOff = false
  /// Whether changes are held back until the client has read more.
  var isHeldBack = false
  /// Whether sending further parts of a delivery is scheduled.
  var isResumeScheduled = false

  /// A request that waits for a process to end.
  struct Wait {
    let pending: PendingReply
    let end: (ProcessEnd) -> Void
  }

  /// A session that serves a new world.
  public static func makeSession(
    _ configuration: Configuration, on loop: any Loop, recorder: (any TrafficRecorder)? = nil
  ) -> Session {
    let host = Host(configuration, loop)
    host.registerAll()
    let session = Session(
      router: host.router, lifecycle: host.lifecycle, limits: configuration.limits, loop: loop, recorder: recorder,
      logger: configuration.logger
    ) { RPCError($0, in: nil, at: "/params") }
    session.onDrained = { [weak host] in host?.drained() }
    session.hasMore = { [weak host] in host.map { $0.isHeldBack || $0.isResumeScheduled } ?? false }
    host.session = session
    return session
  }

  private init(_ configuration: Configuration, _ loop: any Loop) {
    self.configuration = configuration
    self.loop = loop
    files = Files(root: configuration.workingDirectory, allowedDirectories: configuration.allowedDirectories)
    world = World(
      transformer: configuration.transformer, geodesy: configuration.geodesy, timeZones: configuration.timeZones,
      now: configuration.now())
  }

  private func registerAll() {
    SessionService.register(on: self)
    StateService.register(on: self)
    ModelService.register(on: self)
    EditService.register(on: self)
    DocumentService.register(on: self)
    ClockService.register(on: self)
    TaskService.register(on: self)
    SourceService.register(on: self)
    MapService.register(on: self)
    BookmarkService.register(on: self)
    LayerService.register(on: self)
    SceneService.register(on: self)
    ViewService.register(on: self)
    OverlayService.register(on: self)
    FeatureService.register(on: self)
    LocationService.register(on: self)
    ViewModelService.register(on: self)
    BindingService.register(on: self)
    EnvironmentService.register(on: self)
    registerDiscovery()
  }
}
