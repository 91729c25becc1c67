// Paths of the state tree: whatever is in the tree can be asked for, so the generated shapes leave nothing out.

import TestSupport
import Testing

struct StatePathTests {
  @Test(arguments: UInt64(0)..<6)
  func `every path of a tree is possible`(seed: UInt64) throws {
    let server = try MemoryServer()
    try server.call("clock/set", ["mode": "manual"])
    var edits = RandomEdits(server, seed: seed)
    edits.hasFlow = true
    for _ in 0..<100 { try edits.step() }
    var paths: [String] = []
    collect(try server.state("")[""], at: "", &paths)
    #expect(paths.count > 50)
    for path in paths.prefix(3000) {
      let values = try server.state(path)
      #expect(values[path] != nil, "\(path)")
    }
  }

  private func collect(_ value: Value?, at path: String, _ paths: inout [String]) {
    if path.utf8.count > 0, path.utf8.count < 1024 { paths.append(path) }
    for (name, member) in value?.object ?? [:] {
      let escaped = name.replacing("~", with: "~0").replacing("/", with: "~1")
      collect(member, at: path + "/" + escaped, &paths)
    }
    for (index, element) in (value?.array ?? []).enumerated() { collect(element, at: path + "/\(index)", &paths) }
  }
}
