// Bytes behind a message stand for base64 in it, in both directions, and in no message of a client that does not know them.

import JSON
import JSONRPC
import Synchronization
import TestSupport
import Testing

@Suite struct AttachmentTests {
  /// A session with headers, whose client takes attachments or does not.
  private func session(
    taking: Bool = true, _ limits: SessionLimits = SessionLimits(), offloading: ManualLoop.Offloading = .inline,
    recorder: TrafficRecorder? = nil
  ) -> Harness {
    let harness = Harness(limits: limits, offloading: offloading, initialized: false, recorder: recorder)
    harness.client.send(framed(request("0", "initialize", #"{"attachments":\#(taking)}"#)))
    _ = harness.client.takeOutput()
    return harness
  }

  private func framed(_ text: String, attached: [UInt8] = []) -> [UInt8] {
    let length = attached.isEmpty ? "" : "Attachment-Length: \(attached.count)\r\n"
    return Array("Content-Length: \(text.utf8.count + attached.count)\r\n\(length)\r\n\(text)".utf8) + attached
  }

  private func text(_ harness: Harness) -> String { String(decoding: harness.client.takeOutput(), as: UTF8.self) }
  private func whole(_ text: String) -> String { String(decoding: framed(text), as: UTF8.self) }

  /// `hello` at the offset 3.
  private let attached = Array("---hello".utf8)
  private let reference = #"{"a":[{"type":"WKB","data":{"offset":3,"length":5}}]}"#

  @Test func `what follows a message stands for base64 in it`() {
    let harness = session(taking: false)
    harness.client.send(framed(request("1", "echo", reference), attached: attached))
    #expect(text(harness) == whole(result("1", #"{"a":[{"type":"WKB","data":"aGVsbG8="}]}"#)))
    // The next message has none.
    harness.client.send(framed(request("2", "echo", reference)))
    #expect(text(harness) == whole(result("2", reference)))
  }

  @Test(arguments: [
    #""data":{"offset":4,"length":5}"#, #""data":{"offset":-1,"length":5}"#, #""data":{"offset":3,"length":-5}"#,
    #""data":{"offset":9223372036854775807,"length":9223372036854775807}"#, #""data":{"offset":3.0,"length":5}"#,
    #""data":{"offset":3,"length":5,"x":1}"#, #""other":{"offset":3,"length":5}"#, #""data":{"offset":3}"#, #""data":[3,5]"#,
  ])
  func `what leads to no bytes is a value like any other`(member: String) {
    let harness = session()
    for params in [#"{"type":"float64",\#(member)}"#, #"{"data":{"offset":3,"length":5},"type":"text"}"#] {
      harness.client.send(framed(request("1", "echo", params), attached: attached))
      #expect(text(harness) == whole(result("1", params)))
    }
  }

  @Test func `references together lead to no more bytes than there are`() {
    let harness = session(taking: false)
    func twice(_ length: Int) -> String {
      #"{"a":["# + [0, 3].map { #"{"type":"WKB","data":{"offset":\#($0),"length":\#(length)}}"# }.joined(separator: ",") + "]}"
    }
    harness.client.send(framed(request("1", "echo", twice(4)), attached: attached))
    #expect(text(harness) == whole(result("1", #"{"a":[{"type":"WKB","data":"LS0taA=="},{"type":"WKB","data":"aGVsbA=="}]}"#)))
    harness.client.send(framed(request("2", "echo", twice(5)), attached: attached))
    #expect(text(harness) == whole(result("2", #"{"a":[{"type":"WKB","data":{"offset":0,"length":5}},{"type":"WKB","data":"aGVsbG8="}]}"#)))
  }

  @Test func `the bytes may come in any pieces, and be many`() {
    let one = framed(request("1", "echo", reference), attached: attached)
    let zeros = [UInt8](repeating: 0, count: 3 << 20)
    let many = framed(request("2", "echo", #"{"type":"int64","data":{"offset":3145725,"length":3}}"#), attached: zeros)
    let expected = whole(result("1", #"{"a":[{"type":"WKB","data":"aGVsbG8="}]}"#)) + whole(result("2", #"{"type":"int64","data":"AAAA"}"#))
    for cut in 1..<one.count {
      let harness = session()
      for piece in [one[..<cut], one[cut...] + many] { harness.client.send(Array(piece)) }
      #expect(text(harness) == expected, "cut at \(cut)")
    }
    let harness = session()
    for start in stride(from: 0, to: many.count, by: 100_000) { harness.client.send(Array(many[start..<min(start + 100_000, many.count)])) }
    #expect(text(harness) == whole(result("2", #"{"type":"int64","data":"AAAA"}"#)))
  }

  @Test(arguments: [
    "Content-Length: 2\r\nAttachment-Length: 3\r\n\r\n{}", "Content-Length: 2\r\nAttachment-Length: x\r\n\r\n{}",
    "Content-Length: 2\r\nAttachment-Length: 0\r\nAttachment-Length: 0\r\n\r\n{}", "Attachment-Length: 2\r\n\r\n{}",
  ])
  func `a wrong length ends the session with -32700 and exit code 2`(message: String) {
    let harness = session()
    harness.client.send(message)
    #expect(Failure(text(harness).split(separator: "\r\n\r\n").last.map(String.init)) == Failure("null", -32700, "framingError"))
    #expect(harness.session.ending?.code == 2)
  }

  @Test func `a message of attachments alone is no JSON`() {
    let harness = session()
    harness.client.send(framed("", attached: attached))
    #expect(Failure(text(harness).split(separator: "\r\n\r\n").last.map(String.init)) == Failure("null", -32700, "parseError"))
  }

  // MARK: Answers

  @Test func `an answer has attachments, each at a multiple of eight`() {
    let harness = session()
    harness.client.send(framed(request("1", "packed", #"{"bytes":[2001,5,1030]}"#)))
    let text = result("1", #"[{"data":{"offset":0,"length":2001}},{"data":"BQUFBQU="},{"data":{"offset":2008,"length":1030}}]"#)
    let bytes = Array(repeating: UInt8(0xd1), count: 2001) + Array(repeating: 0, count: 7) + Array(repeating: 6, count: 1030) + [0, 0]
    #expect(harness.client.takeOutput() == framed(text, attached: bytes))
  }

  @Test func `base64 goes to clients that did not ask, in lines and in batches`() {
    let expected = #"[{"data":"\#(String(repeating: "BAQE", count: 342))BAQ="}]"#
    let params = #"{"bytes":[1028]}"#
    let harness = session(taking: false)
    harness.client.send(framed(request("1", "packed", params)))
    #expect(text(harness) == whole(result("1", expected)))
    let lines = Harness(initialized: false)
    _ = lines.lines(request("0", "initialize", #"{"attachments":true}"#))
    #expect(lines.lines(request("1", "packed", params)) == [result("1", expected)])
    let batch = session()
    batch.client.send(framed("[\(request("1", "packed", params))]"))
    #expect(text(batch) == whole("[\(result("1", expected))]"))
  }

  @Test func `an answer that waits keeps its attachments`() {
    let harness = session()
    harness.session.holdAnswers(from: 1, marking: 1)
    harness.client.send(framed(request("1", "packed", #"{"bytes":[1024]}"#)))
    #expect(text(harness) == "")
    #expect(harness.session.unread > 1024)
    harness.session.holdAnswers(from: nil, marking: 2)
    let text = result("1", #"[{"data":{"offset":0,"length":1024}}]"#)
    #expect(harness.client.takeOutput() == framed(text, attached: Array(repeating: 0, count: 1024)))
    #expect(harness.session.unread == 0)
  }

  @Test func `attachments count for the limit of a result`() {
    var limits = SessionLimits()
    limits.resultBytes = 4000
    let harness = session(limits)
    harness.client.send(framed(request("1", "packed", #"{"bytes":[5000]}"#)))
    #expect(Failure(text(harness).split(separator: "\r\n\r\n").last.map(String.init))?.kind == "resultTooLarge")
    harness.client.send(framed(request("2", "packed", #"{"bytes":[3000]}"#)))
    #expect(text(harness).contains("Attachment-Length: 3000\r\n"))
  }

  @Test func `texts that are joined attach what each has`() {
    let first = JSONOpaque.made(isAttaching: true) { $0.value(PackedBytes.bytes(Array(repeating: 1, count: 1025))) }
    let second = JSONOpaque.made(isAttaching: true) { $0.value(PackedBytes.integers(Array(repeating: 2, count: 128))) }
    var both = JSONWriter()
    both.setAttaching(true)
    both.array([first, second]) { $1.value($0) }
    #expect(both.string == #"[{"offset":0,"length":1025},{"offset":1032,"length":1024}]"#)
    #expect(both.attachedCount == 2056)
    var text = JSONWriter()
    text.append(both)
    #expect(text.string.hasPrefix(#"["AQEB"#) && text.string.hasSuffix(#"AA=="]"#))
    #expect(text.attachedCount == 0)
    both.truncate(to: 28)
    #expect(both.attachedCount == 1032)
  }

  @Test func `a record is text`() {
    let record = Mutex<[String]>([])
    let harness = session { traffic, _ in
      switch traffic {
      case .received(let bytes), .sent(let bytes, _): record.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
      default: break
      }
    }
    harness.client.send(framed(request("1", "echo", reference), attached: attached))
    harness.client.send(framed(request("2", "packed", #"{"bytes":[1026]}"#)))
    let echo = #"{"a":[{"type":"WKB","data":"aGVsbG8="}]}"#
    #expect(record.withLock { $0[2..<4].map { $0 } } == [request("1", "echo", echo), result("1", echo)])
    #expect(record.withLock { $0[5] } == result("2", #"[{"data":"\#(String(repeating: "AgIC", count: 342))"}]"#))
  }
}
