// Round trips of bytes and text of every type, and hostile input.

import Geometry
import Testing

/// One of each type in each layout, including empty ones.
let samples: [Geometry] = {
  var all: [Geometry] = [
    .point(nil), .multiPoint(Positions()), .lineString(Positions()), .polygon([]), .multiPolygon([]),
    .multiLineString([]), .collection([]),
  ]
  for (hasZ, hasM) in [(false, false), (true, false), (false, true), (true, true)] {
    func run(_ xy: [(Double, Double)]) -> Positions {
      var run = Positions(hasZ: hasZ, hasM: hasM)
      for (index, (x, y)) in xy.enumerated() {
        run.append(Point(x: x, y: y, z: hasZ ? Double(index) + 0.1 : nil, m: hasM ? -Double(index) : nil))
      }
      return run
    }
    let ring = run([(0, 0), (10, 0), (10, 10), (0, 0)])
    let hole = run([(1, 0.5), (2, 0.5), (2, 1e-7), (1, 0.5)])
    all += [
      .point(run([(1.5, -2.25e300)])[0]), .lineString(run([(0, 0), (1, 1)])), .polygon([ring, hole]),
      .multiPoint(run([(1, 2), (3, 4)])), .multiLineString([ring, hole]), .multiPolygon([[ring, hole], [ring]]),
      .collection([.point(run([(1, 2)])[0]), .collection([.lineString(ring)])]),
    ]
  }
  return all
}()

private func bytes(_ hex: String) -> [UInt8] {
  let digits = hex.filter { $0 != " " }.compactMap(\.hexDigitValue)
  return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
}

private let hostileBytes: [(String, WKBError)] = [
  ("", .truncated(offset: 0, needed: 5)), ("02 00000001", .badByteOrder(offset: 0, value: 2)),
  ("00 00000001 3FF0000000000000", .truncated(offset: 5, needed: 8)),
  ("00 00000008 00000000", .unsupportedType(offset: 1, code: 8)),
  ("00 00000FA1 00000000", .unsupportedType(offset: 1, code: 4001)),
  ("00 00000002 FFFFFFFF", .truncated(offset: 9, needed: 0xFFFF_FFFF * 16)),
  ("00 00000003 FFFFFFFF", .truncated(offset: 9, needed: 0xFFFF_FFFF * 4)),
  ("00 00000004 FFFFFFFF", .truncated(offset: 9, needed: 0xFFFF_FFFF * 21)),
  ("00 00000007 7FFFFFFF 00", .truncated(offset: 9, needed: 0x7FFF_FFFF * 9 - 1)),
  ("00 00000002 00000000 00", .trailingBytes(offset: 9)),
  ("00 00000005 00000001 00 00000001 00000000", .unexpectedMember(offset: 9, code: 1)),
  (
    "00 00000004 00000001 00 000003E9 3FF0000000000000 3FF0000000000000 3FF0000000000000",
    .unexpectedMember(offset: 9, code: 1001)
  ),
]

@Suite struct `WKB there and back` {
  @Test(arguments: samples) func `every geometry is read back from its bytes`(geometry: Geometry) throws {
    #expect(try Geometry(wkb: geometry.wkb()) == geometry)
  }

  @Test func `both byte orders, ISO's codes and PostGIS's flags are read`() throws {
    let x = "3FF0000000000000"
    let y = "4000000000000000"
    let z = "4008000000000000"
    #expect(try Geometry(wkb: bytes("00 00000001 \(x) \(y)")) == .point(Point(x: 1, y: 2)))
    #expect(try Geometry(wkb: bytes("01 01000000 000000000000F03F 0000000000000040")) == .point(Point(x: 1, y: 2)))
    #expect(try Geometry(wkb: bytes("00 000003E9 \(x) \(y) \(z)")) == .point(Point(x: 1, y: 2, z: 3)))
    #expect(try Geometry(wkb: bytes("00 000007D1 \(x) \(y) \(z)")) == .point(Point(x: 1, y: 2, m: 3)))
    #expect(try Geometry(wkb: bytes("00 80000001 \(x) \(y) \(z)")) == .point(Point(x: 1, y: 2, z: 3)))
    #expect(try Geometry(wkb: bytes("00 60000001 000010E6 \(x) \(y) \(z)")) == .point(Point(x: 1, y: 2, m: 3)))
    // A member in the other byte order than its parent.
    #expect(
      try Geometry(wkb: bytes("01 04000000 01000000 00 00000001 \(x) \(y)")) == .multiPoint(Positions(values: [1, 2])))
  }

  @Test(arguments: hostileBytes) func `an invalid geometry is reported with its offset`(hex: String, error: WKBError) {
    #expect(throws: error) { try Geometry(wkb: bytes(hex)) }
  }

  @Test func `collections nest only so deep`() throws {
    func nested(_ depth: Int) -> [UInt8] {
      (1..<depth).flatMap { _ in bytes("00 00000007 00000001") } + bytes("00 00000007 00000000")
    }
    #expect(throws: Never.self) { try Geometry(wkb: nested(Geometry.maximumDepth)) }
    #expect(throws: WKBError.tooDeep(offset: Geometry.maximumDepth * 9)) { try Geometry(wkb: nested(100_000)) }
  }

  /// Truncates and changes each byte of each sample: an error or a geometry, never a trap.
  @Test func `no bytes trap`() {
    for geometry in samples {
      let whole = geometry.wkb()
      for cut in 0..<whole.count { #expect(throws: WKBError.self) { try Geometry(wkb: Array(whole[..<cut])) } }
      for index in whole.indices {
        for value: UInt8 in [0, 1, 0x7F, 0x80, 0xFF] {
          var changed = whole
          changed[index] = value
          _ = try? Geometry(wkb: changed)
        }
      }
    }
  }
}

@Suite struct `WKT there and back` {
  @Test(arguments: samples) func `every geometry is read back from its text`(geometry: Geometry) throws {
    #expect(try Geometry(wkt: geometry.wkt) == geometry)
  }

  @Test(arguments: [
    ("POINT Z (1 2 3)", Geometry.point(Point(x: 1, y: 2, z: 3))), ("POINT EMPTY", .point(nil)),
    ("point m(1 2 3)", .point(Point(x: 1, y: 2, m: 3))),
    ("POINTZM(1 2 3 4)", .point(Point(x: 1, y: 2, z: 3, m: 4))),
    (" Point ( 1\t-2.5e-3 ) ", .point(Point(x: 1, y: -0.0025))),
    ("POINT (1 2 3)", .point(Point(x: 1, y: 2, z: 3))), ("POINT Z EMPTY", .point(nil)),
    ("MULTIPOINT ((1 2),(3 4))", .multiPoint(Positions(values: [1, 2, 3, 4]))),
    ("MULTIPOINT (1 2, 3 4)", .multiPoint(Positions(values: [1, 2, 3, 4]))),
    ("LINESTRING(0 0,1 1)", .lineString(Positions(values: [0, 0, 1, 1]))),
    ("POLYGON((0 0,1 0,1 1,0 0))", .polygon([Positions(values: [0, 0, 1, 0, 1, 1, 0, 0])])),
    (
      "GEOMETRYCOLLECTION (POINT (1 2), LINESTRING EMPTY)",
      .collection([.point(Point(x: 1, y: 2)), .lineString(Positions())])
    ),
  ]) func `all notations are read`(text: String, geometry: Geometry) throws {
    #expect(try Geometry(wkt: text) == geometry)
  }

  @Test func `text is written in the usual notation`() {
    #expect(Geometry.point(Point(x: 1, y: 2.5, z: 3)).wkt == "POINT Z (1 2.5 3)")
    #expect(Geometry.multiPoint(Positions(values: [1, 2, 3, 4])).wkt == "MULTIPOINT ((1 2), (3 4))")
    #expect(Geometry.polygon([Positions(values: [0, 0, 1, 0, 1, 1, 0, 0])]).wkt == "POLYGON ((0 0, 1 0, 1 1, 0 0))")
    #expect(Geometry.collection([.point(nil)]).wkt == "GEOMETRYCOLLECTION (POINT EMPTY)")
  }

  @Test(arguments: [
    ("", 1, "one of"), ("CIRCLE (1 2)", 1, "one of"), ("POINT (1)", 9, "a number"), ("POINT (1 2", 11, "')'"),
    ("POINT (1 2) x", 13, "the end"), ("POINT Q (1 2)", 6, "Z, M, ZM"), ("POINT Z (1 2)", 13, "3 numbers"),
    ("LINESTRING (1 2, 3)", 19, "a number"), ("LINESTRING (1 2, 3 4 5)", 23, "2 numbers"),
    ("POINT (inf 2)", 8, "a number"),
    ("POINT (0x1 2)", 8, "a number"), ("POINT (nan 2)", 8, "a number"), ("MULTIPOINT (1 2) 3", 18, "the end"),
    ("POINT 1 2", 7, "'('"),
  ]) func `a fault is reported with its column`(text: String, column: Int, expected: String) throws {
    let error = try #require(throws: WKTError.self) { try Geometry(wkt: text) }
    #expect(error.column == column && error.expected.contains(expected))
  }

  @Test func `collections nest only so deep`() {
    let deep = String(repeating: "GEOMETRYCOLLECTION (", count: 100_000)
    #expect(throws: WKTError.self) { try Geometry(wkt: deep) }
  }
}
