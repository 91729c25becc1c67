// What was not understood when an object was read is put back in its place when it is written.

import GeoModel
import Geometry
import JSON

extension ForeignMembers.Object {
  /// The text of the object as it is now, with what newer versions know of it.
  ///
  /// - Parameter own: the object's text as this version writes it.
  func merged(with own: String) throws(JSONSyntaxError) -> String {
    var writer = JSONWriter(capacity: 1024)
    let (now, original, written) = (try JSONDocument(own), try JSONDocument(original), try JSONDocument(written))
    now.read { now in
      original.read { original in
        written.read { written in Self.merge(now, original, written, &writer) }
      }
    }
    return writer.string
  }

  /// - Parameters:
  ///   - original: the value as it was read.
  ///   - written: as it would have been written then.
  private static func merge(
    _ now: JSONValue, _ original: JSONValue, _ written: JSONValue, _ writer: inout JSONWriter
  ) {
    let isAsRead = written.isEqual(to: now)
    if original.isEqual(to: now) {
      now.encode(to: &writer)
    } else if now.kind == .object, original.kind == .object, written.kind == .object,
      now["type"].isEqual(to: written["type"])
    {
      mergeMembers(now, original, written, &writer)
    } else if isAsRead, now.kind == .array, original.kind == .array, now.count == original.count {
      writer.beginArray()
      for index in 0..<now.count { merge(now[index], original[index], written[index], &writer) }
      writer.endArray()
    } else if !isAsRead, let then = byName(original), let before = byName(written), byName(now) != nil {
      writer.beginArray()
      for index in 0..<now.count {
        let name = Text((try? now[index]["name"].string()) ?? "")
        if let original = then[name], let written = before[name] {
          merge(now[index], original, written, &writer)
        } else {
          now[index].encode(to: &writer)
        }
      }
      writer.endArray()
    } else {
      // It is what it was, or something else with nothing of it.
      (isAsRead ? original : now).encode(to: &writer)
    }
  }

  /// The elements of a list of which each has a name that no other has.
  private static func byName(_ list: JSONValue) -> [Text: JSONValue]? {
    guard list.kind == .array else { return nil }
    var result: [Text: JSONValue] = [:]
    for index in 0..<list.count {
      guard list[index].kind == .object, let name = try? list[index]["name"].string(),
        result.updateValue(list[index], forKey: Text(name)) == nil
      else { return nil }
    }
    return result
  }

  /// Its own members first, in their order, so that equal objects are written equally.
  private static func mergeMembers(
    _ now: JSONValue, _ original: JSONValue, _ written: JSONValue, _ writer: inout JSONWriter
  ) {
    writer.beginObject()
    now.forEachMember { name, value in
      writer.key(utf8: name)
      let text = String(decoding: name, as: UTF8.self)
      let old = original.member(text)
      if old.isPresent {
        merge(value, old, written.member(text), &writer)
      } else {
        value.encode(to: &writer)
      }
    }
    original.forEachMember { name, value in
      let text = String(decoding: name, as: UTF8.self)
      guard now.member(text).kind == .absent, written.member(text).kind == .absent else { return }
      writer.key(utf8: name)
      value.encode(to: &writer)
    }
    writer.endObject()
  }
}
