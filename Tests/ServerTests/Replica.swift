// What a client knows of an overlay that it observes, by the messages alone: revisions without gaps, graphics that are told rightly.

import JSON
import TestSupport
import Testing

/// What has been told: revisions without gaps, and the last words.
struct Replica {
  var revision = 0
  var gaps = 0
  var isWhole = true
  var last = ""
  var resyncs = 0
  /// The graphics that are there, by id: a digest of what was told of each.
  var graphics: [Int: Int] = [:]

  /// Takes what comes until so many requests are answered and everything up to the revision that they state is told.
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
        // Letting go of a subscription changes nothing.
        if result["revision"].isPresent { stated = try result["revision"].integer() }
        guard result["subscription"].isPresent else { return }
        self = Replica(revision: stated, isWhole: result["snapshot"].isPresent)
      }
    }
  }

  /// What stands at `/overlays/o1/graphics`, or in an answer that tells it.
  static func digests(_ graphics: JSONValue) -> [Int: Int] {
    var digests: [Int: Int] = [:]
    guard graphics.kind == .object else { return digests }
    graphics.forEachMember { name, value in
      if let id = Int(String(decoding: name, as: UTF8.self)) { digests[id] = value.text.hashValue }
    }
    return digests
  }

  /// The graphics that a message names.
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
      case "remove": #expect(graphics.removeValue(forKey: id) != nil, "\(id) was not there")
      default:
        #expect((graphics[id] != nil) == (operation == "replace"), "\(operation) of \(id)")
        graphics[id] = changes[index]["value"].text.hashValue
      }
    }
  }

  mutating func take(_ message: String) throws {
    // It says that a snapshot will take the place of deltas; that comes by itself.
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

/// Positions at 0, and an attribute whose name makes each graphic long.
func columns(_ count: Int, nameLength: Int = 200) -> String {
  let zeros = zeros(count)
  let name = String(repeating: "n", count: nameLength)
  return #"{"overlay":"o1","x":\#(zeros),"y":\#(zeros),"attributes":{"\#(name)":\#(zeros)}}"#
}

func zeros(_ count: Int) -> String {
  // Three numbers are 24 bytes, and those 32 letters.
  precondition(count % 3 == 0)
  return #"{"type":"float64","data":"\#(String(repeating: "A", count: count / 3 * 32))"}"#
}

/// The first graphics at one place.
func moved(_ count: Int, to place: Int) -> String {
  let ids = (1...count).map(String.init).joined(separator: ",")
  let places = "[" + String(repeating: "\(place),", count: count - 1) + "\(place)]"
  return #"{"overlay":"o1","ids":[\#(ids)],"x":\#(places),"y":\#(places)}"#
}

/// A server with an overlay of so many graphics, observed from before they came.
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
