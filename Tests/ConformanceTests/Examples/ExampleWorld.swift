// The worlds of Tests/Fixtures/example-worlds.jsonl, in which the examples of the reference are sent.

import Foundation
import TestSupport
import Testing

/// A session that makes a world, with the methods whose examples are sent in it. Where examples of one page build on each other, so
/// do they here: `binding/get` answers of the binding that the example of `binding/create` made.
struct ExampleWorld: Sendable, CustomTestStringConvertible {
  let name: String
  /// Requests (`method`, `params`; with `isRunning` a task whose work is left for later), files that an earlier server left
  /// (`recovery`), and examples.
  let steps: [Value]

  var testDescription: String { name }
  var examples: [String] { steps.compactMap { $0["example"]?.string } }

  static func all() throws -> [ExampleWorld] {
    let file = repository.appending(path: "Tests/Fixtures/example-worlds.jsonl")
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map { try Value(String($0)) }
    var worlds: [ExampleWorld] = []
    for line in lines {
      if let name = line["world"]?.string {
        let first = worlds.first { $0.name == line["from"]?.string }
        worlds.append(ExampleWorld(name: name, steps: first?.steps ?? []))
      } else if let last = worlds.popLast() {
        worlds.append(ExampleWorld(name: last.name, steps: last.steps + [line]))
      }
    }
    // A domain that none of them has needs no world: its examples build on each other alone.
    let used = Set(worlds.flatMap(\.examples).map { $0.prefix { $0 != "/" } })
    for domain in try domains() where !used.contains(domain["domain"]?.string?[...] ?? "") {
      let examples = (domain["methods"]?.array ?? []).compactMap { $0["name"] }
      worlds.append(ExampleWorld(name: domain["domain"]?.string ?? "", steps: examples.map { ["example": $0] }))
    }
    return worlds.filter { !$0.steps.isEmpty }
  }

  private static func domains() throws -> [Value] {
    let folder = repository.appending(path: "Protocol/domains")
    return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .map { try Value([UInt8](Data(contentsOf: $0))) }
  }

  /// The examples of all methods, by the method's name.
  static func definitions() throws -> [String: Value] {
    var examples: [String: Value] = [:]
    for domain in try domains() {
      for method in domain["methods"]?.array ?? [] {
        guard let name = method["name"]?.string else { continue }
        examples[name] = .object((method["example"]?.object ?? [:]).merging(["method": .string(name)]) { $1 })
      }
    }
    return examples
  }

  /// Sends all steps; answers of examples go to `compare`, in the order of their arrival.
  func run(_ compare: (_ example: Value, _ answer: Value) throws -> Void) throws {
    let folder = try TemporaryFolder()
    for name in ["naturalearth_110m.gpkg", "jacksboro_dem.tif"] {
      try FileManager.default.copyItem(
        at: repository.appending(path: "Tests/Fixtures/\(name)"), to: folder.url.appending(path: name))
    }
    let definitions = try Self.definitions()
    let server = try MemoryServer(.stepped, folder: folder.url.path, initializes: examples.first != "initialize")
    var waiting: [(id: Value, step: Value)] = []
    func receive() throws {
      for (id, step) in waiting {
        guard let response = try server.response(to: id) else { continue }
        waiting.removeAll { $0.id == id }
        if step["isRunning"] == true { continue }
        let answer = try #require(response["result"], "\(step) was refused: \(response)")
        guard step["result"] != nil else { continue }
        try compare(step, try Value(answer.text.replacing(folder.url.path, with: "/data")))
      }
    }
    for step in steps {
      if let file = step["recovery"]?.string {
        let path = folder.url.appending(path: file).path
        server.host.world.setRecovery((path, path))
        continue
      }
      let name = try #require((step["example"] ?? step["method"])?.string)
      let request = try #require(step["example"] == nil ? step : definitions[name], "no method \(name)")
      // Absolute paths of examples begin with `/data`.
      let params = (request["params"] ?? [:]).text.replacing("\"/data/", with: "\"\(folder.url.path)/")
      let id = server.request(name, try Bindings().resolved(try Value(params)))
      waiting.append((id, request))
      try receive()
      while step["isRunning"] != true, waiting.last?.id == id, server.loop.offloadedCount > 0 {
        server.loop.runOffloaded()
        try receive()
      }
    }
    // Tasks whose work was left for later, until another request ended them.
    server.loop.runOffloaded()
    try receive()
    let unanswered = waiting.filter { $0.step["result"] != nil }
    #expect(unanswered.isEmpty, "not answered: \(unanswered.map(\.step))")
  }
}
