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
}
