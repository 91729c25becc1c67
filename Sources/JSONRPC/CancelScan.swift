// Cancels overtake large messages: while one is parsed, the input after it is scanned for `$/cancelRequest`, also of that one.

import JSON
import Platform

/// State of the scan.
struct CancelScan {
  var framer: Framer
  /// The stream position up to which input has been scanned.
  var position: Int
  var isLost = false
  /// By request id, the position of the last cancel found. Requests in flight are cancelled at once; a request that comes before
  /// its cancel in the input and has not run yet is cancelled when it runs.
  private var cancels: [RequestID: Int] = [:]

  init(framer: Framer, from position: Int) {
    self.framer = framer
    self.position = position
  }

  mutating func add(_ id: RequestID, at position: Int) { cancels[id] = max(cancels[id] ?? position, position) }

  /// Whether everything scanned has been run.
  func isBehind(_ position: Int) -> Bool { position >= self.position }

  /// Whether a request at that position has been cancelled by a later message.
  func cancels(_ id: RequestID, at position: Int) -> Bool {
    cancels[id].map { $0 > position } ?? false
  }
}

extension Session {
  /// Scans the input that has not been scanned yet.
  func scanForCancels() {
    guard var scan = cancelScan, !scan.isLost else { return }
    let offset = scan.position - streamPosition
    guard offset >= 0, offset <= backlog.count else { return }
    var found: [(position: Int, id: RequestID)] = []
    backlog.withBytes(from: offset) { bytes in
      var position = 0
      // An oversized message is recorded when skipped, as is everything after it.
      var isRecorded = true
      steps: while true {
        switch scan.framer.next(in: bytes, at: &position) {
        case .message(let range, let attached):
          let text = UnsafeRawBufferPointer(rebasing: bytes[range].dropLast(attached))
          if isRecorded, recorder != nil {
            let attachments = attached == 0 ? nil : MessageAttachments(Array(bytes[range].suffix(attached)), 0..<attached)
            recordArrival(text, attachments, at: scan.position + range.lowerBound)
          }
          for id in Self.cancels(in: text) { found.append((scan.position + range.lowerBound, id)) }
        case .tooLarge: isRecorded = false
        case .needsMore: break steps
        case .lost:
          scan.isLost = true
          break steps
        }
      }
      scan.position += position
    }
    for cancel in found { scan.add(cancel.id, at: cancel.position) }
    cancelScan = scan
    for cancel in found {
      cancelInFlight(cancel.id)
      cancelParsed(cancel.id)
    }
  }

  /// Answers the request that is being parsed as cancelled, which parsing would delay, if its id is in its beginning.
  private func cancelParsed(_ id: RequestID) {
    guard isParsing, phase == .initialized, inFlight[id] == nil, !batchIDs.contains(id),
      parsedBeginning.withUnsafeBytes(MessageID.ofBeginning)?.id == id
    else { return }
    parsedBeginning = []
    write(error: .cancelled, id: id, batch: nil)
  }

  /// The ids that a message cancels, alone or in a batch.
  private static func cancels(in text: UnsafeRawBufferPointer) -> [RequestID] {
    guard text.count <= 1 << 16, text.holds("Request"), let document = try? JSONDocument(text) else { return [] }
    return document.read { root in
      guard root.kind == .array else { return cancelledID(root).map { [$0] } ?? [] }
      return (0..<root.count).compactMap { cancelledID(root[$0]) }
    }
  }

  private static func cancelledID(_ message: JSONValue) -> RequestID? {
    guard message["id"].kind == .absent, (try? message["method"].string()) == "\(Router.cancelRequest)" else {
      return nil
    }
    return RequestID(message["params"]["id"])
  }
}

extension UnsafeRawBufferPointer {
  /// Whether the bytes of `word` occur. Fast where its first byte is rare.
  func holds(_ word: StaticString) -> Bool {
    var rest = self
    while let start = rest.baseAddress, let found = memchr(start, CInt(word.utf8Start.pointee), rest.count) {
      rest = UnsafeRawBufferPointer(rebasing: rest[(UnsafeRawPointer(found) - start)...])
      guard rest.count >= word.utf8CodeUnitCount else { return false }
      if memcmp(found, word.utf8Start, word.utf8CodeUnitCount) == 0 { return true }
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst())
    }
    return false
  }
}
