// The table of members of clients.

extension ConnectedClient {
  public static let members: [Member<ConnectedClient>] = [
    Member(.name) { $0.name },
    Member(.version) { $0.version },
    Member(.isReadOnly) { $0.isReadOnly },
    Member(.isEditing) { $0.isEditing },
    Member(.view) { $0.view },
    Member(.cursor) { $0.cursor.map { [$0.x, $0.y] } },
  ]
}
