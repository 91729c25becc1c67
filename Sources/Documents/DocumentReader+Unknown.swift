// What a document has that this version would not write, newer members above all: kept for saving.

import GeoModel
import GeoProtocol
import JSON
import StateTree
import WireCoding

extension DocumentReader {
  /// Notes of every object what it has that would not be written.
  mutating func recordUnknownMembers() throws {
    let saved = SavedObjects(world: world, folder: folder)
    unknown.root = try Self.unknown(root.json, SavedObjects.root)
    for kind in SavedKinds.all { try record(kind, saved) }
  }

  private mutating func record<E: SavedKind>(_ kind: E.Type, _ saved: SavedObjects) throws {
    for object in saved.world[keyPath: E.registry].values {
      guard let json = objects[object.reference] else { continue }
      unknown.objects[object.reference] = try Self.unknown(json, object.saved(in: saved), occasional[object.reference])
    }
  }

  /// Nil where what was read is what would be written.
  ///
  /// - Parameter read: what was understood of it, where it has occasional members.
  private static func unknown(
    _ json: JSONValue, _ saved: some JSONEncodable, _ read: JSONOpaque? = nil
  ) throws -> UnknownMembers.Object? {
    var own = JSONWriter(capacity: 1024)
    var expected = JSONWriter(capacity: 1024)
    own.beginObject()
    expected.beginObject()
    let occasional = SavedObjects.occasional
    write(json, to: &own) { read != nil || !occasional.contains($0) }
    try JSONDocument(saved.jsonText).read { write($0, to: &expected) { read == nil || !occasional.contains($0) } }
    // They are compared with what this version makes of them, not with what would be written: that may be none, or of other data.
    if let read { try JSONDocument(read.jsonText).read { write($0, to: &expected, where: occasional.contains) } }
    own.endObject()
    expected.endObject()
    let (original, written) = (own.string, expected.string)
    let isSame = try JSONDocument(original).read { (original) throws(JSONSyntaxError) in
      try JSONDocument(written).read { written in original.isEqual(to: written) }
    }
    return isSame ? nil : UnknownMembers.Object(original: original, written: written)
  }

  /// Writes members of an object, but no lists of other objects.
  private static func write(_ object: JSONValue, to writer: inout JSONWriter, where isMeant: (String) -> Bool) {
    object.forEachMember { name, value in
      let text = String(decoding: name, as: UTF8.self)
      guard !SavedObjects.lists.contains(text), isMeant(text) else { return }
      writer.key(utf8: name)
      value.encode(to: &writer)
    }
  }
}
