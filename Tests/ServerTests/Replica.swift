// A client's copy of an observed overlay, from messages alone. It checks revisions for gaps and operations for validity.

import JSON
import TestSupport
import Testing

/// The state that the notifications lead to.
struct Replica {
  var revision = 0
  var gaps = 0
  var isWhole = true
  var last = ""
  var resyncs = 0
  /// A digest of each graphic's value, by id.
  var graphics: [Int: Int] = [:]

  /// Reads messages until `count` responses have been received, and all deltas up to their revision.
  mutating func follow(_ server: ServerProcess, replies count: Int) throws {
    var replies = 0
    var stated = 0
    while replies < count || !isWhole || revision < stated {
      let message = try server.line(seconds: 60)
      guard !message.hasPrefix(#"{"jsonrpc":"2.0","method":"#) else {
        try take(message)
        continue
      }
      replies += 1
      try JSONDocument(message).read { root in
        let result = root["result"]
        // The result of `state/unobserve` has a revision only.
        if result["revision"].isPresent { stated = try result["revision"].integer() }
        guard result["subscription"].isPresent else { return }
        self = Replica(revision: stated, isWhole: result["snapshot"].isPresent)
      }
    }
  }

  /// The digests of a value of `/overlays/o1/graphics`.
  static func digests(_ graphics: JSONValue) -> [Int: Int] {
    var digests: [Int: Int] = [:]
    guard graphics.kind == .object else { return digests }
    graphics.forEachMember { name, value in
      if let id = Int(String(decoding: name, as: UTF8.self)) { digests[id] = value.jsonText.hashValue }
    }
    return digests
  }

  /// Applies the graphics in a message.
  private mutating func takeGraphics(_ params: JSONValue) throws {
    let container = "/overlays/o1/graphics"
    for values in [params["values"], params["snapshot"]] where values.isPresent {
      for index in 0..<values.count {
        let path = try values[index]["path"].string()
        let value = values[index]["value"]
        graphics.merge(Self.digests(path == container ? value : value["graphics"])) { $1 }
      }
    }
    let changes = params["changes"]
    guard changes.isPresent else { return }
    for index in 0..<changes.count {
      let path = try changes[index]["path"].string()
      let operation = try changes[index]["op"].string()
      guard path.hasPrefix(container + "/"), let id = Int(path.dropFirst(container.utf8.count + 1)) else { continue }
      switch operation {
      case "remove": #expect(graphics.removeValue(forKey: id) != nil, "\(id) did not exist")
      default:
        #expect((graphics[id] != nil) == (operation == "replace"), "\(operation) of \(id)")
        graphics[id] = changes[index]["value"].jsonText.hashValue
      }
    }
  }

  mutating func take(_ message: String) throws {
    // A log message announces the resync, which follows as a notification.
    if message.hasPrefix(#"{"jsonrpc":"2.0","method":"$/logMessage""#) { return }
    last = String(message.suffix(600))
    let (name, base, revision, isLast, hasSnapshot) = try JSONDocument(message).read { root in
      let params = root["params"]
      if try root["method"].string() == "state/resynced" {
        resyncs += 1
        graphics = [:]
      }
      try takeGraphics(params)
      return (
        try root["method"].string(), params["base"].isPresent ? try params["base"].integer() : -1,
        try params["revision"].integer(), params["isLast"].isPresent ? try params["isLast"].bool() : nil,
        params["snapshot"].isPresent
      )
    }
    switch name {
    case "state/changed":
      if self.revision != 0, base != self.revision { gaps += 1 }
      isWhole = isLast ?? true
      if isWhole { self.revision = revision }
    case "state/resynced":
      isWhole = hasSnapshot
      if isWhole { self.revision = revision }
    case "state/snapshotPart":
      isWhole = isLast ?? true
      if isWhole { self.revision = revision }
    default: Issue.record("unexpected: \(name)")
    }
  }
}

// MARK: - An observed overlay

/// Params of `overlay/addColumns`: positions at 0, and an attribute whose long name makes each graphic large.
func columns(_ count: Int, nameLength: Int = 200) -> String {
  let zeros = zeros(count)
  let name = String(repeating: "n", count: nameLength)
  return #"{"overlay":"o1","x":\#(zeros),"y":\#(zeros),"attributes":{"\#(name)":\#(zeros)}}"#
}

func zeros(_ count: Int) -> String {
  // Three numbers are 24 bytes, which base64 encodes as 32 characters.
  precondition(count % 3 == 0)
  return #"{"type":"float64","data":"\#(String(repeating: "A", count: count / 3 * 32))"}"#
}

/// Params of `overlay/updateColumns` that move the graphics 1...count to longitude x.
func moved(_ count: Int, to x: Int) -> String {
  let ids = (1...count).map(String.init).joined(separator: ",")
  func column(_ value: Int) -> String { "[" + String(repeating: "\(value),", count: count - 1) + "\(value)]" }
  return #"{"overlay":"o1","ids":[\#(ids)],"x":\#(column(x)),"y":\#(column(x % 90))}"#
}

/// A server with an observed overlay of `count` graphics.
func observed(count: Int) throws -> ServerProcess {
  let server = try ServerProcess.started()
  var requests = [
    request("1", "map/create", #"{"id":"m1"}"#), request("2", "view/create", #"{"id":"v1","map":"m1"}"#),
    request("3", "overlay/create", #"{"id":"o1","view":"v1"}"#),
  ]
  if count > 0 {
    let rows = zeros(count)
    requests.append(request("4", "overlay/addColumns", #"{"overlay":"o1","x":\#(rows),"y":\#(rows)}"#))
  }
  for message in requests {
    try server.send(message + "\n")
    let answer = try server.line()
    #expect(answer.contains(#""result""#))
  }
  try server.send(request("5", "state/observe", #"{"paths":["/overlays/o1"]}"#) + "\n")
  #expect(try server.line().contains(#""subscription""#))
  while count > 0, try !server.line().hasSuffix(#""isLast":true}}"#) {}
  return server
}
