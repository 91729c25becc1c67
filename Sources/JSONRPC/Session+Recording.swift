// Records the input exactly as it arrived, for replay.

import JSON

/// Input read and not yet recorded.
struct Unrecorded {
  /// Bytes consumed by the framer without a message: headers, white space.
  var head: [UInt8] = []
  /// The stream position up to which messages have been recorded. Messages after a large one are recorded when scanned
  /// for cancels, which take effect then.
  var position = 0
}

extension Session {
  func record(_ traffic: @autoclosure () -> Traffic) { recorder?(traffic(), framer.framing ?? .lines) }

  /// Whether the record ends within a message that is skipped, where no other can be recorded.
  package var isSkipping: Bool { framer.isSkipping }

  /// Runs what no client asked for, recorded as a request that does it in a replay. `params` writes the members of its params.
  package func traceStep(_ id: String, _ method: String, _ params: (inout JSONWriter) -> Void, _ body: () -> Void) {
    var writer = JSONWriter(capacity: 128)
    writer.beginObject()
    writer.member("jsonrpc", "2.0")
    writer.member("id", id)
    writer.member("method", method)
    writer.key("params")
    writer.beginObject()
    params(&writer)
    writer.endObject()
    writer.endObject()
    record(.received(Array(writer.bytes)))
    body()
    record(.sent(Array(#"{"jsonrpc":"2.0","id":"\#(id)","result":{}}"#.utf8), isLate: true))
  }

  /// Records a message at that position, unless it has been recorded; attachments as base64 within it, so that the record is text.
  func recordArrival(_ text: UnsafeRawBufferPointer, _ attachments: MessageAttachments?, at position: Int) {
    guard recorder != nil, position >= unrecorded.position else { return }
    unrecorded.position = position + text.count
    if let attachments, let document = try? JSONDocument(text, maximum: limits.values, attachments: attachments) {
      record(.received(document.read { Array($0.jsonText.utf8) }))
    } else {
      record(.received(Array(text)))
    }
  }

  /// Records bytes consumed by the framer that are not a message.
  ///
  /// - Parameters:
  ///   - taken: the framer's positions before and after the step.
  ///   - skipped: the number of leading bytes that belong to a refused message.
  func record(_ step: Framer.Step, _ bytes: UnsafeRawBufferPointer, _ taken: Range<Int>, skipped: Int) {
    let start = taken.lowerBound + skipped
    recordSkipped(bytes, taken.lowerBound..<start)
    switch step {
    case .message: unrecorded.head = []
    case .needsMore:
      unrecorded.head += bytes[start..<taken.upperBound]
      // White space between messages may be unlimited.
      if framer.isBetweenMessages { unrecorded.head = [] }
    case .tooLarge(let beginning):
      // The answer depends on the bytes up to the id.
      let id = MessageID.ofBeginning(UnsafeRawBufferPointer(rebasing: bytes[beginning]))
      let end = beginning.lowerBound + (id?.end ?? 0)
      recordUnframed(bytes[start..<end])
      recordSkipped(bytes, end..<taken.upperBound)
    case .lost: recordUnframed(bytes[start...])
    }
  }

  /// Records bytes that form no message: headers, and what follows them.
  func recordUnframed(_ rest: Slice<UnsafeRawBufferPointer>) {
    guard recorder != nil else { return }
    let bytes = unrecorded.head + rest
    unrecorded.head = []
    if !bytes.isEmpty { record(.unframed(bytes)) }
  }

  private func recordSkipped(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
    guard let last = range.last else { return }
    let endsLine = framer.framing == .lines && bytes[last] == 0x0A
    record(.skipped(range.count - (endsLine ? 1 : 0), endsLine: endsLine))
  }
}
