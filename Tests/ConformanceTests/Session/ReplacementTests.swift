// Another document of many observed objects: snapshots in parts instead of comparisons, also while objects come and go.

import JSONRPC
import TestSupport
import Testing

struct ReplacementTests {
  private static let count = 2_500
  private static let subscriptions: [[String]] = [
    ["/viewModels"], ["/viewModels/*"], ["/viewModels/*/p"], ["/viewModels/*/list/0"],
    ["/viewModels/*/p", "/viewModels/x7"], ["/viewModels/x3/p", "/views/v/viewpoint/targetScale"], ["/views/*"],
    ["/*"], ["", "/viewModels/x3"], ["/viewModels/*/p", "/viewModels"],
  ]

  private let folder: TemporaryFolder
  private let server: MemoryServer
  private var random: SeededGenerator

  init() throws {
    folder = try TemporaryFolder()
    var limits = SessionLimits()
    limits.congestionBytes = 32 << 10
    server = try MemoryServer(limits: limits)
    random = SeededGenerator(seed: 0)
  }

  private func file(_ name: String) -> Value { ["path": .string(folder.path(name))] }

  /// Sends commands on view models, which may fail.
  private mutating func edit(_ number: Int) {
    let model: Value = .string("x\(Int.random(in: 0..<Self.count, using: &random))")
    switch Int.random(in: 0..<4, using: &random) {
    case 0: server.request("viewModel/close", ["viewModel": model])
    case 1:
      server.request("viewModel/close", ["viewModel": model])
      server.request(
        "viewModel/create", ["id": model, "properties": [["name": "q", "type": "integer"]]])
    case 2: server.request("viewModel/create", ["id": model, "properties": Self.properties])
    default:
      server.request(
        "viewModel/set",
        ["viewModel": model, "values": ["p": .integer(number), "list": [.integer(number % 2), 7, .integer(number)]]])
    }
  }

  private static let properties: Value = [
    ["name": "p", "type": "integer"], ["name": "list", "type": "list"],
  ]

  private func create(_ ids: Range<Int>) throws {
    let commands = ids.map { id -> Value in
      ["method": "viewModel/create", "params": ["id": .string("x\(id)"), "properties": Self.properties]]
    }
    try server.call("model/apply", ["commands": .array(commands)])
  }

  @Test(arguments: UInt64(0)..<6) mutating func `replicas follow`(seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    try server.call("map/create", ["id": "m"])
    try server.call("view/create", ["id": "v", "map": "m"])
    try server.call("document/saveAs", file("small"))
    try create(0..<Self.count)
    for number in 0..<40 { edit(number) }
    _ = try server.takeMessages()
    try server.call("document/saveAs", file("large"))
    for number in 40..<80 { edit(number) }
    var observers: [Observer] = []
    for patterns in Self.subscriptions {
      let answer = try server.call("state/observe", ["paths": .array(patterns.map { .string($0) })])
      observers.append(Observer(replica: try Replica(answer), patterns: patterns))
    }
    for (index, method) in ["document/revert", "document/open", "document/open", "document/new"].enumerated() {
      server.connection.reads = false
      server.request(method, method == "document/open" ? file(index == 1 ? "small" : "large") : [:])
      server.connection.reads = true
      server.connection.reads = false
      for number in 0..<60 {
        edit(100 * index + number)
        // A few parts are read now and then.
        if number % 20 == 0 {
          server.connection.reads = true
          server.connection.reads = false
        }
      }
      server.connection.reads = true
      for message in try server.takeMessages() {
        for index in observers.indices { try observers[index].replica.apply(message) }
      }
      for observer in observers { try observer.check(server, "seed \(seed), \(method)") }
    }
    #expect(observers[0].replica.resyncs >= 3)
    #expect(observers[5].replica.resyncs == 0)
    #expect(observers[6].replica.resyncs == 0)
  }

  @Test func `closing all objects amid their snapshot leaves none`() throws {
    let count = 20_000
    try server.call("map/create", ["id": "m"])
    let properties: Value = [["name": "p", "type": "integer"]]
    let commands = (0..<count).map { id -> Value in
      ["method": "viewModel/create", "params": ["id": .string("x\(id)"), "owner": "m", "properties": properties]]
    }
    try server.call("model/apply", ["commands": .array(commands)])
    let patterns = ["/viewModels/*/p"]
    server.connection.reads = false
    let observed = server.request("state/observe", ["paths": .array(patterns.map { .string($0) })])
    server.request("map/close", ["map": "m"])
    server.connection.reads = true
    let answer = try #require(try server.response(to: observed)?["result"])
    var observer = Observer(replica: try Replica(answer), patterns: patterns)
    for message in try server.takeMessages() { try observer.replica.apply(message) }
    #expect(observer.replica.deltas > 0, "the snapshot was begun before")
    try observer.check(server, "after closing")
    #expect(try observer.replica.values(at: patterns[0]).isEmpty)
  }
}
