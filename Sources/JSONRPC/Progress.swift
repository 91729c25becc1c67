// Reports on a long request: begin, report, end, never after the reply and never more than a client can bear.

import JSON

/// Progress under one token of the client's.
public final class Progress {
  /// Begin and eight reports in a second leave room for the end: ten a second at most.
  private static let interval: UInt64 = 120_000_000

  private unowned let session: Session
  private let token: RequestID
  private var hasBegun = false
  private var hasEnded = false
  private var last: UInt64 = 0

  /// nil when the client gave no token, or none that can be one.
  public convenience init?(token: JSONValue, session: Session) {
    guard let token = RequestID(token) else { return nil }
    self.init(token: token, session: session)
  }

  public init(token: RequestID, session: Session) {
    self.token = token
    self.session = session
  }

  /// Says what is going on. Only the first counts.
  public func begin(_ title: String) {
    guard !hasBegun, !hasEnded else { return }
    hasBegun = true
    last = session.loop.nanoseconds
    send("begin", title: title)
  }

  /// Says where it stands; left out when the last word was a moment ago.
  ///
  /// - Parameter percentage: 0...100.
  public func report(_ message: String? = nil, percentage: Double? = nil) {
    guard hasBegun, !hasEnded else { return }
    let now = session.loop.nanoseconds
    guard now - last >= Self.interval else { return }
    last = now
    send("report", message: message, percentage: percentage)
  }

  /// The last word. The reply says it by itself if nobody else did.
  public func end(_ message: String? = nil) {
    guard !hasEnded else { return }
    hasEnded = true
    if hasBegun { send("end", message: message) }
  }

  private func send(_ kind: StaticString, title: String? = nil, message: String? = nil, percentage: Double? = nil) {
    session.notify("$/progress") { writer in
      writer.key("token")
      writer.value(token)
      writer.key("value")
      writer.beginObject()
      writer.key("kind")
      writer.value(kind)
      if let title {
        writer.key("title")
        writer.value(title)
      }
      if let message {
        writer.key("message")
        writer.value(message)
      }
      if let percentage {
        writer.key("percentage")
        writer.value(percentage)
      }
      writer.endObject()
    }
  }
}
