// Every example of the reference is what the server answers: each is sent in a world that fits it, and the whole answer compared.

import Foundation
import TestSupport
import Testing

struct ExampleTests {
  /// Members of answers (`outer/inner`) whose values the protocol leaves open, with the reasons; their types are compared.
  private static let undetermined: [String: [String: String]] = [
    "session/status": ["confinement": "what the system's kernel supports", "textMetrics": "whether there are fonts"],
    "view/labels": ["textMetrics": "whether there are fonts"],
    "view/render": picture, "layer/render": picture, "overlay/render": picture, "feature/render": picture,
    "view/renderSeries": ["series/bytes": "size of a file that the machine's libraries compress"],
    "package/export": compressed, "package/update": compressed, "package/open": compressed, "package/describe": compressed,
    "map/publish": compressed,
    "session/describe": ["hash": "of the definition, which has this example"],
    "edit/history": ["bytes": "memory of undo records, which depends on their layout"],
  ]

  private static let compressed = ["bytes": "size of a file that the machine's libraries compress"]
  private static let picture = ["picture/bytes": "size of a file that the machine's libraries compress"]

  /// Examples that show a part of a long answer, with the reasons: objects may have more members, lists more elements.
  private static let excerpts = [
    "initialize": "it lists the domains, which become more",
    "rpc.discover": "the whole is Protocol/openrpc.json", "session/describe": "the whole is as long as the reference",
  ]

  @Test(arguments: try ExampleWorld.all())
  func `examples are what the server answers`(world: ExampleWorld) throws {
    try world.run { example, answer in
      let expected = example["result"] ?? .null
      let name = example["method"]?.string ?? ""
      if Self.excerpts[name] != nil {
        #expect(answer.with(Self.undetermined[name], of: expected).includes(expected), "\(name): found \(answer)")
      } else {
        let found = answer.with(Self.undetermined[name], of: expected)
        #expect(found.rounded.text == expected.rounded.text, "\(name)")
      }
    }
  }

  @Test func `every method has an example in a world`() throws {
    let used = try ExampleWorld.all().flatMap(\.examples)
    #expect(used.sorted() == (try ExampleWorld.definitions()).keys.sorted())
  }
}

extension Value {
  /// With the example's values of what is undetermined, where they have the same type.
  fileprivate func with(_ names: [String: String]?, of example: Value) -> Value {
    guard case .object(var members) = self else { return self }
    for path in (names ?? [:]).keys {
      let names = path.split(separator: "/", maxSplits: 1).map(String.init)
      guard let name = names.first, let own = members[name], let other = example[name] else { continue }
      if names.count > 1 {
        members[name] = own.with([names[1]: ""], of: other)
      } else if own.hasType(of: other) {
        members[name] = other
      }
    }
    return .object(members)
  }

  /// With numbers to 12 significant digits: versions of PROJ and GEOS differ in later ones.
  fileprivate var rounded: Value {
    switch self {
    case .real(let number): (try? Value(String(format: "%.12g", number))) ?? self
    case .array(let elements): .array(elements.map(\.rounded))
    case .object(let members): .object(members.mapValues(\.rounded))
    default: self
    }
  }

  private func hasType(of other: Value) -> Bool {
    switch (self, other) {
    case (.integer, .integer), (.string, .string), (.array, .array): true
    default: false
    }
  }

  /// Whether an excerpt is a part of it.
  fileprivate func includes(_ excerpt: Value) -> Bool {
    switch (self, excerpt) {
    case (.object(let members), .object(let shown)):
      shown.allSatisfy { name, value in members[name]?.includes(value) == true }
    case (.array(let elements), .array(let shown)):
      shown.allSatisfy { one in elements.contains { $0.includes(one) } }
    default: text == excerpt.text
    }
  }
}
