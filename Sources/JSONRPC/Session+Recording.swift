// What the recorder is told of the way in: everything that arrived, as it arrived, so that it can be sent again.

import JSON

/// What has been read and not recorded.
struct Unrecorded {
  /// Bytes that the framer is done with and that no message has followed yet: headers, a few white bytes.
  var head: [UInt8] = []
  /// Messages that stand before this place of the stream have been recorded. Behind a large message they are when they are
  /// looked through for cancels, which act then.
  var position = 0
}

extension Session {
  func record(_ traffic: Traffic) { recorder?.record(traffic, in: framer.framing ?? .lines) }

  /// Records a message that stands there, unless it has been.
  func recordArrival(_ text: UnsafeRawBufferPointer, at position: Int) {
    guard recorder != nil, position >= unrecorded.position else { return }
    unrecorded.position = position + text.count
    record(.received(text))
  }

  /// Records what the framer has taken from `bytes` that is no message.
  ///
  /// - Parameters:
  ///   - taken: from where the framer stood before the step to where it stands.
  ///   - skipped: how many of those, the first, belong to a message that was refused before.
  func record(_ step: Framer.Step, _ bytes: UnsafeRawBufferPointer, _ taken: Range<Int>, skipped: Int) {
    let start = taken.lowerBound + skipped
    recordSkipped(bytes, taken.lowerBound..<start)
    switch step {
    case .message: unrecorded.head = []
    case .needsMore:
      unrecorded.head += bytes[start..<taken.upperBound]
      // White space between messages may go on for ever.
      if framer.isBetweenMessages { unrecorded.head = [] }
    case .tooLarge where framer.framing == .lines: recordSkipped(bytes, start..<taken.upperBound)
    case .tooLarge: recordUnframed(bytes[start..<taken.upperBound])
    case .lost: recordUnframed(bytes[start...])
    }
  }

  /// Records headers, or what follows headers, that end in no message.
  func recordUnframed(_ rest: Slice<UnsafeRawBufferPointer>) {
    guard recorder != nil else { return }
    let bytes = unrecorded.head + rest
    unrecorded.head = []
    if !bytes.isEmpty { bytes.withUnsafeBytes { record(.unframed($0)) } }
  }

  private func recordSkipped(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
    guard let last = range.last else { return }
    let endsLine = framer.framing == .lines && bytes[last] == 0x0A
    record(.skipped(range.count - (endsLine ? 1 : 0), endsLine: endsLine))
  }
}
