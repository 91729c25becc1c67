// The command line, parsed by hand: a parser library would take as long as the rest of the start.

import Files
import GeoModel
import GeoProtocol
import JSONRPC
import Logging
import Platform

struct Flags {
  static let help = """
    usage: geomodel-server [flags]
    A geo model server: JSON-RPC 2.0 on standard input and output, with LSP's headers or one message a line.

      --trace-file F          write the traffic to F, as a transcript that the conformance runner replays
      --replay-from T         real time begins at T, nanoseconds since 1970, passes only by clock/advance, and no feed is opened: for traces, which have it all
      --allow-dir D           read and write files only below D; may be given several times
      --allow-write D         write files only below D, and read them where --allow-dir says; may be given several times
      --allow-network         open https:// and http:// addresses too; else nothing reaches the network
      --reader-memory N       bytes that a process which reads a file may use (4294967296)
      --readers N             files that are read for longer than a second at the same time; further ones wait (16)
      --feeds N               files, FIFOs and devices that are followed at the same time (64)
      --engine-memory N       bytes that a process which computes with geometries may use (1073741824)
      --exit-timeout S        seconds that requests, and a client that reads nothing, may still take after the end of input (10)
      --listen [NAME]         serve several clients, on a socket of the user alone; NAME is `default` if absent
      --attach [NAME]         forward standard input and output to that server, which is started if need be with the other flags
      --read-only             with --attach: this client may not change the model
      --linger S              with --listen: seconds without clients after which it ends, if nothing is unsaved and nothing runs (600)
      --listen-web PORT       with --listen: also web sockets at 127.0.0.1, at any port if 0; --list shows the address with its token
      --allow-origin URL      with --listen-web: pages of this origin may connect, too; may be given several times
      --preview [DIR]         a page that shows a view of the model and is worked in, at an address with a token that --list shows; implies --listen and
                              --listen-web 0; its files are in DIR, else in geomodel-preview beside the server; may be given several times
      --list                  which servers there are, with document, clients and what is unsaved; --json: one object a line
      --stop [NAME]           end that server; an unsaved model is kept for the next of the name, which document/recover opens
      --log-level L           trace, debug, info, notice, warning (as it is), error or critical
      --max-message-bytes N   refuse longer messages (67108864)
      --max-values N          refuse messages with more JSON values (4000000)
      --max-batch N           refuse batches with more requests (1000)
      --max-document-bytes N  refuse to open and to save larger documents (1073741824)
      --max-header-bytes N    end the session at longer headers (8192)
      --stdio                 as without it: JSON-RPC on standard input and output
      --version, --help, -h

    """

  var traceFile: String?
  /// When real time begins, if a trace is replayed.
  var replayStart: Instant?
  var allowedDirectories: [String] = []
  var writableDirectories: [String] = []
  var allowsNetwork = false
  var readerMemory: UInt64 = 4 << 30
  var readers = 16
  var feeds = 64
  var engineMemory: UInt64 = 1 << 30
  var logLevel = Logger.Level.warning
  var limits = SessionLimits()
  var documentBytes = 1 << 30
  enum Role { case stdio, listen(String), attach(String), list, stop(String) }
  var role = Role.stdio
  var isReadOnly = false
  var webPort: Int?
  var webOrigins: [String] = []
  /// Where the files of the preview page are.
  var previewDirectories: [String] = []
  var lingerSeconds = 600
  var isJSON = false
  /// A descriptor that is closed once clients can connect; for those who start a server in the background.
  var ready: CInt?
  /// The flags that influence answers, as arguments, for traces.
  var replayed: [String] = []
  /// Further flags that a server started by `--attach` gets.
  var passed: [String] = []

  /// Parses the flags. Ends the process for flags that ask for that, such as help, and for invalid ones.
  static func parse(_ arguments: [String]) -> Flags {
    var flags = Flags()
    var rest = arguments.dropFirst()
    while let argument = rest.popFirst() {
      let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
      let name = parts.first ?? argument
      func value() -> String {
        if parts.count == 2 { return parts[1] }
        guard let value = rest.popFirst() else { refuse("\(name) needs a value") }
        return value
      }
      func serverName() -> String {
        if parts.count == 2 { return parts[1] }
        guard let next = rest.first, !next.hasPrefix("-") else { return "default" }
        return rest.removeFirst()
      }
      func number() -> Int {
        let text = value()
        guard let number = Int(text), number > 0 else { refuse("\(name) needs a positive number, not \(text)") }
        flags.replayed += [name, text]
        return number
      }
      switch name {
      // LSP clients pass the transport; only this one exists.
      case "--stdio": break
      case "--listen": flags.role = .listen(serverName())
      case "--attach": flags.role = .attach(serverName())
      case "--list": flags.role = .list
      case "--stop": flags.role = .stop(serverName())
      case "--listen-web":
        let text = value()
        guard let port = Int(text), (0...65_535).contains(port) else { refuse("--listen-web needs a port, not \(text)") }
        flags.webPort = port
        flags.passed += [name, text]
      case "--allow-origin":
        let text = value()
        flags.webOrigins.append(text.lowercased())
        flags.passed += [name, text]
      case "--preview":
        let next = parts.count == 2 ? parts[1] : rest.first.flatMap { $0.hasPrefix("-") ? nil : $0 }
        if parts.count == 1, next != nil { rest.removeFirst() }
        let path = directory(next ?? beside("geomodel-preview"), name)
        flags.previewDirectories.append(path)
        flags.passed += [name, path]
      case "--read-only": flags.isReadOnly = true
      case "--json": flags.isJSON = true
      case "--linger":
        let text = value()
        guard let seconds = Int(text), (0...1_000_000_000).contains(seconds) else { refuse("--linger needs seconds, not \(text)") }
        flags.lingerSeconds = seconds
        flags.passed += [name, text]
      case "--ready-descriptor": flags.ready = CInt(value())
      case "--version": leave("geomodel-server \(WireProtocol.productVersion)\n", code: 0, on: 1)
      case "--help", "-h": leave(help, code: 0, on: 1)
      case "--trace-file": flags.traceFile = value()
      case "--replay-from":
        let text = value()
        guard let time = Int64(text) else { refuse("--replay-from needs nanoseconds, not \(text)") }
        flags.replayStart = Instant(nanoseconds: time)
      case "--allow-dir", "--allow-write":
        let path = directory(value(), name)
        if name == "--allow-dir" { flags.allowedDirectories.append(path) } else { flags.writableDirectories.append(path) }
        flags.replayed += [name, path]
      case "--allow-network":
        flags.allowsNetwork = true
        flags.replayed.append(name)
      case "--log-level":
        let text = value()
        guard let level = Logger.Level(rawValue: text) else { refuse("there is no log level \(text)") }
        flags.logLevel = level
        flags.passed += [name, text]
      case "--reader-memory": flags.readerMemory = UInt64(number())
      case "--engine-memory": flags.engineMemory = UInt64(number())
      case "--feeds": flags.feeds = min(number(), 1024)
      case "--readers": flags.readers = min(number(), 1024)
      case "--exit-timeout": flags.limits.exitNanoseconds = UInt64(min(number(), 1_000_000)) * 1_000_000_000
      case "--max-message-bytes": flags.limits.messageBytes = number()
      case "--max-values": flags.limits.values = number()
      case "--max-batch": flags.limits.batch = number()
      case "--max-document-bytes": flags.documentBytes = number()
      case "--max-header-bytes": flags.limits.headerBytes = number()
      default: refuse("there is no flag \(argument)")
      }
    }
    if !flags.previewDirectories.isEmpty {
      if case .stdio = flags.role { flags.role = .listen("default") }
      flags.webPort = flags.webPort ?? 0
    }
    if case .stdio = flags.role { return flags }
    if flags.traceFile != nil || flags.replayStart != nil { refuse("--trace-file and --replay-from are of a server with one client") }
    return flags
  }

  /// The real path of a directory. A missing one is refused at the start, since the server would otherwise refuse every file later.
  private static func directory(_ name: String, _ flag: String) -> String {
    guard let path = realPath(name), let identity = FileIdentity(path: path) else {
      leave("geomodel-server: \(flag) \(name): \(errorText())\n", code: 66, on: 2)
    }
    guard identity.kind == .directory else {
      leave("geomodel-server: \(flag) \(name): it is no directory\n", code: 66, on: 2)
    }
    return path
  }

  private static func beside(_ name: String) -> String {
    let executable = realPath(executablePath()) ?? executablePath()
    return executable.split(separator: "/").dropLast().map { "/\($0)" }.joined() + "/" + name
  }

  static func refuse(_ reason: String) -> Never {
    leave("geomodel-server: \(reason) (--help lists the flags)\n", code: 64, on: 2)
  }

  static func leave(_ text: String, code: Int32, on descriptor: CInt) -> Never {
    var text = text
    _ = text.withUTF8 { writeBytes(descriptor, UnsafeRawBufferPointer($0)) }
    exit(code)
  }
}
