// Normalizes the notations of references that clients use to the one that PROJ accepts.

import Geometry

/// Returns `AUTHORITY:CODE` in capitals for its notations; WKT, PROJJSON and PROJ strings unchanged, but for `+type=crs`.
func canonicalDefinition(_ text: String) throws(TransformError) -> String {
  let trimmed = text.trimmingSpaces
  // The largest references of EPSG's database are some 20 KB as WKT.
  guard trimmed.utf8.count <= 262_144 else { throw refusal(text, "longer than 256 KiB") }
  guard !trimmed.utf8.contains(0) else { throw refusal(text, "a definition holds no NUL") }
  if trimmed.hasPrefix("{") { return trimmed }
  if trimmed.hasPrefix("+") { return try projString(trimmed) }
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
    throw refusal(text, "neither AUTHORITY:CODE nor an OGC URN or URL nor WKT nor PROJJSON nor a PROJ string")
  }
  let name = "\(parts[0].uppercased()):\(parts[1].uppercased())"
  return name == "OGC:CRS84" || name == "CRS:84" ? SpatialReference.wgs84.definition : name
}

/// A PROJ string with known parameters of references only: others name files, or make pipelines.
private func projString(_ text: String) throws(TransformError) -> String {
  var names: Set<Substring> = []
  for word in text.split(whereSeparator: \.isWhitespace) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard word.hasPrefix("+"), let name = parts.first?.dropFirst(), projParameters.contains(String(name)) else {
      throw refusal(text, "a PROJ string with \"\(word)\", which is no parameter of a reference")
    }
    let value = parts.count > 1 ? parts[1] : ""
    guard name != "type" || value == "crs", name != "proj" || value != "pipeline", name != "nadgrids" || value == "@null" else {
      throw refusal(text, "a PROJ string with \"\(word)\", which is none of a reference")
    }
    names.insert(name)
  }
  guard names.contains("proj") else { throw refusal(text, "a PROJ string without +proj") }
  return names.contains("type") ? text : text + " +type=crs"
}

/// Source: the parameters of PROJ's manual, "Ellipsoids", "Units", "Cartographic projection", and those of its projections.
private let projParameters = Set(
  """
  proj datum ellps a b rf f es R R_A R_V R_a R_g R_h R_lat_a R_lat_g lat_0 lat_1 lat_2 lat_3 lat_b lat_ts lon_0 lon_1 lon_2 lon_3 lonc
  alpha gamma azi tilt h k k_0 x_0 y_0 z_0 zone south units to_meter vunits vto_meter pm axis towgs84 nadgrids no_defs type wktext over W M
  m n q theta sweep no_cut no_off no_rot no_uoff ns guam rot o_proj o_lat_p o_lon_p o_alpha o_lon_c o_lat_c o_lon_1 o_lat_1 o_lon_2
  o_lat_2 orient mode aperture resolution north_square south_square lon_wrap approx algo hyperbolic bounded czech
  """.split(whereSeparator: \.isWhitespace).map(String.init))

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
