// Promise 7 on the built server: output for a client that does not read is bounded, and the server ends with a reason.

import Glibc
import JSON
import TestSupport
import Testing

@Suite(.serialized) struct BackpressureTests {
  @Test func `a client that never reads ends the server past 128 MiB, with 1 and a reason`() throws {
    let server = try ServerProcess.started()
    try server.send(large(1) + large(2))
    // These are refused, with responses of 1 MiB each because of their ids.
    let id = String(repeating: "i", count: 1 << 20)
    var sent = 0
    signal(SIGPIPE, SIG_IGN)
    while sent < 200 {
      do { try server.send(request("\"\(id)\(sent)\"", "session/echo") + "\n") } catch { break }
      sent += 1
    }
    // It gives up at the 48th, as 80 MiB are unread before. Up to 64 MiB more are read while a worker parses the second large message.
    #expect((48..<120).contains(sent), "\(sent) sent")
    #expect(try server.waitForExit(seconds: 30) == .code(1))
    #expect(server.errorText().contains("bytes unread: giving up"))
  }

  @Test func `beyond 64 MiB of unread output requests are refused, and all responses arrive once the client reads`()
    throws
  {
    let server = try ServerProcess.started()
    try server.send(large(1) + large(2) + large(3))
    try server.send(request("4", "map/create", #"{"id":"m1"}"#) + "\n")
    server.untilIdle()
    #expect(server.kibibytes("VmHWM") < 900 << 10)
    #expect(try [server.line(seconds: 30), server.line(seconds: 30)].allSatisfy { $0.utf8.count > length })
    #expect(failure(try server.line()) == "3 -31001 serverBusy")
    #expect(failure(try server.line()) == "4 -31001 serverBusy")
    try server.send(request("5", "map/list") + "\n")
    #expect(try server.line() == echoed("5", #"{"revision":0,"maps":[]}"#))
  }

  /// Beyond 16 MiB of unread output, deltas are replaced by `state/resynced`. Long deltas are sent in parts that wait for the client:
  /// later changes are coalesced meanwhile, and the limit is not reached.
  @Test(arguments: [
    (count: 2_001, updates: 20, resyncs: false), (count: 1_200, updates: 120, resyncs: true),
    (count: 6_000, updates: 45, resyncs: false),
    (count: 60_000, updates: 20, resyncs: false),
  ])
  func `a client that stops reading during updates and continues receives them all`(
    count: Int, updates: Int, resyncs: Bool
  ) throws {
    let server = try observed(count: 0)
    var replica = Replica()
    try server.send(request("1", "overlay/addColumns", columns(count, nameLength: 9)) + "\n")
    try replica.follow(server, replies: 1)
    for x in 1...updates {
      try server.send(request("\(x + 1)", "overlay/updateColumns", moved(count - 1, to: x)) + "\n")
      if x == 5 { try replica.follow(server, replies: 5) }
    }
    server.untilIdle()
    try replica.follow(server, replies: updates - 5)
    #expect(replica.gaps == 0)
    #expect((replica.resyncs > 0) == resyncs)
    try server.send(request("99", "state/get", #"{"path":"/overlays/o1/graphics"}"#) + "\n")
    let truth = try JSONDocument(try server.line(seconds: 30)).read {
      Replica.digests($0["result"]["values"][0]["value"])
    }
    #expect(replica.graphics.count == count)
    #expect(replica.graphics == truth)
  }

  @Test func `an unread animation takes bounded memory, and its final state is sent`() throws {
    let server = try ServerProcess.started()
    let point = #"{"type":"Point","coordinates":[10,50]}"#
    let requests = [
      request("1", "map/create", #"{"id":"m1"}"#), request("2", "view/create", #"{"id":"v1","map":"m1"}"#),
      request("3", "clock/set", #"{"mode":"manual","tickRate":240}"#),
      request("4", "state/observe", #"{"paths":["/views/*"]}"#),
      request("5", "view/observeViewpoint", #"{"view":"v1"}"#),
    ]
    for message in requests {
      try server.send(message + "\n")
      #expect(try server.line().contains(#""result""#))
    }
    let before = server.kibibytes("VmRSS")
    let viewpoint = #"{"type":"centerAndScale","center":\#(point),"targetScale":1000}"#
    try server.send(
      request("6", "view/animateViewpoint", #"{"view":"v1","viewpoint":\#(viewpoint),"duration":1000}"#) + "\n")
    // 240,000 ticks; a delta for each would be 200 MB.
    for id in 7...9 { try server.send(request("\(id)", "clock/advance", #"{"seconds":400}"#) + "\n") }
    server.untilIdle()
    let grown = server.kibibytes("VmHWM") - before
    #expect(grown < 80 << 10, "\(grown) KiB")
    var state = ""
    var answers: [String] = []
    while answers.count < 4 {
      let message = try server.line(seconds: 30)
      guard message.hasPrefix(#"{"jsonrpc":"2.0","method":"#) else {
        answers.append(String(message.prefix(400)))
        continue
      }
      if message.contains("state/") { state = message }
    }
    #expect(
      answers.contains { $0.hasPrefix(#"{"jsonrpc":"2.0","id":6,"#) && $0.contains(#""arrived":true"#) }, "\(answers)")
    try server.send(request("10", "state/get", #"{"path":"/views/v1"}"#) + "\n")
    while true {
      let message = try server.line()
      if message.hasPrefix(#"{"jsonrpc":"2.0","id":10"#) {
        #expect(message.contains(#""targetScale":1000.0"#))
        break
      }
      if message.contains("state/") { state = message }
    }
    // The last delta has the final viewpoint.
    #expect(state.contains(#""targetScale":1000.0"#), "\(state.suffix(500))")
  }
}

// MARK: -

private let length = 40 << 20

/// An echo request of 40 MiB.
private func large(_ id: Int) -> String {
  request("\(id)", "session/echo", #"{"a":"\#(String(repeating: "x", count: length))"}"#) + "\n"
}

extension ServerProcess {
  /// Waits until the server has read its input and none of its threads has work, also none that waits for a processor.
  fileprivate func untilIdle() {
    var before = -1
    var now = processorMilliseconds
    while before != now || hasUnreadInput || isWorking {
      var nothing = pollfd(fd: errors, events: 0, revents: 0)
      poll(&nothing, 1, 200)
      (before, now) = (now, processorMilliseconds)
    }
  }
}
