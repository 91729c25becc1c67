// Output: frames are written in place, and handed over only when the previous ones have been written, so that the
// unread amount is known.

import JSON
import Platform

extension Session {
  /// Room for the longest header: its name, ten digits, two line ends. It ends in a line end, after which the writer
  /// puts no comma.
  private static let gap: StaticString = "Content-Length: ..........\r\n\r\n"

  // MARK: - For the transport

  /// Moves the output into `writer`, which has to be empty, and returns whether there was any.
  ///
  /// The transport calls ``outputWritten(_:)`` as it writes, and calls this again only when all has been written:
  /// output still here can be counted, and the application can still coalesce later changes.
  public func takeOutput(into writer: inout JSONWriter) -> Bool {
    guard output.count > 0 else { return false }
    swap(&writer, &output)
    output.reset()
    taken += writer.count
    handedOver += writer.count
    return true
  }

  /// Counts bytes accepted by the system.
  public func outputWritten(_ count: Int) {
    taken -= count
    guard wasCongested, unsent < limits.congestionBytes / 4 else { return }
    wasCongested = false
    onDrained?()
  }

  /// Bytes not yet accepted by the system.
  public var unsent: Int { taken + output.count }

  /// The same plus the answers that are held back: see ``holdAnswers(from:marking:)``.
  public var unread: Int { unsent + gate.bytes }

  /// All bytes written so far.
  public var written: Int { handedOver + output.count }

  /// Whether the client reads so slowly that changes should be coalesced until ``onDrained``.
  public var isCongested: Bool {
    if unsent > limits.congestionBytes { wasCongested = true }
    return wasCongested
  }

  // MARK: - For the application

  /// Writes a notification; `params` writes the members of its params. It precedes later answers.
  public func notify(_ method: StaticString, _ params: (inout JSONWriter) -> Void) {
    guard ending == nil, framer.framing != nil else { return }
    let frame = beginFrame()
    output.append("{\"jsonrpc\":\"2.0\",\"method\":\"")
    output.append(method)
    output.append("\",\"params\":{")
    params(&output)
    output.append("}}")
    endFrame(frame)
  }

  // MARK: - Answers

  /// - Parameter waits: whether it may state changes not yet sent.
  func write(result: any JSONEncodable, id: RequestID, batch: Batch?, waits: Bool = true) {
    if let batch {
      let mark = batch.answers.count
      Self.append(result, id, to: &batch.answers)
      if batch.answers.count > limits.resultBytes {
        batch.answers.truncate(to: mark)
        Self.append(error: .resultTooLarge(limit: limits.resultBytes), id, to: &batch.answers)
      }
      return finish(batch)
    }
    guard ending == nil else { return }
    if waits, gate.isShut { return holdAnswer { append(result, id, to: &$0) } }
    let frame = beginFrame()
    append(result, id, to: &output)
    endFrame(frame)
  }

  /// Appends the result, or an error if it is too large.
  @inline(__always)
  private func append(_ result: any JSONEncodable, _ id: RequestID, to writer: inout JSONWriter) {
    let start = writer.count
    Self.append(result, id, to: &writer)
    guard writer.count - start > limits.resultBytes else { return }
    writer.truncate(to: start)
    Self.append(error: .resultTooLarge(limit: limits.resultBytes), id, to: &writer)
  }

  /// - Parameter waits: whether it comes from a handler, and so may state changes not yet sent.
  func write(error: RPCError, id: RequestID?, batch: Batch?, waits: Bool = false) {
    if let batch {
      Self.append(error: error, id, to: &batch.answers)
      return finish(batch)
    }
    guard ending == nil else { return }
    if waits, gate.isShut { return holdAnswer { Self.append(error: error, id, to: &$0) } }
    let frame = beginFrame()
    Self.append(error: error, id, to: &output)
    endFrame(frame)
  }

  @inline(__always)
  private static func append(_ result: any JSONEncodable, _ id: RequestID, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.append("\"jsonrpc\":\"2.0\",\"id\":")
    id.encode(to: &writer)
    writer.append(",\"result\":")
    result.encode(to: &writer)
    writer.append(byte: UInt8(ascii: "}"))
  }

  private static func append(error: RPCError, _ id: RequestID?, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.append("\"jsonrpc\":\"2.0\",\"id\":")
    if let id { id.encode(to: &writer) } else { writer.null() }
    writer.append(",\"error\":")
    error.encode(to: &writer)
    writer.endObject()
  }

  /// Gives the one answer of a deferred request, and removes it.
  func finish(_ pending: PendingReply, _ answer: (Session, PendingReply) -> Void) {
    turn {
      pending.markAnswered()
      if let id = pending.id, case .pending(let known)? = inFlight[id], known === pending {
        // In a batch the id stays taken until the array is written.
        inFlight[id] = pending.batch == nil ? nil : .answered
      }
      counters.pending -= 1
      answer(self, pending)
      if let id = pending.id { traceAnswer(pending.method, id, pending.params, since: pending.started) }
      pending.letGo()
    }
  }

  /// Counts one answer, or the end of the batch's own run; the last one writes the array.
  func finish(_ batch: Batch) {
    batch.remaining -= 1
    guard batch.remaining == 0 else { return }
    for id in batch.ids { inFlight[id] = nil }
    guard batch.answers.count > 1, ending == nil else { return }
    batch.answers.endArray()
    if gate.isShut { holdAnswer { $0.append(batch.answers.bytes) } } else { writeFrame(batch.answers.bytes) }
    for work in batch.afterwards { afterAnswers(work) }
  }

  // MARK: - Frames

  /// Leaves room for a header; returns the offset of the message.
  @inline(__always)
  private func beginFrame() -> Int {
    if framer.framing == .headers { output.append(Self.gap) }
    return output.count
  }

  @inline(__always)
  private func endFrame(_ start: Int) {
    counters.sent += 1
    if recorder != nil { record(.sent(UnsafeRawBufferPointer(rebasing: output.bytes[start...]), isLate: !isHandling)) }
    if framer.framing == .headers { closeHeader(start) } else { closeLine(start) }
    if turns == 0, !isOutputAnnounced { announceOutput() }
    checkUnread()
  }

  /// Writes a complete message.
  func writeFrame(_ body: UnsafeRawBufferPointer) {
    guard ending == nil else { return }
    let frame = beginFrame()
    output.append(body)
    endFrame(frame)
  }

  @inline(__always)
  func checkUnread() {
    if unread > limits.unreadBytes { giveUp() }
  }

  /// Writes the header before the message and closes the rest of the gap.
  private func closeHeader(_ start: Int) {
    var rest = output.count - start
    var digits = (0 as UInt64, 0 as UInt64)
    withUnsafeMutableBytes(of: &digits) { text in
      // "ddd\\r\
      // \\r\
      // ", from its end.
      var place = text.count
      for byte in [0x0A, 0x0D, 0x0A, 0x0D] as [UInt8] {
        place -= 1
        text[place] = byte
      }
      repeat {
        place -= 1
        text[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      } while rest > 0
      let head = start - Self.gap.utf8CodeUnitCount + 16
      output.overwrite(at: head, with: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(text)[place...]))
      output.close(gapAt: head + text.count - place, upTo: start)
    }
  }

  /// Replaces line ends within a message, which would end it: outside strings they are white space.
  private func closeLine(_ start: Int) {
    output.replace(0x0A, by: 0x20, from: start)
    output.append(byte: 0x0A)
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

  private func giveUp() {
    logger.critical("the client leaves \(unread) bytes unread: giving up")
    end(.atOnce(code: 1))
  }
}

extension Session {
  /// Writes a notification with encodable params.
  public func notify(_ method: StaticString, _ params: some JSONEncodable) {
    guard ending == nil, framer.framing != nil else { return }
    let frame = beginFrame()
    output.append("{\"jsonrpc\":\"2.0\",\"method\":\"")
    output.append(method)
    output.append("\",\"params\":")
    params.encode(to: &output)
    output.append(byte: UInt8(ascii: "}"))
    endFrame(frame)
  }
}
