// Progress notifications of a long request: begin, report, end; rate-limited, and never after the reply.

import JSON

/// Progress under one token of the client.
public final class Progress {
  package enum Kind: String { case begin, report, end }

  /// At most ten notifications a second: begin and eight reports leave room for the end.
  private static let interval: UInt64 = 120_000_000

  private unowned let session: Session
  private let token: RequestID
  private var hasBegun = false
  private var hasEnded = false
  private var last: UInt64 = 0

  /// Nil if the client gave no valid token.
  public convenience init?(token: JSONValue, session: Session) {
    guard let token = RequestID(token) else { return nil }
    self.init(token: token, session: session)
  }

  public init(token: RequestID, session: Session) {
    self.token = token
    self.session = session
  }

  /// Sends the title. Only the first call counts.
  public func begin(_ title: String) {
    guard !hasBegun, !hasEnded else { return }
    hasBegun = true
    last = session.loop.nanoseconds
    send(.begin, title: title, percentage: 0)
  }

  /// Sends the current state; dropped when the last report was sent too recently.
  ///
  /// - Parameter percentage: 0...100.
  public func report(_ message: String? = nil, percentage: Int? = nil) {
    guard hasBegun, !hasEnded else { return }
    let now = session.loop.nanoseconds
    guard now - last >= Self.interval else { return }
    last = now
    send(.report, message: message, percentage: percentage)
  }

  /// Sends the end. The reply does so if nothing else did.
  public func end(_ message: String? = nil) {
    guard !hasEnded else { return }
    hasEnded = true
    if hasBegun { send(.end, message: message) }
  }

  private func send(_ kind: Kind, title: String? = nil, message: String? = nil, percentage: Int? = nil) {
    session.notify("$/progress") { writer in
      writer.member("token", token)
      writer.key("value")
      writer.beginObject()
      writer.member("kind", kind.rawValue)
      writer.member("title", title)
      writer.member("message", message)
      writer.member("percentage", percentage)
      writer.endObject()
    }
  }
}
