// A conversation with a fresh server in memory, by the steps of a transcript.

import Foundation
import GeoModel
import Host
import JSON
import JSONRPC
import Logging
import Readers
import TestSupport

/// The client of a transcript. As in the server, workers are threads and the loop runs in real time.
final class Conversation {
  private let framing: Transcript.Framing
  private let head: Value
  private let folder: URL
  private var bindings = Bindings()
  private let loop = ManualLoop(offloading: .threads)
  private lazy var connection = makeConnection()
  /// Messages received and not yet matched.
  private var inbox: [Value] = []
  /// Consecutive messages are sent as one piece, so that a cancellation directly follows its request.
  private var unsent: [UInt8] = []
  /// The ids of `late` responses, which may arrive at any time, and how many are expected of each.
  private var late: [[Value]: Int] = [:]
  private var isStopped = false
  private var input: [UInt8] = []
  private var lastTurn = ContinuousClock.now
  /// The longest wait for a message, in seconds.
  private let patience: Double

  init(_ transcript: Transcript, _ head: Value, _ steps: [Transcript.Step]) throws {
    for step in steps where step["late"]?.bool == true {
      late[(step["expect"] ?? .null).answeredIDs, default: 0] += 1
    }
    framing = transcript.framing
    self.head = head
    patience = max(10, head["patience"]?.number ?? 0)
    let folder = FileManager.default.temporaryDirectory.appending(path: "conformance-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    self.folder = folder.resolvingSymlinksInPath()
    bindings.values["tmp"] = .string(self.folder.path)
    let own = Transcript.folder.appending(path: "fixtures")
    let shared = repository.appending(path: "Tests/Fixtures")
    bindings.values["fixtures"] = .string((FileManager.default.fileExists(atPath: shared.path) ? shared : own).path)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Applies the flags that a server in memory supports.
  private func makeConnection() -> MemoryConnection {
    var configuration = Configuration(
      transformer: proj, geodesy: proj, workingDirectory: folder.path, readers: testReaders,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
      now: { Instant(nanoseconds: Int64(Date.now.timeIntervalSince1970 * 1e9)) })
    var arguments = head["args"]?.array?.compactMap { $0.string.map(bindings.resolved) }[...] ?? []
    while let name = arguments.popFirst() {
      if name == "--allow-network" {
        configuration.allowsNetwork = true
        continue
      }
      guard let value = arguments.popFirst() else { break }
      switch name {
      case "--allow-dir": configuration.allowedDirectories.append(value)
      case "--allow-write": configuration.writableDirectories.append(value)
      case "--max-message-bytes": configuration.limits.messageBytes = Int(value) ?? 0
      case "--max-values": configuration.limits.values = Int(value) ?? 0
      case "--max-batch": configuration.limits.batch = Int(value) ?? 0
      case "--max-document-bytes": configuration.documentLimits.bytes = Int(value) ?? 0
      case "--engine-memory":
        configuration.readers = Readers(executable: ServerProcess.path, engineMemory: UInt64(value) ?? 0)
      case "--replay-from":
        configuration.start = Int64(value).map(Instant.init(nanoseconds:))
        configuration.isReplay = true
      case "--max-header-bytes": configuration.limits.headerBytes = Int(value) ?? 0
      default: break
      }
    }
    return MemoryConnection(Host.makeSession(configuration, on: loop), on: loop)
  }

  // MARK: Steps

  /// Initializes the session unless the case does.
  func begin() throws {
    guard head["initialize"]?.bool == true else { return }
    let params = #"{"protocolVersions": ["0.7"], "rootPath": "${tmp}", "strict": true}"#
    for line in [
      #"{"send": {"id": "init", "method": "initialize", "params": \#(params)}}"#,
      #"{"expect": {"id": "init", "result": {"$any": true}}}"#,
      #"{"send": {"method": "initialized", "params": {}}}"#,
    ] {
      try run(Transcript.Step(Array(line.utf8)))
    }
  }

  func run(_ step: Transcript.Step) throws {
    let skip = (step["skip"]?.array ?? []) + (head["skip"]?.array ?? [])
    if let message = step.text["send"] {
      send(try SentText(message.completed[...]).filled(bindings))
    } else if let text = step["sendText"] {
      send(try bindings.bytes(text))
    } else if let text = step["sendRaw"] {
      unsent += try bindings.bytes(text)
    } else if let pattern = step["expect"] {
      try expect(pattern, skip: skip, isLate: step["late"]?.bool == true)
    } else if let patterns = step["expectUnordered"]?.array {
      let found = try patterns.map { _ in try next(skip, patterns) }
      try bindings.matchUnordered(patterns, found, at: "")
    } else if step["closeInput"] != nil {
      flush()
      connection.close()
    } else if let code = step["expectExit"]?.integer {
      try expectEnd(code)
    } else if let path = step["file"]?.string {
      let file = URL(filePath: bindings.resolved(path))
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(try bindings.bytes(step["text"] ?? "")).write(to: file)
    } else if step["stop"] != nil {
      isStopped = true
    } else if step["note"] == nil {
      throw Mismatch("", "unknown step: \(step)")
    }
  }

  /// After the last line the input ends; the server has to end as well, with no unexpected message left.
  func end() throws {
    if isStopped { return }
    flush()
    if connection.session.ending == nil { connection.close() }
    try expectEnd(nil)
  }

  // MARK: -

  private func send(_ text: [UInt8]) {
    unsent += framing == .lines ? text + [0x0A] : Array("Content-Length: \(text.count)\r\n\r\n".utf8) + text
  }

  private func flush() {
    let bytes = unsent
    unsent = []
    if !bytes.isEmpty { connection.send(bytes) }
  }

  private func expect(_ pattern: Value, skip: [Value], isLate: Bool) throws {
    let message = try next(skip, [pattern], isLate: isLate)
    if isLate { late[pattern.answeredIDs, default: 0] -= 1 }
    do { try bindings.match(pattern, message) } catch let mismatch as Mismatch {
      throw Mismatch(mismatch.path, "\(mismatch.reason)\nin \(message.text.prefix(1000))")
    }
  }

  private func expectEnd(_ code: Int?) throws {
    flush()
    guard try wait(until: { connection.session.ending != nil }) else { throw Mismatch("", "the server does not end") }
    try read()
    inbox.removeAll { isLog($0) || isSkipped($0, head["skip"]?.array ?? []) }
    guard inbox.isEmpty else { throw Mismatch("", "unexpected messages: \(inbox.map(\.text))") }
    if let code, let found = connection.session.ending?.code, found != Int32(code) {
      throw Mismatch("", "expected exit status \(code), found \(found)")
    }
  }

  /// Takes the next message that is not skipped. Late responses are taken from any position; other messages pass over them.
  private func next(_ skip: [Value], _ patterns: [Value], isLate: Bool = false) throws -> Value {
    flush()
    let own = patterns.map(\.answeredIDs)
    var index = 0
    while true {
      guard try wait(until: { inbox.count > index || connection.session.ending != nil }), inbox.count > index else {
        throw Mismatch("", "no message; expected \(patterns.map { $0.text.prefix(300) })")
      }
      let message = inbox[index]
      let isOwn = own.contains(message.answeredIDs)
      if isLog(message) && !patterns.contains(where: { $0["method"] == message["method"] }) || isSkipped(message, skip)
      {
        inbox.remove(at: index)
      } else if isOwn || !isLate && late[message.answeredIDs, default: 0] == 0 {
        return inbox.remove(at: index)
      } else {
        index += 1
      }
    }
  }

  private func isSkipped(_ message: Value, _ skip: [Value]) -> Bool {
    skip.contains { pattern in
      var attempt = bindings
      return (try? attempt.match(pattern, message)) != nil
    }
  }

  private func isLog(_ message: Value) -> Bool {
    message["method"] == "$/logMessage" || message["method"] == "$/logTrace"
  }

  private func wait(until condition: () -> Bool) throws -> Bool {
    let start = ContinuousClock.now
    while true {
      let now = ContinuousClock.now
      let step = (now - lastTurn).components
      lastTurn = now
      loop.advance(by: UInt64(step.seconds) * 1_000_000_000 + UInt64(step.attoseconds / 1_000_000_000))
      try read()
      if condition() { return true }
      if now - start > .seconds(patience) { return false }
      // Returns at once when a worker has finished.
      var hasWoken = false
      _ = loop.run(
        until: {
          defer { hasWoken = true }
          return hasWoken
        }, seconds: 0.005)
    }
  }

  // MARK: Reading

  private func read() throws {
    input += connection.takeOutput()
    while let message = try frame() {
      let value = try Value(message)
      for entry in value.array ?? [value] {
        let unknown = Set(entry.object?.keys.map { $0 } ?? ["nothing"]).subtracting([
          "jsonrpc", "id", "method", "params", "result", "error",
        ])
        guard entry["jsonrpc"] == "2.0", unknown.isEmpty else { throw Mismatch("", "not a message: \(entry)") }
      }
      inbox.append(value)
    }
  }

  private func frame() throws -> [UInt8]? {
    let isHeader = input.starts(with: "Content-Length: ".utf8)
    guard isHeader else {
      guard let end = input.firstIndex(of: 0x0A) else { return nil }
      defer { input.removeFirst(end + 1) }
      return Array(input[..<end])
    }
    guard let end = input.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
    let digits = String(decoding: input[16..<end.lowerBound], as: UTF8.self)
    guard let count = Int(digits) else { throw Mismatch("", "invalid header: \(digits)") }
    guard input.count >= end.upperBound + count else { return nil }
    defer { input.removeFirst(end.upperBound + count) }
    return Array(input[end.upperBound..<end.upperBound + count])
  }
}

extension Value {
  /// The ids of the requests that a message, or a pattern of one, responds to, sorted.
  fileprivate var answeredIDs: [Value] {
    if let inner = self["$literal"] ?? self["$unordered"] { return inner.answeredIDs }
    let answers = (array ?? [self]).filter { $0["method"] == nil }
    let ids = answers.compactMap { $0["id"] }.map { $0["$literal"] ?? $0 }
    return ids.filter { $0 != .null }.sorted { $0.text < $1.text }
  }
}
