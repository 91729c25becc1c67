// Promises 5 and 7 on the built server: subscriptions to large overlays, and clients that do not read.

import JSON
import TestSupport
import Testing

@Suite(.serialized) struct ObserveTests {
  @Test(arguments: [false, true])
  func `a subscriber of 300,000 graphics receives them all, whether it reads at once or late`(isLate: Bool) throws {
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
    // For a late reader, these change the overlay while the snapshot is being sent.
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

  @Test func `unsent deltas are sent after the end of input`() throws {
    let server = try observed(count: 0)
    try server.send(request("1", "overlay/addColumns", columns(90_000, nameLength: 9)) + "\n")
    server.closeInput()
    var replica = Replica()
    try replica.follow(server, replies: 1)
    #expect(replica.graphics.count == 90_000)
    #expect(try server.waitForExit() == .code(0))
  }

  @Test func `while a long delta is being sent, requests run, and responses with its revision wait`() throws {
    let server = try observed(count: 0)
    var replica = Replica()
    try server.send(request("0", "overlay/addColumns", columns(99_999, nameLength: 9)) + "\n")
    try replica.follow(server, replies: 1)
    try server.send(request("1", "clock/set", #"{"mode":"manual"}"#) + "\n")
    #expect(try server.line().contains(#""id":1,"#))
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
        if id == 3 || id == 5 { #expect(replica.isWhole && parts > 5, "\(id) has a response before the last part") }
        continue
      }
      try replica.take(message)
      parts += 1
      // The client pauses reading here, so these requests are handled during the delivery.
      guard parts == 2 else { continue }
      try server.send(request("4", "session/echo") + "\n")
      try server.send(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2}}"# + "\n")
      try server.send(request("5", "feature/queryCount", #"{"overlay":"o1"}"#) + "\n")
    }
    #expect(order == ["4", "2", "3", "5"])
    #expect(replica.gaps == 0)
  }
}
