// Input: bytes become messages in order, however they arrive and wherever they are parsed.

import JSON

extension Session {
  /// Whether the transport should continue to read. False only while a message is parsed off the loop, or the input is held back,
  /// with too much input after it.
  public var wantsInput: Bool { !isWaiting || backlog.count <= limits.backlogBytes }

  private var isWaiting: Bool { isParsing || isInputHeld }

  /// Takes input, runs complete messages and keeps the rest.
  public func receive(_ bytes: UnsafeRawBufferPointer) {
    guard ending == nil, !inputEnded else { return }
    turn {
      guard backlog.isEmpty, !isWaiting else {
        backlog.append(bytes)
        return drainBacklog()
      }
      if phase == .initialized, framer.isBetweenMessages { onInput?() }
      // Most reads end with a message and are never copied.
      let (consumed, large) = run(bytes)
      streamPosition += consumed
      if let large {
        parseAside(Array(bytes[large.range]), large.moved(to: 0), at: streamPosition - large.range.count)
      }
      backlog.reserve(framer.wanted)
      if consumed < bytes.count { backlog.append(UnsafeRawBufferPointer(rebasing: bytes[consumed...])) }
      scanWhileWaiting()
    }
  }

  /// Bytes that are missing of a message whose headers have come.
  public var missingBytes: Int { isWaiting || ending != nil || inputEnded ? 0 : max(0, framer.wanted - backlog.count) }

  /// Takes missing bytes from where they are read to where they stay: copying a large message takes as long as reading it.
  ///
  /// - Parameter read: returns the number of bytes read, or less than one.
  /// - Returns: the same.
  public func receiveMissing(_ read: (UnsafeMutableRawBufferPointer) -> Int) -> Int {
    let count = backlog.append(upTo: missingBytes, read)
    if count > 0, missingBytes == 0 { turn { drainBacklog() } }
    return count
  }

  public var hasInputEnded: Bool { inputEnded }

  /// Holds back the input after the message that is being run, except for `$/cancelRequest`, until ``releaseInput()``.
  public func holdInput() { isInputHeld = true }

  /// Runs the input that was held back.
  public func releaseInput() {
    guard isInputHeld else { return }
    isInputHeld = false
    turn {
      drainBacklog()
      if inputEnded { finishInput() }
    }
    onOutput?()
  }

  private func scanWhileWaiting() {
    guard isWaiting else { return }
    if isInputHeld, cancelScan?.isBehind(streamPosition) ?? true {
      cancelScan = CancelScan(framer: framer, from: streamPosition)
    }
    scanForCancels()
  }

  /// Ends the input. Requests in flight are answered, those that take too long as cancelled, then the session ends.
  public func endOfInput() {
    guard ending == nil, !inputEnded else { return }
    turn {
      inputEnded = true
      finishInput()
      if isInputHeld { leaveUnread(accepted: accepted) }
    }
  }

  private func drainBacklog() {
    while !isWaiting, ending == nil, !backlog.isEmpty {
      var held = InputBuffer()
      swap(&held, &backlog)
      let (consumed, large) = held.withBytes { run($0) }
      streamPosition += consumed
      if let large {
        // The text is handed over, not copied; little follows it.
        backlog = held.split(at: consumed)
        let (text, start) = held.handOver(large.range)
        parseAside(text, large.moved(to: start), at: streamPosition - large.range.count)
      } else {
        held.consume(consumed)
        backlog = held
        break
      }
    }
    scanWhileWaiting()
  }

  /// Runs complete messages, up to a large one, which has to be parsed first.
  private func run(_ bytes: UnsafeRawBufferPointer) -> (consumed: Int, large: Message?) {
    var position = 0
    while ending == nil {
      let (start, skipped) = (position, framer.skipped)
      let step = framer.next(in: bytes, at: &position)
      if recorder != nil { record(step, bytes, start..<position, skipped: framer.skipped - skipped) }
      switch step {
      case .message(let range, let attached):
        let message = Message(range: range, attached: attached)
        if range.count > limits.inlineParseBytes { return (position, message) }
        let attachments = attached == 0 ? nil : MessageAttachments(Array(bytes[message.attachments]), 0..<attached)
        let text = UnsafeRawBufferPointer(rebasing: bytes[message.text])
        take(text, attachments, Self.parse(text, attachments, limits.values), at: streamPosition + range.lowerBound)
      case .needsMore: return (position, nil)
      case .tooLarge(let beginning):
        counters.received += 1
        refuseLarge(UnsafeRawBufferPointer(rebasing: bytes[beginning]))
      case .lost(let reason): lose(reason)
      }
      if output.count > 1 << 20 { onOutput?() }
      if isInputHeld { return (position, nil) }
    }
    return (bytes.count, nil)
  }

  private func lose(_ reason: String) {
    write(error: .framing(reason), id: nil, batch: nil)
    logger.error("no message can be found in the input: \(reason)")
    end(.afterWriting(code: 2, grace: 2_000_000_000))
  }

  private static func parse(
    _ text: UnsafeRawBufferPointer, _ attachments: MessageAttachments?, _ maximum: Int
  ) -> Result<JSONDocument, UnreadableText> {
    do { return .success(try JSONDocument(text, maximum: maximum, attachments: attachments)) } catch {
      return .failure(UnreadableText(error, text))
    }
  }

  private func take(
    _ text: UnsafeRawBufferPointer, _ attachments: MessageAttachments?, _ parsed: Result<JSONDocument, UnreadableText>, at position: Int,
    isCancelled: Bool = false
  ) {
    counters.received += 1
    recordArrival(text, attachments, at: position)
    isHandling = true
    switch parsed {
    case _ where isCancelled: break
    case .success(let document): handle(document, text, at: position)
    case .failure(let unreadable): refuse(unreadable)
    }
    isHandling = false
    if let cancelScan, cancelScan.isBehind(position) { self.cancelScan = nil }
  }

  // MARK: - Off the loop

  /// Parses a large message on another thread; input after it waits, except for `$/cancelRequest`.
  private func parseAside(_ bytes: [UInt8], _ message: Message, at position: Int) {
    isParsing = true
    parsedBeginning = Array(bytes[message.text].prefix(Framer.beginningBytes))
    let attachments = message.attached == 0 ? nil : MessageAttachments(bytes, message.attachments)
    bytes.withUnsafeBytes { recordArrival(UnsafeRawBufferPointer(rebasing: $0[message.text]), attachments, at: position) }
    if cancelScan?.isBehind(position) ?? true { cancelScan = CancelScan(framer: framer, from: position + message.range.count) }
    let values = limits.values
    let bound = LoopBound(self, on: loop)
    let loop = loop
    loop.offload(to: .parsing) {
      let parsed = bytes.withUnsafeBytes { Self.parse(UnsafeRawBufferPointer(rebasing: $0[message.text]), attachments, values) }
      loop.execute { bound.value.parsedAside(bytes, message, attachments, parsed, at: position) }
    }
  }

  private func parsedAside(
    _ bytes: [UInt8], _ message: Message, _ attachments: MessageAttachments?, _ parsed: Result<JSONDocument, UnreadableText>,
    at position: Int
  ) {
    guard ending == nil else { return }
    turn {
      isParsing = false
      bytes.withUnsafeBytes {
        take(UnsafeRawBufferPointer(rebasing: $0[message.text]), attachments, parsed, at: position, isCancelled: parsedBeginning.isEmpty)
      }
      parsedBeginning = []
      // Freeing a large document takes long too.
      loop.offload(to: .parsing) { withExtendedLifetime(parsed) {} }
      drainBacklog()
      if inputEnded { finishInput() }
    }
    // The transport may have stopped reading, and there may be no output.
    onOutput?()
  }

  // MARK: - The end

  /// Handles the rest of the input: a last line without its end, or a truncated message.
  private func finishInput() {
    guard !isWaiting, ending == nil, !hasEndedInput else { return }
    var held = InputBuffer()
    swap(&held, &backlog)
    held.withBytes { bytes in
      var position = 0
      switch framer.last(in: bytes, at: &position) {
      case .message(let range, _):
        let text = UnsafeRawBufferPointer(rebasing: bytes[range])
        take(text, nil, Self.parse(text, nil, limits.values), at: streamPosition)
        if ending == nil { record(.inputEnded) }
      case .lost(let reason):
        recordUnframed(bytes[...])
        record(.inputEnded)
        lose(reason)
      case .needsMore, .tooLarge: record(.inputEnded)
      }
    }
    guard ending == nil else { return }
    hasEndedInput = true
    lifecycle.endOfInput()
    leaveUnread(accepted: accepted)
  }

  /// Some time after the end of input cancels what still runs, and gives up a client that has read nothing meanwhile. One that reads, however
  /// slowly, gets everything.
  private func leaveUnread(accepted before: Int) {
    // Of several clients' sessions those that have ended shall not stay for the time.
    let bound = LoopBound(WeakSession(session: self), on: loop)
    loop.schedule(after: limits.exitNanoseconds) {
      guard let session = bound.value.session, !session.isClosed else { return }
      if session.unsent > 0, session.accepted == before { return session.giveUp() }
      session.turn { session.cancelAll() }
      session.leaveUnread(accepted: session.accepted)
    }
  }

  /// Ends the session once the input has ended and everything is answered.
  func finishEndOfInput() {
    guard hasEndedInput, ending == nil, counters.pending == 0, gate.isEmpty, hasMore?() != true else { return }
    end(.afterWriting(code: 0, grace: nil))
  }
}

/// Where a message is in the bytes that have been read.
private struct Message: Sendable {
  let range: Range<Int>
  /// How many bytes at its end follow its text.
  let attached: Int

  var text: Range<Int> { range.lowerBound..<(range.upperBound - attached) }
  var attachments: Range<Int> { (range.upperBound - attached)..<range.upperBound }

  func moved(to start: Int) -> Message { Message(range: start..<(start + range.count), attached: attached) }
}

private struct WeakSession {
  weak var session: Session?
}
