// A server that several clients share: serving, attaching to it, listing and ending such servers.

import GeoProtocol
import Handlers
import Host
import JSON
import JSONRPC
import Logging
import Platform

/// The host as the service of a socket.
private final class SharedHost: SharedService {
  private let host: Host
  private let place: ServerPlace
  private let logger: Logger
  /// The unsaved model of an earlier server, which clients may open.
  private let recovery: String?
  /// Why the unsaved model cannot be kept, once an end was refused for it.
  private var notKept: String?

  init(_ configuration: Configuration, _ place: ServerPlace, _ logger: Logger, on loop: any Loop) {
    host = Host(configuration, on: loop)
    self.place = place
    self.logger = logger
    recovery = configuration.recovery?.file
  }

  var isIdle: Bool { host.isIdle }

  func connect(_ greeting: Greeting) -> Session { host.connect(root: greeting.folder, isReadOnly: greeting.isReadOnly) }

  func status() -> [UInt8] {
    var writer = JSONWriter()
    let addresses = (ServerPlace.read(place.web) ?? "").split(separator: "\n").map(String.init)
    host.writeStatus(
      name: place.name, web: addresses.first, preview: addresses.dropFirst().first, notKept: notKept, to: &writer)
    return Array(writer.bytes)
  }

  func end() -> Bool {
    let isOpened = host.world.document.recovery == nil
    guard host.isUnsaved() else {
      if isOpened, let recovery { remove(recovery) }
      return true
    }
    if !isOpened, let recovery { keepOlder(recovery) }
    var reasons: [String] = []
    for file in place.recoveries {
      do throws(any Error) {
        try ServerPlace.makeFolder(of: file)
        guard ServerPlace.write(host.world.document.path ?? "", to: ServerPlace.pathFile(of: file)) else {
          throw RPCError(.saveFailed, "\(ServerPlace.pathFile(of: file)): \(errorText())")
        }
        try host.writeRecovery(to: file)
        chmod(file, 0o600)
        if isOpened, let recovery, recovery != file { remove(recovery) }
        say("The server ends; the unsaved model is kept in \(file).", file)
        return true
      } catch {
        let reason = (error as? RPCError)?.message ?? "\(error)"
        reasons.append(reason.hasSuffix(".") ? String(reason.dropLast()) : reason)
        logger.error("the unsaved model cannot be kept in \(file): \(reason)")
      }
    }
    let reason = reasons.joined(separator: "; ")
    guard notKept == nil else {
      say("The server ends, and the unsaved model is lost: \(reason)", nil)
      return true
    }
    notKept = reason
    say("The server does not end, as the unsaved model cannot be kept: \(reason). Save it; the next request to end loses it.", nil)
    return false
  }

  private func say(_ message: String, _ file: String?) {
    host.announceRecovery(message, at: file)
    if file == nil { logger.error("\(message)") } else { logger.notice("\(message)") }
  }

  private func remove(_ recovery: String) {
    unlink(recovery)
    unlink(ServerPlace.pathFile(of: recovery))
  }

  /// Gives the unsaved model that nobody has opened another name: it is somebody's work.
  private func keepOlder(_ recovery: String) {
    for number in 1...1000 {
      let other = String(recovery.dropLast(5)) + "-\(number).json"
      guard access(other, F_OK) != 0 else { continue }
      if rename(recovery, other) == 0 { logger.notice("the earlier unsaved model is kept in \(other)") }
      return
    }
  }
}

func listen(_ flags: Flags, _ name: String) -> Never {
  let place = serverPlace(name)
  let logger = Logger(label: "geomodel-server") { _ in StderrLogHandler(level: flags.logLevel) }
  if flags.ready != nil { _ = chdir("/") }
  var configuration = makeConfiguration(flags, logger)
  configuration.isShared = true
  if let recovery = place.recovery {
    let path = ServerPlace.read(ServerPlace.pathFile(of: recovery)) ?? ""
    configuration.recovery = (recovery, path.isEmpty ? nil : path)
    logger.warning("an earlier server left an unsaved model: document/recover opens it (\(recovery))")
  }
  var door: WebDoor?
  if let port = flags.webPort {
    let page = flags.previewDirectories.isEmpty ? nil : WebPage(folders: flags.previewDirectories)
    if page?.isComplete == false { Flags.leave("geomodel-server: no page in \(flags.previewDirectories.joined(separator: ", "))\n", code: 66, on: 2) }
    door = WebDoor(
      port: port, origins: flags.webOrigins, messageBytes: flags.limits.messageBytes, page: page,
      earlier: page.flatMap { _ in ServerPlace.read(place.page) })
  }
  let wiring = configuration
  SocketServer.run(
    at: place, web: door, linger: UInt64(flags.lingerSeconds) * 1_000_000_000, logger: logger, waitingLimit: configuration.readers.limit,
    ready: flags.ready, atEnd: UnfinishedSaves.remove
  ) { loop in SharedHost(wiring, place, logger, on: loop) }
}

func attach(_ flags: Flags, _ name: String) -> Never {
  let place = serverPlace(name)
  var greeting = Greeting()
  greeting.folder = workingDirectory()
  greeting.isReadOnly = flags.isReadOnly
  // A server that is ending keeps its name for a moment.
  for attempt in 0..<200 {
    let connection = place.connect()
    if connection < 0, errno != ENOENT, errno != ECONNREFUSED, errno != EAGAIN {
      Flags.leave("geomodel-server: \(place.socket): \(errorText())\n", code: 69, on: 2)
    }
    let isGreeted = connection < 0 ? false : Forwarder.greet(connection, greeting)
    if isGreeted == nil { Flags.leave("geomodel-server: the server \(name) does not answer\n", code: 69, on: 2) }
    if isGreeted == true {
      Forwarder.run(
        connection, lost: RPCError(.serverLost, "The server \"\(name)\" has ended; whether the request took effect is not known."))
    }
    if connection >= 0 { close(connection) }
    if attempt > 0 { poll(nil, 0, 50) }
    if let reason = start(place, flags) {
      Flags.leave("geomodel-server: no server \(name) can be started: \(reason)\n", code: 69, on: 2)
    }
  }
  Flags.leave("geomodel-server: no server \(name) can be started: another one has the name and serves nobody\n", code: 69, on: 2)
}

/// Starts a server in the background, and waits until clients can connect, or it has ended.
///
/// - Returns: why it cannot serve; nil if it does, or if another server has the name.
private func start(_ place: ServerPlace, _ flags: Flags) -> String? {
  var ends: [CInt] = [0, 0]
  guard pipe(&ends) == 0 else { return errorText() }
  let log = open(place.log, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
  let logged = log < 0 ? 0 : lseek(log, 0, SEEK_END)
  _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
  signal(SIGCHLD, SIG_IGN)
  let executable = realPath(executablePath()) ?? executablePath()
  let arguments =
    [executable, "--listen", place.name, "--ready-descriptor", "3"] + flags.replayed + flags.passed
  let failure = spawnInBackground(executable, arguments, output: log, ready: ends[1])
  close(ends[1])
  defer {
    close(ends[0])
    if log >= 0 { close(log) }
  }
  guard failure == 0 else { return "\(executable): \(errorText(failure))" }
  var byte: UInt8 = 0
  while read(ends[0], &byte, 1) < 0, errno == EINTR {}
  guard Readiness(rawValue: byte) == nil else { return nil }
  var said = [UInt8](repeating: 0, count: 4096)
  let count = log < 0 ? 0 : pread(log, &said, said.count, logged)
  let lines = String(decoding: said[..<max(0, count)], as: UTF8.self).split(separator: "\n")
  return lines.last.map(String.init) ?? "it has ended without a word"
}

func list(_ flags: Flags) -> Never {
  let places: [ServerPlace]
  do throws(PlaceError) { places = try ServerPlace.all() } catch { Flags.leave("geomodel-server: \(error)\n", code: 69, on: 2) }
  var lines = ""
  for place in places {
    guard let status = status(of: place) else { continue }
    if flags.isJSON {
      lines += status + "\n"
    } else if let document = try? JSONDocument(Array(status.utf8)) {
      lines += document.read { json in
        let path = (try? json["document"].string()) ?? "no document"
        let clients = json["clients"].count
        let state = (try? json["isModified"].bool()) == true ? ", unsaved changes" : ""
        let web = (ServerPlace.read(place.web) ?? "").split(separator: "\n").map { ", \($0)" }.joined()
        return "\(place.name): \(path)\(state), \(clients) client\(clients == 1 ? "" : "s"), process \(json["process"].int64)\(web)\n"
      }
    }
  }
  Flags.leave(lines, code: 0, on: 1)
}

/// The state of a server as a line of JSON; nil if none has the name.
private func status(of place: ServerPlace) -> String? {
  let connection = place.connect()
  guard connection >= 0 else { return nil }
  defer { close(connection) }
  var greeting = Greeting()
  greeting.asksStatus = true
  _ = greeting.bytes.withUnsafeBytes { writeBytes(connection, $0) }
  var answer: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 64 << 10)
  while isReadable(connection, within: 3000) {
    let count = buffer.withUnsafeMutableBytes { readBytes(connection, into: $0) }
    if count < 0, errno == EINTR { continue }
    guard count > 0 else { break }
    answer += buffer[..<count]
  }
  guard answer.contains(0x0A) else { return nil }
  return String(decoding: answer.prefix { $0 != 0x0A }, as: UTF8.self)
}

func stop(_ name: String) -> Never {
  let place = serverPlace(name)
  let connection = place.connect()
  guard connection >= 0, let process = peer(of: connection)?.process, process > 0 else {
    Flags.leave("geomodel-server: there is no server \(name)\n", code: 69, on: 2)
  }
  func refusal() -> String? {
    status(of: place).flatMap { try? JSONDocument(Array($0.utf8)) }?.read { try? $0["notKept"].string() }
  }
  let wasRefused = refusal() != nil
  kill(process, SIGTERM)
  // Its end closes the connection.
  for _ in 0..<140 where !isReadable(connection, within: 500) {
    if !wasRefused, let reason = refusal() {
      let advice = "save it, or stop the server again, which loses it"
      Flags.leave("geomodel-server: \(name) does not end, as its unsaved model cannot be kept: \(reason); \(advice)\n", code: 75, on: 2)
    }
  }
  guard isReadable(connection, within: 0) else {
    Flags.leave("geomodel-server: \(name) (process \(process)) does not end\n", code: 70, on: 2)
  }
  let kept = place.recovery.map { "; its unsaved model is in \($0)" } ?? ""
  Flags.leave("\(name) has ended\(kept)\n", code: 0, on: 1)
}

private func serverPlace(_ name: String) -> ServerPlace {
  do throws(PlaceError) { return try ServerPlace(name) } catch {
    Flags.leave("geomodel-server: \(error)\n", code: 69, on: 2)
  }
}
