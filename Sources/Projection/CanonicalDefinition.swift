// Normalizes the notations of references that clients use to the one that PROJ accepts.

import Geometry

/// Returns `AUTHORITY:CODE` in capitals for its notations; WKT and PROJJSON unchanged.
func canonicalDefinition(_ text: String) throws(TransformError) -> String {
  let trimmed = text.trimmingSpaces
  // The largest references of EPSG's database are some 20 KB as WKT.
  guard trimmed.utf8.count <= 262_144 else { throw refusal(text, "longer than 256 KiB") }
  guard !trimmed.utf8.contains(0) else { throw refusal(text, "a definition holds no NUL") }
  if trimmed.hasPrefix("{") { return trimmed }
  if let bracket = trimmed.utf8.firstIndex(of: UInt8(ascii: "[")) {
    // Requires a keyword before the bracket: a PROJ string may contain a bracket too.
    let isKeyword = trimmed.utf8[..<bracket].allSatisfy {
      (0x41...0x5A).contains($0 & 0xDF) || (0x30...0x39).contains($0) || $0 == 0x5F || $0 == 0x20
    }
    guard isKeyword, bracket != trimmed.startIndex else { throw refusal(text, "not a keyword of WKT before '['") }
    return trimmed
  }
  let lowered = trimmed.lowercased()
  let parts: [Substring]
  if lowered.hasPrefix("urn:ogc:def:crs:") || lowered.hasPrefix("urn:x-ogc:def:crs:") {
    // urn:ogc:def:crs:AUTHORITY:[VERSION]:CODE
    let pieces = trimmed.split(separator: ":", omittingEmptySubsequences: false)
    guard pieces.count == 7 else { throw refusal(text, "not urn:ogc:def:crs:AUTHORITY:VERSION:CODE") }
    parts = [pieces[4], pieces[6]]
  } else if let root = ogcRoots.first(where: { lowered.hasPrefix($0) }) {
    // Lowercased ASCII keeps its length.
    let pieces = trimmed.dropFirst(root.count).split(separator: "/", omittingEmptySubsequences: false)
    guard pieces.count == 3 else { throw refusal(text, "not .../def/crs/AUTHORITY/VERSION/CODE") }
    parts = [pieces[0], pieces[2]]
  } else {
    parts = trimmed.split(separator: ":", omittingEmptySubsequences: false)
  }
  let isName = { (part: Substring) in
    !part.isEmpty
      && part.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF) || $0 == 0x2E || $0 == 0x5F || $0 == 0x2B
          || $0 == 0x2D
      }
  }
  guard parts.count == 2, isName(parts[0]), isName(parts[1]) else {
    throw refusal(text, "neither AUTHORITY:CODE nor an OGC URN or URL nor WKT nor PROJJSON")
  }
  let name = "\(parts[0].uppercased()):\(parts[1].uppercased())"
  return name == "OGC:CRS84" || name == "CRS:84" ? SpatialReference.wgs84.definition : name
}

private let ogcRoots = ["http://www.opengis.net/def/crs/", "https://www.opengis.net/def/crs/"]

private func refusal(_ text: String, _ reason: String) -> TransformError {
  .unknownReference(text.utf8.count > 200 ? String(text.prefix(200)) + "..." : text, reason: reason)
}

extension String {
  fileprivate var trimmingSpaces: String {
    var text = self[...]
    while let first = text.first, first.isWhitespace { text.removeFirst() }
    while let last = text.last, last.isWhitespace { text.removeLast() }
    return String(text)
  }
}
