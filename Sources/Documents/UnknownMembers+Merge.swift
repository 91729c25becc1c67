// Merges the unknown members of an object, kept when it was read, into its text when it is written.

import GeoModel
import Geometry
import JSON

extension UnknownMembers.Object {
  /// The object's current text with its unknown members.
  ///
  /// - Parameter own: the object's current text as this version writes it.
  package func merged(with own: String) throws(JSONSyntaxError) -> String {
    var writer = JSONWriter(capacity: 1024)
    let (now, original, written) = (try JSONDocument(own), try JSONDocument(original), try JSONDocument(written))
    now.read { now in
      original.read { original in
        written.read { written in Self.mergeMembers(now, original, written, &writer) }
      }
    }
    return writer.string
  }

  /// A three-way merge: values that have not changed since the document was read keep their original text.
  ///
  /// - Parameters:
  ///   - now: the current value.
  ///   - original: the value as it was read.
  ///   - written: what this version would have written for `original`, without unknown members.
  private static func merge(
    _ now: JSONValue, _ original: JSONValue, _ written: JSONValue, _ writer: inout JSONWriter
  ) {
    let isUnchanged = written.isEqual(to: now)
    if original.isEqual(to: now) {
      now.encode(to: &writer)
    } else if now.kind == .object, original.kind == .object, written.kind == .object,
      now["type"].isEqual(to: written["type"]), isUnderstood(original, as: written)
    {
      mergeMembers(now, original, written, &writer)
    } else if isUnchanged, now.kind == .array, original.kind == .array, now.count == original.count {
      writer.array(0..<now.count) { merge(now[$0], original[$0], written[$0], &$1) }
    } else if !isUnchanged, let originals = byName(original), let writtens = byName(written), byName(now) != nil {
      writer.array(0..<now.count) { index, writer in
        let name = Text((try? now[index]["name"].string()) ?? "")
        if let original = originals[name], let written = writtens[name] {
          merge(now[index], original, written, &writer)
        } else {
          now[index].encode(to: &writer)
        }
      }
    } else {
      // An unchanged value keeps its original text as a whole: if the value was left out as invalid, merging its members would
      // change the current value. A changed value without a counterpart has no unknown members.
      (isUnchanged ? original : now).encode(to: &writer)
    }
  }

  /// Whether a value means the same as the text that this version would write for it, apart from unknown members.
  private static func isUnderstood(_ original: JSONValue, as written: JSONValue) -> Bool {
    switch (original.kind, written.kind) {
    case (.object, .object):
      return original.members.allSatisfy { name, value in
        let counterpart = written.member(name)
        return !counterpart.isPresent || isUnderstood(value, as: counterpart)
      }
    case (.array, .array):
      return original.count == written.count
        && (0..<original.count).allSatisfy { isUnderstood(original[$0], as: written[$0]) }
    default: return original.isEqual(to: written)
    }
  }

  /// The elements of a list by their `name`; nil unless all elements are objects with distinct names.
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

  /// Writes known members first, in this version's order, so that equal objects have equal text; unknown members follow.
  private static func mergeMembers(
    _ now: JSONValue, _ original: JSONValue, _ written: JSONValue, _ writer: inout JSONWriter
  ) {
    writer.beginObject()
    for (name, value) in now.members {
      writer.key(name)
      let old = original.member(name)
      if old.isPresent {
        merge(value, old, written.member(name), &writer)
      } else {
        value.encode(to: &writer)
      }
    }
    for (name, value) in original.members
    where now.member(name).kind == .absent && written.member(name).kind == .absent {
      writer.key(name)
      value.encode(to: &writer)
    }
    writer.endObject()
  }
}
