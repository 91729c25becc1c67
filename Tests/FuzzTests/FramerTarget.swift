// The framer gives the same messages whatever the pieces in which the bytes arrive.

import Platform

@testable import JSONRPC

extension FuzzTarget {
  /// The first byte determines the pieces; the rest is the stream.
  static let framer = FuzzTarget(
    name: "framer", words: ["Content-Length: ", "Attachment-Length: ", "\r\n\r\n", "\n", "Content-Type: x\r\n"],
    seeds: {
      try Seeds.lines().enumerated().map { index, line in
        let text = String(decoding: line.prefix(60), as: UTF8.self)
        let frame = index % 2 == 0 ? "Content-Length: \(text.utf8.count)\r\n\r\n\(text)" : text + "\n"
        return [UInt8(truncatingIfNeeded: index)] + Array((frame + frame).utf8)
      }
    },
    run: { (input) throws(Broken) in
      guard let first = input.first else { return }
      let stream = Array(input.dropFirst())
      let whole = frames(stream, in: [stream.count])
      let divided = frames(stream, in: pieces(of: stream.count, by: first))
      try check(whole == divided, "whole: \(whole), in pieces: \(divided)")
      let single = frames(stream, in: Array(repeating: 1, count: stream.count))
      try check(whole == single, "whole: \(whole), byte by byte: \(single)")
    })
}

private enum Frame: Equatable {
  case message([UInt8], attached: Int)
  case tooLarge
  case lost(String)
  case end(isBetweenMessages: Bool)
}

/// Lengths of pieces with the sum `count`.
private func pieces(of count: Int, by seed: UInt8) -> [Int] {
  var state = UInt32(seed) &* 2_654_435_761 &+ 1
  var lengths: [Int] = []
  var rest = count
  while rest > 0 {
    state = state &* 1_664_525 &+ 1_013_904_223
    let length = min(rest, 1 + Int(state >> 16) % (1 << Int(seed & 7)))
    lengths.append(length)
    rest -= length
  }
  return lengths
}

/// What a framer with small limits makes of a stream, which it is given as a session does: what it has not consumed, and more.
private func frames(_ stream: [UInt8], in pieces: [Int]) -> [Frame] {
  var framer = Framer(messageBytes: 48, headerBytes: 64)
  var frames: [Frame] = []
  var start = 0
  var end = 0
  /// Whether the stream goes on.
  func take(_ step: Framer.Step, _ bytes: UnsafeRawBufferPointer) -> Bool {
    switch step {
    case .message(let range, let attached): frames.append(.message(Array(bytes[range]), attached: attached))
    case .tooLarge: frames.append(.tooLarge)
    case .lost(let reason): frames.append(.lost(reason))
    case .needsMore: return true
    }
    return false
  }
  for piece in pieces + [0] {
    let isLast = piece == 0
    end += piece
    let bytes = Array(stream[start..<end])
    let isLost = bytes.withUnsafeBytes { bytes in
      var position = 0
      defer { start += position }
      while !take(isLast ? framer.last(in: bytes, at: &position) : framer.next(in: bytes, at: &position), bytes) {
        if case .lost = frames.last { return true }
      }
      return false
    }
    if isLost { return frames }
  }
  frames.append(.end(isBetweenMessages: framer.isBetweenMessages))
  return frames
}
