// The whole server without its standard streams, driven by a test: messages in, messages out, in order.

import Foundation
import GeoModel
import Geometry
import class Host.Host
import struct Host.Configuration
import JSON
import JSONRPC
import Logging
import Projection
import Readers
import Synchronization
import TestSupport
import Testing

/// The root of the repository.
let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
  .deletingLastPathComponent().deletingLastPathComponent()

/// Shared by all tests: it is thread-safe, and its first use of a reference is slow.
let proj = PROJTransformer()

/// The server's real-time clock, advanced by the test.
final class TestTime: Sendable {
  private let nanoseconds = Mutex(Int64(1_700_000_000_000_000_000))
  var now: Instant { Instant(nanoseconds: nanoseconds.withLock { $0 }) }
  func advance(by step: Int64) { nanoseconds.withLock { $0 += step } }
}

/// An initialized session in memory, with one message a line.
final class MemoryServer {
  let host: Host
  let loop: ManualLoop
  let connection: MemoryConnection
  let time: TestTime
  /// Messages received and not yet taken.
  private(set) var inbox: [Value] = []
  /// All messages received, taken or not, while it is not nil.
  var record: [Value]?
  private var lastID = 0
  private var partial: [UInt8] = []

  /// - Parameters:
  ///   - folder: Where relative paths start.
  ///   - isShared: Whether it is for several clients.
  init(
    _ offloading: ManualLoop.Offloading = .inline, limits: SessionLimits = SessionLimits(),
    folder: String = repository.path, initializes: Bool = true, isShared: Bool = false
  ) throws {
    loop = ManualLoop(offloading: offloading)
    time = TestTime()
    var configuration = Configuration(
      transformer: proj, geodesy: proj, workingDirectory: folder, readers: testReaders,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, now: { [time] in time.now })
    configuration.limits = limits
    configuration.isShared = isShared
    configuration.residentBytes = { 11_534_336 }
    host = Host(configuration, on: loop)
    connection = MemoryConnection(host.connect(), on: loop)
    if initializes { try initialize() }
  }

  /// Another client of the same world.
  init(beside other: MemoryServer) throws {
    (host, loop, time) = (other.host, other.loop, other.time)
    connection = MemoryConnection(host.connect(), on: loop)
    try initialize()
  }

  private func initialize() throws {
    _ = try call("initialize", ["protocolVersions": ["0.7"], "strict": true])
    notify("initialized", [:])
  }

  // MARK: Sending

  func send(_ message: Value) { send(text: message.text) }

  /// Sends a message with members in the order, and numbers in the form, of the text.
  func send(text: String) { connection.send(text + "\n") }

  func notify(_ method: String, _ params: Value) {
    send(["jsonrpc": "2.0", "method": .string(method), "params": params])
  }

  /// Sends a request.
  ///
  /// - Returns: its id.
  @discardableResult
  func request(_ method: String, _ params: Value = [:], id: Value? = nil) -> Value {
    lastID += 1
    let id = id ?? .integer(lastID)
    send(["jsonrpc": "2.0", "id": id, "method": .string(method), "params": params])
    return id
  }

  func cancel(_ id: Value) { notify("$/cancelRequest", ["id": id]) }

  // MARK: Receiving

  private func read() throws {
    partial += connection.takeOutput()
    while let end = partial.firstIndex(of: 0x0A) {
      let message = try Value(Array(partial[..<end]))
      record?.append(message)
      inbox.append(message)
      partial.removeFirst(end + 1)
    }
  }

  /// All messages received and not yet taken, in order.
  func takeMessages() throws -> [Value] {
    try read()
    defer { inbox = [] }
    return inbox
  }

  /// Takes the notifications of a method; other messages stay.
  func takeNotifications(_ method: String) throws -> [Value] {
    try read()
    defer { inbox.removeAll { $0["method"]?.string == method } }
    return inbox.filter { $0["method"]?.string == method }.compactMap { $0["params"] }
  }

  /// Takes the response to a request; nil when it has not been received.
  func response(to id: Value) throws -> Value? {
    try read()
    guard let index = inbox.firstIndex(where: { $0["id"] == id && $0["method"] == nil }) else { return nil }
    return inbox.remove(at: index)
  }

  /// Takes the response to a request; the kind of its error.
  func errorKind(of id: Value) throws -> String? { try response(to: id)?["error"]?["data"]?["kind"]?.string }

  // MARK: Calling

  /// Sends a request and takes its result.
  @discardableResult
  func call(
    _ method: String, _ params: Value = [:], sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Value {
    let id = request(method, params)
    let answer = try #require(try response(to: id), "no response to \(method)", sourceLocation: sourceLocation)
    return try #require(
      answer["result"], "\(method) \(params) was refused: \(answer)", sourceLocation: sourceLocation)
  }

  /// Sends a request that has to fail, and takes the error's data.
  @discardableResult
  func refusal(
    _ method: String, _ params: Value = [:], sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Value {
    let id = request(method, params)
    let answer = try #require(try response(to: id), "no response to \(method)", sourceLocation: sourceLocation)
    return try #require(
      answer["error"]?["data"], "\(method) \(params) was not refused: \(answer)", sourceLocation: sourceLocation)
  }

  var revision: Int {
    get throws { try #require(try call("session/status")["revision"]?.integer) }
  }

  /// The values that match a pattern, by path.
  func state(_ pattern: String) throws -> [String: Value] {
    var values: [String: Value] = [:]
    for entry in try call("state/get", ["path": .string(pattern)])["values"]?.array ?? [] {
      values[entry["path"]?.string ?? ""] = entry["value"] ?? .null
    }
    return values
  }

  /// The whole state tree as JSON text.
  func worldText() throws -> String { (try state("")[""] ?? .null).text }
}

/// A deterministic random number generator.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed &+ 0x9E37_79B9_7F4A_7C15 }

  /// SplitMix64.
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// Processes of the built server, which read files for the servers in memory.
let testReaders = Readers(executable: ServerProcess.path)
