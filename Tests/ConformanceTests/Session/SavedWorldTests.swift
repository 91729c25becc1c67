// Whatever commands put into the model can be saved and opened: the world is equal then, and so is its document when saved again.

import TestSupport
import Testing

struct SavedWorldTests {
  private let folder: TemporaryFolder
  private let server: MemoryServer

  init() throws {
    folder = try TemporaryFolder()
    server = try MemoryServer()
    try server.call("clock/set", ["mode": "manual"])
  }

  /// Saves the model, opens the document, and compares.
  private func checkDocument(_ message: () -> String) throws {
    try server.call("document/saveAs", ["path": .string(folder.path("a.json"))])
    let before = try server.state("")[""]
    let opened = try server.call("document/open", ["path": .string(folder.path("a.json"))])
    #expect(opened["problems"] == nil, "\(message())")
    let after = try server.state("")[""]
    let sources = Set(before?["sources"]?.object?.keys.map { $0 } ?? [])
    let (left, right) = (savedState(before, keeping: sources), savedState(after, keeping: sources))
    if left != right { Issue.record("DIFF \(difference(left, right) ?? "")\n\(message())") }
    try server.call("document/saveAs", ["path": .string(folder.path("b.json"))])
    let (first, second) = (try folder.text("a.json"), try folder.text("b.json"))
    if first != second { Issue.record("LINES \(lines(first, second))\n\(message())") }
  }

  @Test(arguments: UInt64(0)..<24)
  func `a world of extreme values is equal when its document is opened, and so is its document`(seed: UInt64) throws {
    var requests = try DefinedRequests(server, seed: seed)
    try server.call("map/create", ["id": "m"])
    try server.call("view/create", ["id": "v", "map": "m"])
    try server.call("overlay/create", ["id": "o", "view": "v"])
    try server.call("scene/create", ["id": "s"])
    try server.call("view/create", ["id": "sv", "scene": "s"])
    for _ in 0..<4 {
      for _ in 0..<60 {
        let (request, error) = try requests.step()
        #expect(error != "internalError", "seed \(seed): \(request)")
      }
      let log = requests.log
      try checkDocument {
        "seed \(seed):\n" + log.suffix(60).map { String($0.text.prefix(300)) }.joined(separator: "\n")
      }
    }
  }

  /// The first place where two values differ.
  private func difference(_ left: Value, _ right: Value, at path: String = "") -> String? {
    if left == right { return nil }
    if case .object(let own) = left, case .object(let other) = right {
      for name in Set(own.keys).union(other.keys).sorted() {
        if let found = difference(own[name] ?? "absent", other[name] ?? "absent", at: path + "/" + name) {
          return found
        }
      }
    }
    if case .array(let own) = left, case .array(let other) = right, own.count == other.count {
      for index in own.indices {
        if let found = difference(own[index], other[index], at: "\(path)/\(index)") { return found }
      }
    }
    return "\(path): \(left.text.prefix(400)) became \(right.text.prefix(400))"
  }

  private func lines(_ left: String, _ right: String) -> String {
    let (own, other) = (left.split(separator: "\n"), right.split(separator: "\n"))
    for (first, second) in zip(own, other) where first != second {
      return "\(first.prefix(600))\nbecame\n\(second.prefix(600))"
    }
    return "\(own.count) lines became \(other.count)"
  }
}
