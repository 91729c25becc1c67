// Cancels that overtake: while a large message is parsed, what waits behind it is looked through for them.

import JSON
import Platform

/// The look through the waiting input, and what it found.
struct LookAhead {
  var framer: Framer
  /// How far the look has come, in the stream.
  var position: Int
  var isLost = false
  /// Cancels that have acted on what ran. They also hit the requests that stand before them and have not run yet.
  var cancels: [(position: Int, id: RequestID)] = []

  init(framer: Framer, from position: Int) {
    self.framer = framer
    self.position = position
  }

  /// Whether everything that was looked at has been run.
  func isBehind(_ position: Int) -> Bool { position >= self.position }

  /// Whether a request that stands there has been cancelled already.
  func cancels(_ id: RequestID, at position: Int) -> Bool {
    cancels.contains { $0.position > position && $0.id == id }
  }
}

extension Session {
  /// Looks through what waits and has not been looked at.
  func lookAhead() {
    guard var look = ahead, !look.isLost else { return }
    let offset = look.position - streamPosition
    guard offset >= 0, offset <= backlog.count else { return }
    var found: [(position: Int, id: RequestID)] = []
    backlog.withBytes(from: offset) { bytes in
      var position = 0
      // What is too large is recorded when it is skipped, and so what follows it.
      var isRecorded = true
      scan: while true {
        switch look.framer.next(in: bytes, at: &position) {
        case .message(let range):
          let text = UnsafeRawBufferPointer(rebasing: bytes[range])
          if isRecorded { recordArrival(text, at: look.position + range.lowerBound) }
          for id in Self.cancels(in: text) { found.append((look.position + range.lowerBound, id)) }
        case .tooLarge: isRecorded = false
        case .needsMore: break scan
        case .lost:
          look.isLost = true
          break scan
        }
      }
      look.position += position
    }
    look.cancels += found
    ahead = look
    for cancel in found { cancelInFlight(cancel.id) }
  }

  /// The ids that a message cancels, alone or in a batch.
  private static func cancels(in text: UnsafeRawBufferPointer) -> [RequestID] {
    guard text.count <= 1 << 16, holdsCancel(text), let document = try? JSONDocument(text) else { return [] }
    return document.read { root in
      guard root.kind == .array else { return cancelledID(root).map { [$0] } ?? [] }
      return (0..<root.count).compactMap { cancelledID(root[$0]) }
    }
  }

  /// Whether the method's name stands anywhere in it: a quick look, by the capital in its middle.
  private static func holdsCancel(_ text: UnsafeRawBufferPointer) -> Bool {
    guard let start = text.baseAddress else { return false }
    let word: StaticString = "Request"
    var place = 0
    while let found = memchr(start + place, CInt(UInt8(ascii: "R")), text.count - place) {
      place = UnsafeRawPointer(found) - start
      guard text.count - place >= word.utf8CodeUnitCount else { return false }
      if memcmp(found, word.utf8Start, word.utf8CodeUnitCount) == 0 { return true }
      place += 1
    }
    return false
  }

  private static func cancelledID(_ message: JSONValue) -> RequestID? {
    guard message["id"].kind == .absent, (try? message["method"].string()) == Router.BuiltIn.cancelRequest.rawValue
    else { return nil }
    return RequestID(message["params"]["id"])
  }
}
