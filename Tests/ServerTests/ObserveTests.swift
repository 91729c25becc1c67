// Promises 5 and 7 on the built server: observers of much, and observers that do not read.

import JSON
import TestSupport
import Testing

@Suite(.serialized) struct ObserveTests {
  @Test(arguments: [false, true])
  func `an observer of 300,000 graphics has them all, whether it reads at once or late`(isLate: Bool) throws {
    let server = try observed(count: 0)
    var replica = Replica()
    try server.send(request("1", "overlay/addColumns", columns(300_000, nameLength: 9)) + "\n")
    try replica.follow(server, replies: 1)
    #expect(replica.graphics.count == 300_000)
    try server.send(request("2", "state/unobserve", #"{"subscription":"sub1"}"#) + "\n")
    try replica.follow(server, replies: 1)

    try server.send(request("3", "state/observe", #"{"paths":["/overlays/o1"]}"#) + "\n")
    if !isLate {
      try replica.follow(server, replies: 1)
      #expect(replica.graphics.count == 300_000)
    }
    // Read late, these come while the snapshot is on its way.
    try server.send(request("4", "overlay/updateColumns", moved(20_000, to: 7)) + "\n")
    try server.send(request("5", "overlay/addColumns", columns(3_000, nameLength: 9)) + "\n")
    try server.send(request("6", "overlay/removeGraphics", #"{"overlay":"o1","ids":[0,1,2,150000,300001]}"#) + "\n")
    try replica.follow(server, replies: isLate ? 4 : 3)
    #expect(replica.gaps == 0)
    #expect(replica.resyncs == 0)
    #expect(replica.graphics.count == 302_995)
    try server.send(request("7", "feature/queryCount", #"{"overlay":"o1"}"#) + "\n")
    #expect(try server.line().contains(#""count":\#(replica.graphics.count)"#))
  }

  @Test func `what is still to be told is told after the end of input`() throws {
    let server = try observed(count: 0)
    try server.send(request("1", "overlay/addColumns", columns(90_000, nameLength: 9)) + "\n")
    server.closeInput()
    var replica = Replica()
    try replica.follow(server, replies: 1)
    #expect(replica.graphics.count == 90_000)
    #expect(try server.waitForExit() == .code(0))
  }

  @Test func `while a long delta is told, requests are read and run, and answers that state it wait`() throws {
    let server = try observed(count: 0)
    var replica = Replica()
    try server.send(request("0", "overlay/addColumns", columns(99_999, nameLength: 9)) + "\n")
    try server.send(request("1", "clock/set", #"{"mode":"manual"}"#) + "\n")
    try replica.follow(server, replies: 2)
    let flight = #"{"view":"v1","viewpoint":{"type":"scale","targetScale":1000},"duration":10}"#
    try server.send(request("2", "view/animateViewpoint", flight) + "\n")
    try server.send(request("3", "overlay/updateColumns", moved(99_998, to: 7)) + "\n")
    var order: [String] = []
    var parts = 0
    while order.last != "5" {
      let message = try server.line(seconds: 60)
      guard message.contains(#""method":"state/changed""#) else {
        let id = try JSONDocument(message).read { try $0["id"].integer() }
        order.append(String(id))
        if id == 3 || id == 5 { #expect(replica.isWhole && parts > 5, "\(id) was answered before all was told") }
        continue
      }
      try replica.take(message)
      parts += 1
      // The client reads no further for a moment, so what it asks now is answered within the delta.
      guard parts == 2 else { continue }
      try server.send(request("4", "session/echo") + "\n")
      try server.send(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2}}"# + "\n")
      try server.send(request("5", "feature/queryCount", #"{"overlay":"o1"}"#) + "\n")
    }
    #expect(order == ["4", "2", "3", "5"])
    #expect(replica.gaps == 0)
  }
}

/// What has been told: revisions without gaps, and the last words.
private struct Replica {
  var revision = 0
  var gaps = 0
  var isWhole = true
  var last = ""
  var resyncs = 0
  /// The ids of the graphics that are there.
  var graphics: Set<Int> = []

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

  /// The graphics that a message names.
  private mutating func takeGraphics(_ params: JSONValue) throws {
    let container = "/overlays/o1/graphics"
    func ids(_ graphics: JSONValue) -> [Int] {
      var ids: [Int] = []
      if graphics.kind == .object {
        graphics.forEachMember { name, _ in if let id = Int(String(decoding: name, as: UTF8.self)) { ids.append(id) } }
      }
      return ids
    }
    let values = params["values"]
    if values.isPresent {
      for index in 0..<values.count {
        let path = try values[index]["path"].string()
        let value = values[index]["value"]
        graphics.formUnion(ids(path == container ? value : value["graphics"]))
      }
    }
    let changes = params["changes"]
    guard changes.isPresent else { return }
    for index in 0..<changes.count {
      let path = try changes[index]["path"].string()
      let operation = try changes[index]["op"].string()
      guard path.hasPrefix(container + "/"), let id = Int(path.dropFirst(container.utf8.count + 1)) else { continue }
      switch operation {
      case "remove": #expect(graphics.remove(id) != nil, "\(id) was not there")
      case "replace": #expect(graphics.contains(id), "\(id) is not there")
      default: graphics.insert(id)
      }
    }
  }

  mutating func take(_ message: String) throws {
    last = String(message.suffix(600))
    let (name, base, revision, isLast, hasSnapshot) = try JSONDocument(message).read { root in
      let params = root["params"]
      if try root["method"].string() == "state/resynced" {
        resyncs += 1
        graphics = []
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

/// Positions at 0, and an attribute whose name makes each graphic long.
private func columns(_ count: Int, nameLength: Int = 200) -> String {
  let zeros = zeros(count)
  let name = String(repeating: "n", count: nameLength)
  return #"{"overlay":"o1","x":\#(zeros),"y":\#(zeros),"attributes":{"\#(name)":\#(zeros)}}"#
}

private func zeros(_ count: Int) -> String {
  // Three numbers are 24 bytes, and those 32 letters.
  precondition(count % 3 == 0)
  return #"{"type":"float64","data":"\#(String(repeating: "A", count: count / 3 * 32))"}"#
}

/// The first graphics at one place.
private func moved(_ count: Int, to place: Int) -> String {
  let ids = (1...count).map(String.init).joined(separator: ",")
  let places = "[" + String(repeating: "\(place),", count: count - 1) + "\(place)]"
  return #"{"overlay":"o1","ids":[\#(ids)],"x":\#(places),"y":\#(places)}"#
}

/// A server with an overlay of so many graphics, observed from before they came.
private func observed(count: Int) throws -> ServerProcess {
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
