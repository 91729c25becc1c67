// Output: frames are written in place, and handed over only when the previous ones have been written, so that the
// unread amount is known.

import JSON

extension Session {
  // MARK: - For the transport

  /// Moves the output into `writer`, which has to be empty, and returns whether there was any.
  ///
  /// The transport calls ``outputWritten(_:)`` as it writes, and calls this again only when all has been written:
  /// output still here can be counted, and the application can still coalesce later changes.
  public func takeOutput(into writer: inout JSONWriter) -> Bool {
    if !queue.isEmpty {
      takeQueued(into: &writer)
      queuedBytes -= writer.count
    } else {
      guard output.count > 0 else { return false }
      swap(&writer, &output)
      output.reset()
    }
    taken += writer.count
    handedOver += writer.count
    return true
  }

  private func takeQueued(into writer: inout JSONWriter) {
    if case .text(let text) = queue[0] {
      swap(&writer, &text.writer)
      queue.removeFirst()
    } else if case .bytes(var bytes) = queue[0] {
      if writer.append(next: Self.slice, of: &bytes) { queue[0] = .bytes(bytes) } else { queue.removeFirst() }
    }
  }

  /// About how many bytes of attachments are copied at once.
  private static let slice = 256 << 10

  /// Counts bytes accepted by the system.
  public func outputWritten(_ count: Int) {
    taken -= count
    guard wasCongested, unsent < limits.congestionBytes / 4 else { return }
    wasCongested = false
    onDrained?()
  }

  /// Bytes not yet accepted by the system.
  public var unsent: Int { taken + queuedBytes + output.count }

  /// The same plus the answers that are held back: see ``holdAnswers(from:marking:)``.
  public var unread: Int { unsent + gate.bytes }

  /// All bytes that the system has accepted so far.
  var accepted: Int { written - unsent }

  /// All bytes written so far.
  public var written: Int { handedOver + queuedBytes + output.count }

  /// Whether there is output that the transport has not taken.
  var hasOutput: Bool { output.count > 0 || !queue.isEmpty }

  /// Whether the client reads so slowly that changes should be coalesced until ``onDrained``.
  public var isCongested: Bool {
    if unsent > limits.congestionBytes { wasCongested = true }
    return wasCongested
  }

  // MARK: - For the application

  /// Writes a notification; `params` writes the members of its params. It precedes later answers.
  public func notify(_ method: StaticString, _ params: (inout JSONWriter) -> Void) {
    writeNotification(method) { writer in
      writer.beginObject()
      params(&writer)
      writer.endObject()
    }
  }

  /// Writes a notification with encodable params.
  public func notify(_ method: StaticString, _ params: some JSONEncodable) {
    writeNotification(method) { params.encode(to: &$0) }
  }

  @inline(__always)
  private func writeNotification(_ method: StaticString, _ params: (inout JSONWriter) -> Void) {
    guard framer.framing != nil else { return }
    writeFrame { writer in
      writer.beginObject()
      writer.append("\"jsonrpc\":\"2.0\",\"method\":\"")
      writer.append(method)
      writer.append("\",\"params\":")
      params(&writer)
      writer.endObject()
    }
  }

  // MARK: - Answers

  /// - Parameter waits: whether the result may state changes that have not been sent yet.
  func write(result: any JSONEncodable, id: RequestID, batch: Batch?, waits: Bool = true) {
    answer(batch, waits: waits) { writer in
      let start = writer.count
      Self.append(id, "result", result, to: &writer)
      // The limit is of one answer, or of all answers of a batch.
      guard writer.count - (batch == nil ? start : 0) + writer.attachedCount > limits.resultBytes else { return }
      writer.truncate(to: start)
      Self.append(id, "error", RPCError.resultTooLarge(limit: limits.resultBytes), to: &writer)
    }
  }

  /// - Parameter waits: whether the error comes from a handler, and so may state changes that have not been sent yet.
  func write(error: RPCError, id: RequestID?, batch: Batch?, waits: Bool = false) {
    answer(batch, waits: waits) { Self.append(id, "error", error, to: &$0) }
  }

  @inline(__always)
  private func answer(_ batch: Batch?, waits: Bool, _ write: (inout JSONWriter) -> Void) {
    if let batch {
      write(&batch.answers)
      finish(batch)
    } else if waits, gate.isShut, ending == nil {
      holdAnswer(write)
    } else {
      writeFrame(write)
    }
  }

  @inline(__always)
  private static func append(
    _ id: RequestID?, _ member: StaticString, _ value: some JSONEncodable, to writer: inout JSONWriter
  ) {
    writer.beginObject()
    writer.append("\"jsonrpc\":\"2.0\",\"id\":")
    if let id { id.encode(to: &writer) } else { writer.null() }
    writer.key(member)
    value.encode(to: &writer)
    writer.endObject()
  }

  /// Gives the one answer of a deferred request, and removes it.
  func finish(_ pending: PendingReply, _ answer: (Session, PendingReply) -> Void) {
    turn {
      pending.markAnswered()
      if let id = pending.id, inFlight[id] === pending { inFlight[id] = nil }
      counters.pending -= 1
      answer(self, pending)
      if let id = pending.id { traceAnswer(pending.method, id, pending.params, since: pending.started) }
      pending.release()
    }
  }

  /// Counts one answer, or the end of the batch's own run; the last one writes the array.
  func finish(_ batch: Batch) {
    batch.remaining -= 1
    guard batch.remaining == 0 else { return }
    batchIDs.subtract(batch.ids)
    guard batch.answers.count > 1, ending == nil else { return }
    batch.answers.endArray()
    answer(nil, waits: true) { $0.append(batch.answers.bytes) }
    for work in batch.afterwards { afterAnswers(work) }
  }

  // MARK: - Frames

  /// Writes one message. A header with its length precedes it, or a line end follows it.
  @inline(__always)
  func writeFrame(_ write: (inout JSONWriter) -> Void) {
    guard ending == nil else { return }
    if hasHeaders {
      // The first message is written where it is sent from: copies of large ones take longer than all else here.
      let isFirst = output.count == 0
      let attached = isFirst ? writeMessage(to: &output, write) : writeMessage(to: &body, write)
      header.append("Content-Length: ")
      header.append(decimal: UInt64((isFirst ? output.count : body.count) + (attached?.count ?? 0)))
      if let attached {
        header.append("\r\nAttachment-Length: ")
        header.append(decimal: UInt64(attached.count))
      }
      header.append("\r\n\r\n")
      if isFirst { output.prepend(header.bytes) } else {
        output.append(header.bytes)
        output.append(body.bytes)
        body.reset()
      }
      header.reset()
      if let attached { queueOutput(before: attached) }
    } else {
      let start = output.count
      write(&output)
      record(.sent(Array(output.bytes[start...]), isLate: !isHandling))
      // A line end within the message would end it; outside strings it is white space.
      output.replace(0x0A, by: 0x20, from: start)
      output.append(byte: 0x0A)
    }
    endFrame()
  }

  private func queueOutput(before attached: AttachedBytes) {
    let text = QueuedText()
    swap(&text.writer, &output)
    queuedBytes += text.writer.count + attached.count
    queue.append(.text(text))
    queue.append(.bytes(attached))
  }

  /// - Returns: what has to follow the text.
  @inline(__always)
  private func writeMessage(to writer: inout JSONWriter, _ write: (inout JSONWriter) -> Void) -> AttachedBytes? {
    if attaches { writer.setAttaching(true) }
    write(&writer)
    if recorder != nil {
      // A record is text.
      var text = JSONWriter()
      text.append(writer)
      record(.sent(Array(text.bytes), isLate: !isHandling))
    }
    return attaches ? writer.takeAttachments() : nil
  }

  private func endFrame() {
    counters.sent += 1
    if turns == 0, !isOutputAnnounced { announceOutput() }
    checkUnread()
  }

  @inline(__always)
  func checkUnread() {
    if unread > limits.unreadBytes { giveUp() }
  }

  /// Output written outside a turn is handed over at the end of the loop's turn, together with further output.
  private func announceOutput() {
    isOutputAnnounced = true
    let bound = LoopBound(self, on: loop)
    loop.execute {
      bound.value.isOutputAnnounced = false
      bound.value.turn {}
    }
  }

  func giveUp() {
    logger.critical("the client leaves \(unread) bytes unread: giving up")
    end(.atOnce(code: 1))
  }
}

/// Output that comes before the rest, once something has to follow a text.
enum QueuedOutput {
  case text(QueuedText)
  case bytes(AttachedBytes)
}

/// Text that is moved and not copied. Confined to the session's loop.
final class QueuedText {
  var writer = JSONWriter(capacity: 64)
}
