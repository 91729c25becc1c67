// Keeps the parts of a document that this version would not write, mainly members from newer versions, for saving.

import GeoModel
import GeoProtocol
import JSON

extension DocumentReader {
  /// Keeps, for each object, the members that would not be written.
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

  /// The unknown members of an object; nil if the text that was read is the one that would be written.
  ///
  /// - Parameter read: the understood members of an object with occasional members.
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
    // Occasional members are compared with their understood form, not with the text that would be written: that may lack them or
    // have other data.
    if let read { try JSONDocument(read.jsonText).read { write($0, to: &expected, where: occasional.contains) } }
    own.endObject()
    expected.endObject()
    let (original, written) = (own.string, expected.string)
    let isSame = try JSONDocument(original).read { (original) throws(JSONSyntaxError) in
      try JSONDocument(written).read { written in original.isEqual(to: written) }
    }
    return isSame ? nil : UnknownMembers.Object(original: original, written: written)
  }

  /// Writes members of an object, without lists of other objects.
  private static func write(_ object: JSONValue, to writer: inout JSONWriter, where isMeant: (String) -> Bool) {
    for (name, value) in object.members where !SavedObjects.lists.contains(name) && isMeant(name) {
      writer.key(name)
      value.encode(to: &writer)
    }
  }
}
