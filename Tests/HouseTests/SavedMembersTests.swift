// Members set by commands, of objects without a table of members, are saved in documents, or listed here with a reason.

import Foundation
import JSON
import Testing

struct SavedMembersTests {
  /// The type in documents, and the methods that create such an object and set its properties.
  private static let commands: [(type: String, methods: [String])] = [
    ("SavedSource", ["source/open", "source/openInline"]),
    ("SavedViewModelType", ["viewModel/define"]), ("SavedViewModel", ["viewModel/create", "viewModel/set"]),
    ("SavedEnvironmentKey", ["environment/register"]), ("SavedEnvironment", ["environment/set", "viewModel/provide"]),
  ]

  /// Params that are not properties of the object itself.
  private static let others: [String: String] = [
    "id": "the object's own member holds it", "ifExists": "how a create goes about", "clear": "names other members",
    "SavedViewModel.name": "the objects of its node hold it",
    "SavedViewModel.path": "a way to set a part of the values",
    "SavedViewModel.value": "a way to set a part of the values",
    "SavedViewModel.setNull": "the values hold it",
    "SavedEnvironment.key": "the values hold it", "SavedEnvironment.value": "the values hold it",
    "SavedEnvironment.viewModel": "the objects hold it", "SavedEnvironment.name": "the objects hold it",
  ]

  @Test(arguments: commands.map(\.type))
  func `whatever a command sets is saved`(type: String) throws {
    let (types, methods) = try Self.definitions()
    let saved = try #require(types[type], "Protocol/domains/document.json has no \(type)")
    for method in Self.commands.first(where: { $0.type == type })?.methods ?? [] {
      let params = try #require(methods[method], "there is no \(method)")
      for name in params where Self.others[name] == nil && Self.others["\(type).\(name)"] == nil {
        #expect(
          saved.contains(name),
          "\(name) of \(method) is not saved: put it into \(type) (document.json) and into SavedObjects.swift")
      }
    }
  }

  /// The members of document types, and the params of methods.
  private static func definitions() throws -> (types: [String: [String]], methods: [String: [String]]) {
    var types: [String: [String]] = [:]
    var methods: [String: [String]] = [:]
    func names(_ list: JSONValue) throws -> [String] {
      guard list.isPresent, list.kind == .array else { return [] }
      return try list.array { member throws(JSONError) in try member["name"].string() }
    }
    for file in SourceFile.all(in: ["Protocol/domains"], endings: ["json"]) {
      try JSONDocument(file.text).read { domain in
        for index in 0..<domain["types"].count {
          let type = domain["types"][index]
          types[try type["name"].string()] = try names(type["properties"])
        }
        for index in 0..<domain["methods"].count {
          let method = domain["methods"][index]
          methods[try method["name"].string()] = try names(method["params"])
        }
      }
    }
    return (types, methods)
  }
}
