// Clients as objects: who is connected, and what each shows where. The host makes and removes them.

import Geometry

/// The number of a client, which no other gets.
public struct ClientNumber: Hashable, Sendable {
  let rawValue: Int32
  public init(_ rawValue: Int32) { self.rawValue = rawValue }
  /// Its id as an object.
  public var id: ConnectedClientID { ConnectedClientID("c\(rawValue)") }
}

/// A client that has begun its session.
public struct ConnectedClient: Entity {
  public static let isIndexed = false
  public let id: ConnectedClientID
  public var revision = 0
  public let name: String?
  public let version: String?
  public let isReadOnly: Bool
  /// Whether it has begun the open edit.
  var isEditing = false
  /// The view that it shows to its user.
  var view: ViewID?
  /// Longitude and latitude in degrees on WGS 84, where its user points.
  var cursor: Point?

  public init(id: ConnectedClientID, name: String?, version: String?, isReadOnly: Bool) {
    (self.id, self.name, self.version, self.isReadOnly) = (id, name, version, isReadOnly)
  }

  public func undone(from current: ConnectedClient) -> ConnectedClient { current }
}

/// What a client says of itself.
public struct Presence: Sendable {
  public var view: ViewID?
  public var cursor: Point?
  public var clearsView = false
  public var clearsCursor = false

  public init() {}
}

extension World {
  public mutating func join(_ client: ConnectedClient) { insert(client) }

  /// Adds the only client, outside of a command and without a change: nobody is there to see it.
  public mutating func add(_ client: ConnectedClient) { clients.insert(client, at: makeNumber()) }

  public mutating func leave(_ client: ConnectedClientID) { remove(client) }

  /// Sets what the client of the current command shows where.
  public mutating func present(_ presence: Presence) throws(ModelError) -> ConnectedClientID {
    let own = author?.id ?? clients.ids.first
    guard let own else { throw .unknownID(.clients, "") }
    if let view = presence.view { _ = try views.require(view) }
    try change(own) { (client) throws(ModelError) in
      client.view = presence.clearsView ? nil : presence.view ?? client.view
      client.cursor = presence.clearsCursor ? nil : presence.cursor ?? client.cursor
    }
    return own
  }

  /// The client that has begun the open edit; nil if there is none, or one has the model alone.
  public var editor: ConnectedClient? { (history.edit?.author?.id).flatMap { clients[$0] } }

  mutating func showEditing(_ isEditing: Bool, by client: ClientNumber?) {
    if let client { changeKnown(client.id) { $0.isEditing = isEditing } }
  }
}
