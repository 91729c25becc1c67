// Cancellation, progress, scopes, batches and ends on the built server: rows of TRAPS that need a long task, here a real load.

import Glibc
import JSON
import TestSupport
import Testing

@Suite(.serialized) struct LoadTests {
  @Test func `a cancelled load responds at once, its work stops, and the layer can be loaded again`() throws {
    let server = try loading()
    try server.send(cancel("\"load\""))
    #expect(failure(try server.reply()) == "\"load\" -32800 cancelled")
    try server.untilNothingWorks()
    try server.send(request("1", "layer/get", #"{"layer":"l1"}"#) + "\n")
    #expect(try server.reply().contains(#""loadStatus":{"type":"notLoaded"}"#))
  }

  @Test(arguments: [
    request("1", "layer/remove", #"{"layer":"l1"}"#), request("1", "map/close", #"{"map":"m1"}"#),
    request("1", "layer/cancelLoad", #"{"layer":"l1"}"#), request("1", "task/cancel", ##"{"task":"#\"load\""}"##),
    request("1", "shutdown"),
  ])
  func `a request that ends a load responds after it`(message: String) throws {
    let server = try loading()
    try server.send(message + "\n")
    #expect(failure(try server.reply()) == "\"load\" -32800 cancelled")
    #expect(try server.reply().hasPrefix(#"{"jsonrpc":"2.0","id":1,"result":"#))
  }

  @Test func `progress begins, continues, ends, and is never sent after the response`() throws {
    let server = try loading()
    var kinds: [String] = []
    while true {
      let message = try server.line(seconds: 60)
      guard isProgress(message) else {
        #expect(message.hasPrefix(#"{"jsonrpc":"2.0","id":"load","result":"#))
        break
      }
      kinds.append(try kind(of: message))
    }
    #expect(kinds.last == "end")
    #expect(kinds.dropLast().allSatisfy { $0 == "report" })
    try server.send(request("1", "session/echo") + "\n")
    #expect(try server.line() == echoed("1"))
  }

  @Test func `tasks that never end hold up no other`() throws {
    let server = try ServerProcess.started()
    let endless = "\(ProjectRoot.path)/Tests/Fixtures/endless_view.gpkg"
    for number in 1...8 {
      try server.send(request("\(number)", "source/open", #"{"path":"\#(endless)"}"#) + "\n")
    }
    let point = #"{"data":{"type":"Point","coordinates":[1,2]}}"#
    try server.send(request("9", "source/openInline", point) + "\n")
    #expect(try server.line().hasPrefix(#"{"jsonrpc":"2.0","id":9,"result":"#))
  }

  @Test func `of files that never end a few are read at a time, in order, and short ones at once`() throws {
    let server = try ServerProcess.started(["--readers", "2"])
    let endless = "\(ProjectRoot.path)/Tests/Fixtures/endless_view.gpkg"
    for number in 1...6 {
      try server.send(request("\(number)", "source/open", #"{"path":"\#(endless)"}"#) + "\n")
    }
    func untilStopped(_ count: Int) {
      let deadline = ContinuousClock.now + .seconds(30)
      while server.stoppedReaders != count, ContinuousClock.now < deadline, !server.hasOutput(milliseconds: 2) {}
    }
    untilStopped(4)
    #expect(server.stoppedReaders == 4)
    try server.send(
      request("7", "source/openInline", #"{"data":{"type":"Point","coordinates":[1,2]}}"#) + "\n" + cancel("1")
        + cancel("5"))
    #expect(failure(try server.reply()) == "1 -32800 cancelled")
    #expect(failure(try server.reply()) == "5 -32800 cancelled")
    #expect(try server.reply().hasPrefix(#"{"jsonrpc":"2.0","id":7,"result":"#))
    untilStopped(2)
    #expect(server.stoppedReaders == 2)
  }

  @Test(arguments: [
    ("feature/join", #""join":{"overlay":"o1"},"relationship":"crosses""#), ("feature/query", ""), ("feature/queryCount", ""),
    ("feature/queryIds", ""), ("feature/queryExtent", ""), ("feature/select", ""),
    ("feature/queryStatistics", #""statistics":[{"type":"count"}]"#),
    ("feature/nearest", #""locations":{"type":"Point","coordinates":[0,0]}"#), ("overlay/labelFor", #""ids":[1]"#),
  ])
  func `a relation that takes minutes is computed elsewhere, and its cancel responds at once`(method: String, params: String) throws {
    let server = try ServerProcess.started()
    let tangled: [(Double, Double)] = (0..<1_000).map { (number: Int) -> (Double, Double) in
      let (side, step) = (Double(number % 2), Double(number) * 1e-3)
      return (side + step, side - step)
    }
    let line = #"{"type":"LineString","coordinates":[\#(tangled.map { "[\($0),\($1)]" }.joined(separator: ","))]}"#
    let literal = "LINESTRING(\(tangled.map { "\($0) \($1 + 1e-4)" }.joined(separator: ",")))"
    let filter = "S_CROSSES(geometry,\(literal))"
    let labels = #"[{"expression":"CASE WHEN \#(filter) THEN 'a' ELSE 'b' END"}]"#
    try server.send(request("1", "map/create", #"{"id":"m1"}"#) + "\n")
    try server.send(request("2", "view/create", #"{"id":"v1","map":"m1"}"#) + "\n")
    try server.send(request("3", "overlay/create", #"{"id":"o1","view":"v1","labelsEnabled":true,"labels":\#(labels)}"#) + "\n")
    try server.send(
      request("4", "overlay/addGraphics", #"{"overlay":"o1","graphics":[{"id":1,"geometry":\#(line)}]}"#) + "\n")
    for _ in 1...4 { #expect(try server.reply().contains(#""result""#)) }
    let isFiltered = method.hasPrefix("feature/") && method != "feature/join"
    let members = [params, isFiltered ? #""whereClause":"\#(filter)""# : ""].filter { !$0.isEmpty }
    try server.send(request("\"long\"", method, "{" + ([#""overlay":"o1""#] + members).joined(separator: ",") + "}") + "\n")
    // An engine works by then, if it was not answered before.
    while server.readers.isEmpty, !server.hasOutput(milliseconds: 2) {}
    for id in 10..<20 {
      try server.send(request("\(id)", "session/echo") + "\n")
      #expect(try server.reply() == echoed("\(id)"))
    }
    try server.send(cancel("\"long\""))
    #expect(failure(try server.reply()) == "\"long\" -32800 cancelled")
    try server.untilNothingWorks()
  }

  @Test func `a relation that GEOS would decide in hours is cancelled, and its work stops`() throws {
    let server = try ServerProcess.started()
    let tangled = (0..<20_000).map { "[\(Double($0 % 2) + Double($0) * 1e-8),\(Double($0 % 2) - Double($0) * 1e-8)]" }
    let line = #"{"type":"LineString","coordinates":[\#(tangled.joined(separator: ","))]}"#
    try server.send(request("1", "map/create", #"{"id":"m1"}"#) + "\n")
    try server.send(request("2", "view/create", #"{"id":"v1","map":"m1"}"#) + "\n")
    try server.send(request("3", "overlay/create", #"{"id":"o1","view":"v1"}"#) + "\n")
    try server.send(
      request("4", "overlay/addGraphics", #"{"overlay":"o1","graphics":[{"geometry":\#(line)}]}"#) + "\n")
    for _ in 1...4 { #expect(try server.reply().contains(#""result""#)) }
    let params = #"{"overlay":"o1","geometry":\#(line),"spatialRelationship":"crosses"}"#
    try server.send(request("\"long\"", "feature/queryCount", params) + "\n")
    // By then it has begun.
    for id in 10..<100 {
      try server.send(request("\(id)", "session/echo") + "\n")
      #expect(try server.reply() == echoed("\(id)"))
    }
    try server.send(cancel("\"long\""))
    #expect(failure(try server.reply()) == "\"long\" -32800 cancelled")
    try server.untilNothingWorks()
  }

  @Test func `opening a text file reports progress as well`() throws {
    let server = try ServerProcess.started()
    let params = #"{"id":"big","path":"\#(LargeFile.path)","meta":{"progressToken":"t"}}"#
    try server.send(request("1", "source/open", params) + "\n")
    var parts: [Double] = []
    var message = try server.line(seconds: 60)
    while isProgress(message) {
      let percentage = try JSONDocument(message).read { root in
        let value = root["params"]["value"]["percentage"]
        return value.isPresent ? try value.double() : nil
      }
      if let percentage { parts.append(percentage) }
      message = try server.line(seconds: 60)
    }
    #expect(message.hasPrefix(#"{"jsonrpc":"2.0","id":1,"result":"#))
    #expect(parts.contains { $0 > 0 && $0 < 100 }, "\(parts)")
  }

  @Test func `a cancelled parser frees its memory`() throws {
    let server = try ServerProcess.started()
    let small = makeTemporaryFile(kml(1))
    let large = makeTemporaryFile(kml(60_000))
    defer {
      unlink(small)
      unlink(large)
    }
    try server.send(request("1", "source/open", #"{"path":"\#(small)","driver":"KML"}"#) + "\n")
    #expect(try server.line().contains(#""featureCount":1"#))
    // Libkml reads the whole file, then parses it without interruption. A reader larger than one with its libraries alone parses.
    let libraries = server.largestReader + 12_000
    try server.send(request("2", "source/open", #"{"path":"\#(large)","driver":"KML"}"#) + "\n")
    while server.largestReader < libraries, !server.hasOutput(milliseconds: 2) {}
    try server.send(cancel("2"))
    #expect(failure(try server.reply()) == "2 -32800 cancelled")
    try server.untilNothingWorks()
    // Between fork and exec a new reader seems to have the server's memory.
    for _ in 0..<50 where server.largestReader >= libraries { _ = server.hasOutput(milliseconds: 20) }
    #expect(server.largestReader < libraries)
  }

  @Test func `an endless query ends with the server, however the server ends`() throws {
    let server = try ServerProcess.started()
    let tests = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
    try server.send(request("1", "source/open", #"{"path":"/\#(tests)/Fixtures/endless_view.gpkg"}"#) + "\n")
    // One reads, the other is in reserve.
    while server.readers.count < 2, !server.hasOutput(milliseconds: 2) {}
    let readers = server.readers
    #expect(readers.count == 2)
    kill(server.process, SIGKILL)
    let deadline = ContinuousClock.now + .seconds(10)
    while readers.contains(where: { readFile("/proc/\($0)/cmdline") != "" }), ContinuousClock.now < deadline {
      sched_yield()
    }
    #expect(readers.allSatisfy { readFile("/proc/\($0)/cmdline") == "" })
  }

  @Test func `cancelling a request that joined a load does not end the load`() throws {
    let server = try loading()
    try server.send(request("\"joined\"", "layer/retryLoad", #"{"layer":"l1"}"#) + "\n" + cancel("\"joined\""))
    #expect(failure(try server.reply()) == "\"joined\" -32800 cancelled")
    #expect(try server.reply().hasPrefix(#"{"jsonrpc":"2.0","id":"load","result":"#))
  }

  @Test func `a batch with a load does not delay later requests`() throws {
    let server = try prepared()
    try server.send("[\(load),\(request("1", "session/echo"))]\n\(request("2", "session/echo"))\n")
    #expect(try server.reply() == echoed("2"))
    try server.send(cancel("\"load\""))
    let array = try JSONDocument(try server.reply())
    let ids = array.read { root in (0..<root.count).map { root[$0]["id"].jsonText } }
    #expect(ids.sorted() == ["\"load\"", "1"])
  }

  @Test func `a cancel overtakes a large message that is being parsed`() throws {
    let server = try loading()
    let large = #"{"a":["# + String(repeating: "{},", count: 500_000) + "0]}"
    try server.send(
      request("1", "session/echo", large) + "\n" + request("\"late\"", "session/echo") + "\n" + cancel("\"load\"")
        + cancel("\"late\""))
    #expect(failure(try server.reply()) == "\"load\" -32800 cancelled")
    #expect(try server.reply() == echoed("1", large))
    #expect(failure(try server.reply()) == "\"late\" -32800 cancelled")
  }

  @Test func `after the end of input a running load is completed`() throws {
    let server = try loading()
    server.closeInput()
    #expect(try server.reply().hasPrefix(#"{"jsonrpc":"2.0","id":"load","result":"#))
    #expect(try server.waitForExit() == .code(0))
  }

  @Test func `exit does not wait for a load`() throws {
    let server = try loading()
    try server.send(exitMessage + "\n")
    #expect(try server.waitForExit(seconds: 2) == .code(1))
    #expect(try !server.rest().contains(#""id":"load""#))
  }

  @Test func `the death of the client's process ends a server that is loading`() throws {
    let client = try ServerProcess(command: ["cat"])
    let server = try loading(initialize: request("0", "initialize", #"{"processId":\#(client.process)}"#))
    kill(client.process, SIGKILL)
    #expect(try server.waitForExit(seconds: 2) == .code(1))
    #expect(try !server.rest().contains(#""id":"load""#))
  }
}

// MARK: -

/// A file that takes about half a second to load, as a member that resembles `features` leaves it to GDAL; deleted at the end of the tests.
private enum LargeFile {
  static let path: String = {
    let feature =
      #"{"type":"Feature","properties":{"name":"a name of some length","n":4711},"geometry":{"type":"Point","coordinates":[12.5,41.5]}}"#
    let features = String(repeating: feature + ",\n", count: 150_000) + feature
    let path = makeTemporaryFile(#"{"type":"FeatureCollection","Features":0,"features":["# + features + "]}")
    atexit { unlink(LargeFile.path) }
    return path
  }()
}

private func kml(_ count: Int) -> String {
  let places = (0..<count).map { index in
    "<Placemark><name>place \(index)</name><Point><coordinates>\(index % 360 - 180),1</coordinates></Point></Placemark>"
  }
  return #"<?xml version="1.0"?><kml xmlns="http://www.opengis.net/kml/2.2"><Document>"#
    + places.joined(separator: "\n")
    + "</Document></kml>"
}

private let load = request("\"load\"", "layer/load", #"{"layer":"l1","meta":{"progressToken":"t"}}"#)

private func cancel(_ id: String) -> String {
  #"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":\#(id)}}"# + "\n"
}

private func isProgress(_ message: String) -> Bool { message.hasPrefix(#"{"jsonrpc":"2.0","method":"$/progress""#) }

private func kind(of message: String) throws -> String {
  try JSONDocument(message).read { try $0["params"]["value"]["kind"].string() }
}

/// A server with an unloaded layer.
private func prepared(initialize message: String = initialize) throws -> ServerProcess {
  let server = try ServerProcess()
  let requests = [
    message, request("1", "source/open", #"{"id":"big","path":"\#(LargeFile.path)","driver":"GeoJSON"}"#),
    request("2", "map/create", #"{"id":"m1"}"#),
  ]
  for message in requests {
    try server.send(message + "\n")
    _ = try server.line(seconds: 60)
  }
  try server.send(request("3", "layer/add", #"{"map":"m1","source":"big","id":"l1"}"#) + "\n")
  #expect(try server.line().contains(#""layer":"l1""#))
  return server
}

/// A server that is loading the layer.
private func loading(initialize message: String = initialize) throws -> ServerProcess {
  let server = try prepared(initialize: message)
  try server.send(load + "\n")
  #expect(try kind(of: try server.line()) == "begin")
  #expect(try kind(of: try server.line()) == "report")
  return server
}

extension ServerProcess {
  /// The next message that is not `$/progress`.
  fileprivate func reply() throws -> String {
    while true {
      let message = try line(seconds: 60)
      if !isProgress(message) { return message }
    }
  }

  /// Waits until no task runs, cancelled ones included.
  fileprivate func untilNothingWorks() throws {
    for id in 100..<100_000 {
      try send(request("\(id)", "session/status") + "\n")
      if try reply().contains(#""working":0"#) { return }
    }
    Issue.record("a cancelled task goes on working")
  }
}
