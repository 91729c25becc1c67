// Derived properties of random view models against the same sums over what the inputs are now.

import TestSupport
import Testing

struct DerivedValueTests {
  private static let models = ["a", "b", "c", "d"]

  /// Where a term of a sum stands: a property of the same view model or a part of it, or a path to another or to the same one.
  private enum Term {
    case own(String)
    case part(Int)
    case path(String)
  }

  /// The inputs p and q, the list l, and sums: each of terms that do not depend on it.
  private static func sums(of model: Int, using random: inout SeededGenerator) -> [[Term]] {
    (0..<Int.random(in: 1...3, using: &random)).map { sum in
      (0..<Int.random(in: 0...3, using: &random)).map { _ in
        switch Int.random(in: 0..<6, using: &random) {
        case 0: .own("p")
        case 1: .own(sum > 0 ? "sum\(Int.random(in: 0..<sum, using: &random))" : "q")
        case 2: .part(Int.random(in: 0..<3, using: &random))
        case 3: .path("/viewModels/\(models[model])/q")
        case 4 where model > 0:
          // It may have no such sum, and then no value.
          .path(
            "/viewModels/\(models[Int.random(in: 0..<model, using: &random)])/sum\(Int.random(in: 0..<3, using: &random))"
          )
        default:
          .path(
            "/viewModels/\(models[Int.random(in: 0..<4, using: &random)])/l/\(Int.random(in: 0..<3, using: &random))")
        }
      }
    }
  }

  private static func definition(_ terms: [Term], named name: String) -> Value {
    var names: [String] = []
    var inputs: [String: Value] = [:]
    for (index, term) in terms.enumerated() {
      switch term {
      case .own(let property):
        names.append(property)
        continue
      case .part(let part): inputs["i\(index)"] = .string("./l/\(part)")
      case .path(let path): inputs["i\(index)"] = .string(path)
      }
      names.append("i\(index)")
    }
    let expression = (["1"] + names).joined(separator: " + ")
    return [
      "name": .string(name), "type": "integer",
      "derived": ["expression": .string(expression), "inputs": .object(inputs)],
    ]
  }

  @Test(arguments: UInt64(0)..<40)
  func `derived properties have the values of their expressions after each command`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let server = try MemoryServer()
    var sums: [String: [[Term]]] = [:]
    func number() -> Value { .integer(Int.random(in: 0..<9, using: &random)) }
    func creation(of index: Int, _ name: String) -> (method: String, params: [String: Value]) {
      let made = Self.sums(of: index, using: &random)
      sums[name] = made
      let derived = made.enumerated().map { Self.definition($1, named: "sum\($0)") }
      let inputs: [Value] = [
        ["name": "p", "type": "integer"], ["name": "q", "type": "integer", "defaultValue": number()],
        ["name": "l", "type": "list", "defaultValue": [number(), number(), number()]],
        ["name": "made", "type": "string", "defaultValue": .string(name)],
      ]
      let properties = Value.array((inputs + derived).shuffled(using: &random))
      return ("viewModel/create", ["id": .string(Self.models[index]), "properties": properties])
    }
    func command(_ name: String) -> (method: String, params: [String: Value]) {
      let index = Int.random(in: 0..<4, using: &random)
      let model = Self.models[index]
      switch Int.random(in: 0..<10, using: &random) {
      case 0...2: return creation(of: index, name)
      case 3: return ("viewModel/close", ["viewModel": .string(model)])
      case 4...5:
        return (
          "state/set",
          ["path": .string("/viewModels/\(model)/l/\(Int.random(in: 0..<3, using: &random))"), "value": number()]
        )
      case 6:
        return (
          "viewModel/set",
          ["viewModel": .string(model), "values": ["p": number(), "l": [number(), number(), number()]]]
        )
      default:
        return (
          "viewModel/set", ["viewModel": .string(model), "values": [Bool.random(using: &random) ? "p" : "q": number()]]
        )
      }
    }
    for index in Self.models.indices {
      let (method, params) = creation(of: index, "first \(index)")
      try server.call(method, .object(params))
    }
    var checked = 0
    for step in 0..<60 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0...1: server.request("edit/undo")
      case 2: server.request("edit/redo")
      case 3:
        let commands = (0..<3).map { command("\(step).\($0)") }
        server.request(
          "model/apply",
          ["commands": .array(commands.map { ["method": .string($0.method), "params": .object($0.params)] })])
      default:
        let (method, params) = command("\(step)")
        server.request(method, .object(params))
      }
      checked += try check(server, sums, "seed \(seed), step \(step)")
    }
    #expect(checked > 20)
  }

  /// Computes each sum from the inputs that the server has now.
  ///
  /// - Returns: how many have a value.
  private func check(_ server: MemoryServer, _ sums: [String: [[Term]]], _ place: String) throws -> Int {
    let state = try server.call("state/get", ["path": "/viewModels/*"])["values"]?.array ?? []
    var models: [String: Value] = [:]
    for entry in state { if let value = entry["value"], let id = value["viewModel"]?.string { models[id] = value } }
    func sum(_ model: String, _ index: Int) -> Int? {
      guard let made = models[model]?["made"]?.string.flatMap({ sums[$0] }), index < made.count else { return nil }
      return made[index].reduce(1) { total, term in
        guard let total, let value = value(term, of: model) else { return nil }
        return total + value
      }
    }
    func value(_ term: Term, of model: String) -> Int? {
      switch term {
      case .own(let name): return value(.path("/viewModels/\(model)/\(name)"), of: model)
      case .part(let part): return models[model]?["l"]?.array?[part].integer
      case .path(let path):
        let names = path.split(separator: "/").map(String.init)
        let (model, name) = (names[1], names[2])
        if name.hasPrefix("sum") { return sum(model, Int(name.dropFirst(3)) ?? 0) }
        let value = models[model]?[name]
        return names.count > 3 ? value?.array?[Int(names[3]) ?? 0].integer : value?.integer
      }
    }
    var checked = 0
    for (id, model) in models {
      for index in sums[model["made"]?.string ?? ""]?.indices ?? 0..<0 {
        let expected = sum(id, index).map { Value.integer($0) } ?? .null
        #expect(model["sum\(index)"] == expected, "\(place): sum\(index) of \(id)")
        if expected != .null { checked += 1 }
      }
    }
    return checked
  }
}
