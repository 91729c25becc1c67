// Geometries in both forms: what is accepted is written in a form that is read as the same geometry.

import Geometry

/// All types, with and without Z and M, empty ones and nested ones.
private let texts = [
  "POINT (1 2)", "POINT Z (1 2 3)", "POINT M (1 2 3)", "POINT ZM (1 2 3 4)", "POINT EMPTY", "POINT (-1.5e10 2.25E-3)",
  "LINESTRING (0 0, 1 1, 2 0)", "LINESTRING Z (0 0 1, 1 1 NaN)", "LINESTRING EMPTY",
  "POLYGON ((0 0, 4 0, 4 4, 0 0), (1 1, 2 1, 2 2, 1 1))", "POLYGON EMPTY", "POLYGON (EMPTY, (0 0, 1 0, 1 1, 0 0))",
  "MULTIPOINT ((1 2), (3 4))", "MULTIPOINT (1 2, 3 4)", "MULTIPOINT EMPTY", "MULTIPOINT M (1 2 3, 4 5 6)",
  "MULTILINESTRING ((0 0, 1 1), (2 2, 3 3), EMPTY)", "MULTILINESTRING EMPTY",
  "MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)), ((5 5, 6 5, 6 6, 5 5), (5.1 5.1, 5.2 5.1, 5.2 5.2, 5.1 5.1)))",
  "MULTIPOLYGON EMPTY", "GEOMETRYCOLLECTION (POINT (1 2), LINESTRING Z (0 0 1, 1 1 2), GEOMETRYCOLLECTION EMPTY)",
  "GEOMETRYCOLLECTION EMPTY", "point z (1 2 3)", "POINT (1 2 3 4)",
]

extension FuzzTarget {
  static let wkb = FuzzTarget(
    name: "wkb",
    seeds: {
      // EWKB with an SRID, and a line whose bytes are in the other order.
      let extended: [UInt8] = [1, 1, 0, 0, 0x20, 0xE6, 0x10, 0, 0] + [UInt8](repeating: 0, count: 16)
      let swapped: [UInt8] = [0, 0, 0, 0, 2, 0, 0, 0, 2] + [UInt8](repeating: 0x3F, count: 32)
      return try texts.map { try Geometry(wkt: $0).wkb() } + [extended, swapped]
    },
    run: { (input) throws(Broken) in
      let geometry: Geometry
      do throws(WKBError) { geometry = try Geometry(wkb: input) } catch { return }
      try checkWKB(geometry)
      guard geometry.fault == nil else { return }
      try checkWKT(geometry)
    })

  static let wkt = FuzzTarget(
    name: "wkt",
    words: [
      "POINT", "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON", "GEOMETRYCOLLECTION", "EMPTY",
      " Z ", " M ", " ZM ", "NaN", "((", "))", "1e-7",
    ],
    seeds: { try texts.map { Array($0.utf8) } + Seeds.texts().filter { $0.contains("(") }.map { Array($0.utf8) } },
    run: { (input) throws(Broken) in
      let text = String(decoding: input, as: UTF8.self)
      let geometry: Geometry
      do throws(WKTError) { geometry = try Geometry(wkt: text) } catch {
        return try check((1...text.utf8.count + 1).contains(error.column), "an error at \(error.column)")
      }
      try checkWKT(geometry)
      try checkWKB(geometry)
    })
}

private func checkWKB(_ geometry: Geometry) throws(Broken) {
  let bytes = geometry.wkb()
  let again = try accepted("WKB that was written is refused") { () throws(WKBError) in try Geometry(wkb: bytes) }
  // Bytes are compared: a missing Z is NaN.
  try check(again.wkb() == bytes, "\(geometry) is read as \(again)")
  try check(again.envelope == geometry.envelope, "of \(geometry): \(String(describing: geometry.envelope))")
  try check(again.isEmpty == geometry.isEmpty && again.fault == geometry.fault, "\(geometry)")
  let planar = try accepted("planar WKB is refused") { () throws(WKBError) in
    try Geometry(wkb: geometry.planarWKB())
  }
  try check(!planar.hasM && planar.isEmpty == geometry.isEmpty, "\(geometry) is planar as \(planar)")
}

private func checkWKT(_ geometry: Geometry) throws(Broken) {
  let text = geometry.wkt
  let again = try accepted("WKT that was written is refused, \(text)") { () throws(WKTError) in
    try Geometry(wkt: text)
  }
  // Texts are compared: the bits of a NaN are not written.
  try check(again.wkt == text && again.envelope == geometry.envelope, "\(geometry) is read as \(again)")
}
