// The ways that clients write a reference, brought to the few that PROJ is asked with.

import Geometry

/// `AUTHORITY:CODE` in capitals for every way to write one; WKT and PROJJSON as they are.
func canonicalDefinition(_ text: String) throws(TransformError) -> String {
  let trimmed = text.trimmingSpaces
  // The largest references of EPSG's database are some 20 KB as WKT.
  guard trimmed.utf8.count <= 262_144 else { throw refusal(text, "longer than 256 KiB") }
  if trimmed.hasPrefix("{") || trimmed.contains("[") { return trimmed }
  let lowered = trimmed.lowercased()
  let parts: [Substring]
  if lowered.hasPrefix("urn:ogc:def:crs:") || lowered.hasPrefix("urn:x-ogc:def:crs:") {
    // urn:ogc:def:crs:AUTHORITY:[VERSION]:CODE
    let pieces = trimmed.split(separator: ":", omittingEmptySubsequences: false)
    guard pieces.count == 7 else { throw refusal(text, "not urn:ogc:def:crs:AUTHORITY:VERSION:CODE") }
    parts = [pieces[4], pieces[6]]
  } else if let range = lowered.firstRange(of: "://www.opengis.net/def/crs/") {
    guard lowered[..<range.lowerBound] == "http" || lowered[..<range.lowerBound] == "https" else {
      throw refusal(text, "not http://www.opengis.net/def/crs/AUTHORITY/VERSION/CODE")
    }
    // Lowered ASCII is as long as it was.
    let pieces = trimmed.dropFirst(lowered.distance(from: lowered.startIndex, to: range.upperBound))
      .split(separator: "/", omittingEmptySubsequences: false)
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
