// Results in parts: what a client that does not read gets, and what ends them.

import JSONRPC
import Testing

struct ResultPartTests {
  private let server: MemoryServer
  private let count = 12_000

  init() throws {
    server = try MemoryServer()
    try server.call("clock/set", ["mode": "manual"])
    try server.call("map/create", ["id": "m"])
    try server.call("view/create", ["id": "v", "map": "m"])
    try server.call("overlay/create", ["id": "o", "view": "v"])
    let numbers = Value.array((0..<count).map { .integer($0 % 45) })
    let texts = Value.array((0..<count).map { .string("\($0) " + String(repeating: "é", count: 300)) })
    try server.call("overlay/addColumns", ["overlay": "o", "x": numbers, "y": numbers, "attributes": ["text": texts]])
  }

  private func request(_ format: String = "geojson", task: Value = [:]) -> Value {
    server.request(
      "feature/query", ["overlay": "o", "format": .string(format), "meta": ["partialResultToken": "p", "task": task]])
  }

  private func parts(_ messages: [Value]) -> [Value] { messages.filter { $0["method"] == "$/progress" } }

  private func ids(_ parts: [Value]) -> [Value] {
    parts.flatMap { part -> [Value] in
      guard case .array(let features)? = part["params"]?["value"]?["features"] else { return [] }
      return features.compactMap { $0["id"] }
    }
  }

  @Test func `large results wait for the client, and so do questions when many wait`() throws {
    server.connection.reads = false
    let queries = (0..<24).map { _ in server.request("feature/query", ["overlay": "o", "limit": .integer(count)]) }
    let echo = server.request("session/echo", ["value": 1])
    #expect(server.connection.session.unread < 16 << 20)
    server.connection.reads = true
    let answers = try server.takeMessages()
    #expect(Set(answers.map { $0["id"] }) == Set(queries + [echo]) && answers.count == 25)
    let results = answers.filter { $0["result"]?["features"]?.array?.count == count }
    #expect(results.map { $0["id"] } == queries)
  }

  @Test func `a cancelled request gets no result that waits`() throws {
    server.connection.reads = false
    let queries = (0..<3).map { _ in server.request("feature/query", ["overlay": "o", "limit": .integer(count)]) }
    server.cancel(queries[1])
    server.connection.reads = true
    let answers = try server.takeMessages()
    #expect(Set(answers.map { $0["id"] }) == Set(queries) && answers.count == 3)
    #expect(answers.first { $0["id"] == queries[1] }?["error"]?["data"]?["kind"] == "cancelled")
  }

  /// Asks for all features several times, without reading.
  private func waitingQueries(_ count: Int, _ task: (Int) -> [String: Value]) -> [Value] {
    server.connection.reads = false
    return (0..<count).map { number in
      server.request(
        "feature/query", ["overlay": "o", "limit": .integer(self.count), "meta": ["task": .object(task(number))]])
    }
  }

  /// Reads all, and finds the error's kind of each request; nil for a result.
  private func kinds(_ requests: [Value]) throws -> [String?] {
    server.connection.reads = true
    let answers = try server.takeMessages().filter { $0["method"] == nil }
    #expect(Set(answers.compactMap { $0["id"] }).count == answers.count)
    return requests.map { id in answers.first { $0["id"] == id }.map { $0["error"]?["data"]?["kind"]?.string } ?? "none"
    }
  }

  @Test func `a task whose result waits is listed and cancelled by its handle`() throws {
    let queries = waitingQueries(6) { ["id": .string("h\($0)")] }
    let list = server.request("task/list")
    let cancel = server.request("task/cancel", ["task": "h5"])
    let again = server.request("feature/queryCount", ["overlay": "o", "meta": ["task": ["id": "h4"]]])
    server.connection.reads = true
    let answers = try server.takeMessages()
    func answer(_ id: Value) -> Value? { answers.first { $0["id"] == id } }
    let listed = answer(list)?["result"]?["tasks"]?.array?.compactMap { $0["task"]?.string } ?? []
    #expect(listed.contains("h4") && listed.contains("h5"))
    #expect(answer(cancel)?["result"]?["cancelled"] == true)
    #expect(answer(again)?["error"]?["data"]?["kind"] == "idExists")
    #expect(answer(queries[5])?["error"]?["data"]?["kind"] == "cancelled")
    #expect(queries[..<5].allSatisfy { answer($0)?["result"] != nil })
    #expect(try server.call("session/status")["tasks"]?["running"] == 0)
  }

  @Test func `closing the scope ends tasks whose results wait, before its own reply`() throws {
    let queries = waitingQueries(6) { _ in ["scope": "v"] }
    let closing = server.request("view/close", ["view": "v"])
    server.connection.reads = true
    let order = try server.takeMessages().compactMap { $0["id"] }
    #expect(Set(order) == Set(queries + [closing]) && order.last == closing)
  }

  @Test func `a newer task takes the place of one whose result waits`() throws {
    let queries = waitingQueries(6) { $0 == 5 ? ["key": "k"] : [:] }
    let newer = server.request("feature/query", ["overlay": "o", "limit": 1, "meta": ["task": ["key": "k"]]])
    #expect(try kinds(queries + [newer]) == [nil, nil, nil, nil, nil, "superseded", nil])
  }

  @Test func `all who wait for one result get it, those who cancel do not`() throws {
    let queries = waitingQueries(6) { _ in ["key": "k"] }
    server.cancel(queries[2])
    server.cancel(queries[5])
    #expect(try kinds(queries) == [nil, nil, "cancelled", nil, nil, "cancelled"])
    #expect(try server.call("session/status")["tasks"]?["running"] == 0)
  }

  @Test func `a client that does not read has at most two parts waiting`() throws {
    server.connection.reads = false
    let query = request()
    let echo = server.request("session/echo", ["value": 1])
    #expect(server.connection.session.unread < 3 << 20)
    server.connection.reads = true
    let messages = try server.takeMessages()
    let parts = parts(messages)
    #expect(parts.count > 7)
    #expect(parts.allSatisfy { $0.text.utf8.count <= 1 << 20 })
    #expect(ids(parts) == (0..<count).map { .integer($0) })
    #expect(messages.last?["id"] == query)
    #expect(messages.last?["result"]?["features"] == [])
    #expect(messages.contains { $0["id"] == echo })
  }

  @Test(arguments: ["geojson", "columns"])
  func `parts are at most 1 MiB long`(format: String) throws {
    let query = request(format)
    let messages = try server.takeMessages()
    #expect(messages.last?["id"] == query)
    #expect(parts(messages).allSatisfy { $0.text.utf8.count <= 1 << 20 })
    #expect(parts(messages).count > 3)
  }

  @Test func `a window holds parts back until the client acknowledges, and holds up nothing else`() throws {
    let query = server.request(
      "feature/query", ["overlay": "o", "meta": ["partialResultToken": "p", "partialResultWindow": 2]])
    var seen = parts(try server.takeMessages())
    #expect(seen.count == 2)
    let other = request()
    #expect(try server.takeMessages().last?["id"] == other)
    #expect(try server.call("task/acknowledgeParts", ["token": "q"])["acknowledged"] == false)
    #expect(try server.takeMessages().isEmpty)
    while true {
      server.notify("task/acknowledgeParts", ["token": "p"])
      let messages = try server.takeMessages()
      seen += parts(messages)
      guard messages.last?["id"] != query else { break }
      #expect(messages.count == 1)
    }
    #expect(ids(seen) == (0..<count).map { .integer($0) })
    #expect(try server.call("task/acknowledgeParts", ["token": "p", "count": 9])["acknowledged"] == false)
  }

  @Test(arguments: ["feature/query", "feature/queryIds"])
  func `the result follows the last part, which may not be acknowledged yet`(method: String) throws {
    let query = server.request(
      method,
      ["overlay": "o", "limit": 10, "meta": ["partialResultToken": "p", "partialResultWindow": 1]])
    let messages = try server.takeMessages()
    #expect(parts(messages).count == 1)
    #expect(messages.last?["id"] == query && messages.last?["result"] != nil)
  }

  @Test func `a cancelled query with a window leaves no part waiting`() throws {
    let query = server.request(
      "feature/query", ["overlay": "o", "meta": ["partialResultToken": "p", "partialResultWindow": 1]])
    server.cancel(query)
    #expect(try server.takeMessages().last?["error"]?["code"] == -32800)
    #expect(try server.call("session/status")["tasks"]?["working"] == 0)
    _ = request()
    #expect(ids(parts(try server.takeMessages())).count == count)
  }

  @Test func `cancelling ends the parts, and the reply follows those that were sent`() throws {
    server.connection.reads = false
    let query = request()
    server.cancel(query)
    server.connection.reads = true
    let messages = try server.takeMessages()
    #expect(parts(messages).count < 4)
    #expect(messages.last?["id"] == query)
    #expect(messages.last?["error"]?["code"] == -32800)
    #expect(try server.call("session/status")["tasks"]?["working"] == 0)
  }

  @Test func `closing the scope ends the parts before the reply to closing`() throws {
    server.connection.reads = false
    let query = request(task: ["scope": "v"])
    let close = server.request("view/close", ["view": "v"])
    server.connection.reads = true
    let messages = try server.takeMessages()
    #expect(messages.compactMap { $0["id"] } == [query, close])
    #expect(messages.last { $0["id"] == query }?["error"]?["code"] == -32800)
  }

  @Test func `an equal request does not join, since it would lack parts`() throws {
    server.connection.reads = false
    let first = request(task: ["key": "k"])
    let second = request(task: ["key": "k"])
    server.connection.reads = true
    let messages = try server.takeMessages()
    #expect(messages.first { $0["id"] == first }?["error"]?["code"] == -32802)
    let start = try #require(messages.firstIndex { $0["id"] == first })
    #expect(ids(parts(Array(messages[start...]))) == (0..<count).map { .integer($0) })
    #expect(messages.last?["id"] == second)
  }

  @Test func `parts have the revision of the question, and follow the deltas up to it`() throws {
    let observe = server.request("state/observe", ["paths": ["/overlays/o"]])
    _ = try server.takeMessages()
    _ = observe
    server.connection.reads = false
    let update = server.request(
      "overlay/updateColumns",
      [
        "overlay": "o", "ids": .array((0..<count).map { .integer($0) }),
        "x": .array((0..<count).map { .integer($0 % 3) }),
        "y": .array((0..<count).map { .integer($0 % 3) }),
      ])
    let query = request()
    let later = server.request("overlay/update", ["overlay": "o", "name": "later"])
    server.connection.reads = true
    let messages = try server.takeMessages()
    let firstPart = try #require(messages.firstIndex { $0["method"] == "$/progress" })
    let lastDelta = try #require(
      messages.firstIndex { $0["method"] == "state/changed" && $0["params"]?["isLast"] != false })
    #expect(lastDelta < firstPart)
    let revision = messages.first { $0["id"] == update }?["result"]?["revision"]
    #expect(parts(messages).allSatisfy { $0["params"]?["value"]?["revision"] == revision })
    #expect(messages.contains { $0["id"] == later })
    #expect(ids(parts(messages)).count == count)
    #expect(messages.last { $0["id"] == query }?["result"]?["revision"] == revision)
  }
}
