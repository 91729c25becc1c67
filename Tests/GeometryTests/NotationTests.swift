// Texts of places against GeographicLib's, and what is read of texts.

import Foundation
import Geometry
import GridReferences
import Testing

/// A line of `grid-references.tsv`, which GeographicLib made.
private struct Known {
  let point: Point
  let (zone, isNorth): (Int, Bool)
  let metres: SIMD2<Double>
  let (mgrs, georef, gars): (String, String, String)

  static let all: [Known] = {
    let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Fixtures/grid-references.tsv")
    let text = (try? String(contentsOf: url, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      guard fields.count == 9, let y = Double(fields[0]), let x = Double(fields[1]), let zone = Int(fields[2]),
        let easting = Double(fields[4]), let northing = Double(fields[5])
      else { return nil }
      return Known(
        point: Point(x: x, y: y), zone: zone, isNorth: fields[3] == "N", metres: SIMD2(easting, northing), mgrs: fields[6],
        georef: fields[7], gars: fields[8])
    }
  }()
}

/// The first `digits` of each of two coordinates at the end of a text.
private func shortened(_ text: String, head: Int, to digits: Int) -> String {
  let half = (text.count - head) / 2
  return String(text.prefix(head)) + text.dropFirst(head).prefix(digits) + text.suffix(half).prefix(digits)
}

struct NotationTests {
  @Test func `UTM and UPS are those of GeographicLib to a nanometre, and back`() throws {
    #expect(Known.all.count == 432)
    for known in Known.all {
      let text = try Notation.utm.text(of: known.point, precision: 9)
      let words = text.split(separator: " ")
      #expect(words[0] == (known.zone > 0 ? String(format: "%02d", known.zone) : "") + (known.isNorth ? "N" : "S"), "\(known.point)")
      let found = SIMD2(try #require(Double(words[1])), try #require(Double(words[2])))
      let gap = found - known.metres
      #expect(abs(gap.x) < 1.1e-8 && abs(gap.y) < 1.1e-8, "\(known.point) \(gap)")
      let back = try Notation.place(text, in: .utm).point
      #expect(abs(back.y - known.point.y) < 1e-12)
      if abs(known.point.y) < 90 {
        let turn = (back.x - known.point.x).remainder(dividingBy: 360) * cos(known.point.y * .pi / 180)
        #expect(abs(turn) < 1e-12, "\(known.point) \(back)")
      }
    }
  }

  @Test func `MGRS, GEOREF and GARS are those of GeographicLib in every precision`() throws {
    for known in Known.all {
      let head = known.zone > 0 ? 5 : 3
      for digits in 0...8 {
        #expect(try Notation.mgrs.text(of: known.point, precision: digits) == shortened(known.mgrs, head: head, to: digits), "\(known.point)")
        if digits != 1 {
          // GeographicLib has none of longitude 180, and does not round before it truncates: what is on an edge may be before it.
          let texts = try [0, 2e-11].flatMap { x in
            try [0, 2e-11].map { y in
              try Notation.georef.text(of: Point(x: known.point.x - x, y: max(known.point.y - y, -90)), precision: digits)
            }
          }
          let west = try Notation.georef.text(of: Point(x: -180, y: known.point.y), precision: digits)
          if known.georef.isEmpty { #expect(texts[0] == west) } else {
            #expect(texts.contains(shortened(known.georef, head: 4, to: digits)), "\(known.point)")
          }
        }
      }
      for (digits, count) in [5, 6, 7].enumerated() {
        #expect(try Notation.gars.text(of: known.point, precision: digits) == String(known.gars.prefix(count)), "\(known.point)")
      }
    }
  }

  @Test func `a cell holds its place, and its corner is in it`() throws {
    for (index, known) in Known.all.enumerated() {
      // The others are on edges of zones, which cut cells of MGRS.
      let grids = [(Notation.georef, 0), (.georef, 4), (.georef, 8), (.gars, 0), (.gars, 1), (.gars, 2)]
      for (notation, digits) in grids + (index < 140 ? [(.mgrs, 3), (.mgrs, 5), (.mgrs, 8)] : []) {
        let text = try notation.text(of: known.point, precision: digits)
        let (middle, corner) = (try Notation.place(text, in: notation), try Notation.place(text, in: notation, corner: true))
        let cell = try #require(middle.cell)
        for place in [middle, corner] {
          #expect(try notation.text(of: place.point, precision: digits) == text, "\(notation) \(text) \(place)")
        }
        let reach = cell.isDegrees ? cell.size / 2 : cell.size / 111_000
        #expect(abs(middle.point.y - known.point.y) <= reach * 1.0001, "\(text)")
      }
    }
  }

  @Test func `USNG has spaces and no poles`() throws {
    let tower = Point(x: 2.2945, y: 48.8584)
    #expect(try Notation.usng.text(of: tower) == "31U DQ 48252 11954")
    #expect(try Notation.usng.text(of: Point(x: -157.9, y: 21.3), precision: 4) == "4Q FJ 1409 5574")
    #expect(throws: NotationError.self) { try Notation.usng.text(of: Point(x: 0, y: 85)) }
    #expect(throws: NotationError.self) { try Notation.place("ZAH", in: .usng) }
    #expect(try Notation.mgrs.text(of: tower) == "31UDQ4825211954")
  }

  @Test(arguments: [
    (Notation.decimalDegrees, nil, "48.858400°N 2.294500°E"), (.dms, nil, "48°51′30.24″N 2°17′40.20″E"),
    (.ddm, nil, "48°51.5040′N 2°17.6700′E"), (.dms, 0, "48°51′30″N 2°17′40″E"),
    (.utm, 0, "31N 448252 5411955"), (.utmBand, 3, "31U 448252.001 5411954.910"),
  ] as [(Notation, Int?, String)])
  func `the tower is written`(notation: Notation, precision: Int?, text: String) throws {
    #expect(try notation.text(of: Point(x: 2.2945, y: 48.8584), precision: precision) == text)
  }

  @Test func `angles are rounded once`() throws {
    let point = Point(x: -179.99999999, y: -59.9999999)
    #expect(try Notation.dms.text(of: point, precision: 1) == "60°00′00.0″S 180°00′00.0″W")
    #expect(try Notation.ddm.text(of: point, precision: 2) == "60°00.00′S 180°00.00′W")
    let style = NotationStyle(marks: .colons, signed: true, longitudeFirst: true)
    #expect(try Notation.dms.text(of: point, precision: 1, style) == "-180:00:00.0, -60:00:00.0")
    #expect(try Notation.decimalDegrees.text(of: Point(x: -1e-9, y: 1e-9), precision: 3, style) == "0.000, 0.000")
  }

  @Test(arguments: [
    "48.8584 2.2945", "48.8584, 2.2945", "48,8584 2,2945", "48,8584, 2,2945", "48,8584; 2,2945", "+48.8584 +2.2945", "48.8584N 2.2945E",
    "N48.8584 E2.2945", "2.2945E 48.8584N", "48°51′30.24″N 2°17′40.2″E", "48d51'30.24\"N, 2d17'40.2\"E", "48°51'30.24''N 2°17'40.2''E",
    "48 51 30.24 2 17 40.2", "48 51 30.24 N 2 17 40.2 E", "48:51:30.24 2:17:40.2", "48:51:30,24 / 2:17:40,2", "N 48 51.504, E 2 17.67",
    "48°51.504′ 2°17.67′", "48-51-30.24N 002-17-40.20E", "48° 51' 30.24\" 2.2945", "48.8584n2.2945e", " 48.8584\u{A0}N\t2.2945 E ",
  ])
  func `many ways lead to the tower`(text: String) throws {
    let point = try Notation.place(text, in: .decimalDegrees).point
    #expect(abs(point.x - 2.2945) < 1e-13 && abs(point.y - 48.8584) < 1e-13, "\(point)")
  }

  @Test(arguments: [
    ("", Notation.decimalDegrees, NotationError.Kind.malformed, 0), ("48.8584", .decimalDegrees, .malformed, 7),
    ("91 0", .decimalDegrees, .outside, 0), ("0 400", .decimalDegrees, .outside, 2), ("10 20 30", .decimalDegrees, .malformed, 8),
    ("10N 20N", .decimalDegrees, .malformed, 6), ("-10N 20E", .decimalDegrees, .malformed, 0), ("10 60 0N 20E", .decimalDegrees, .outside, 3),
    ("10.5 30 N 20E", .decimalDegrees, .malformed, 5), ("10N 20E x", .decimalDegrees, .malformed, 8), ("10′N 20E", .decimalDegrees, .malformed, 2),
    ("10N, 20E, 5", .decimalDegrees, .malformed, 8), ("1e5 3", .decimalDegrees, .malformed, 1),
    ("61N 500000 0", .utm, .outside, 0), ("31U 500000 0", .utm, .malformed, 2), ("31N 500000", .utm, .malformed, 4),
    ("31N 5000000 0", .utm, .outside, 4), ("31C 500000 5000000", .utmBand, .outside, 11),
    ("31UDQ482", .mgrs, .malformed, 5), ("31IDQ", .mgrs, .malformed, 2), ("31UAH", .mgrs, .outside, 3), ("31UQD", .mgrs, .malformed, 3),
    ("0UDQ", .mgrs, .outside, 0), ("31UDQ12x4", .mgrs, .malformed, 7), ("ZAH1", .mgrs, .malformed, 3), ("UDQ", .mgrs, .malformed, 0),
    ("HJAL1", .georef, .malformed, 4), ("HJAL12", .georef, .malformed, 4), ("HJAL6000", .georef, .outside, 4), ("HZ", .georef, .malformed, 1),
    ("000AA", .gars, .outside, 0), ("721AA", .gars, .outside, 0), ("361RA", .gars, .outside, 3), ("361HN5", .gars, .malformed, 5),
    ("361HN370", .gars, .malformed, 7), ("361HN30", .gars, .malformed, 6),
    ("10:20", .decimalDegrees, .malformed, 2), ("48.8-2.3", .decimalDegrees, .malformed, 4), ("31U DQ 482 11954", .mgrs, .malformed, 7),
    ("31UDQ 4 8 2 1", .mgrs, .malformed, 6), ("31N 448252n 0", .utm, .malformed, 4), (" 31N 0 9700000", .utm, .outside, 7),
    ("31N 5e5 0", .utm, .malformed, 4), ("\u{17F}1N 0 0", .utm, .malformed, 0), ("31\u{17F}DQ", .mgrs, .malformed, 2),
    ("N\u{301}48 E2", .decimalDegrees, .malformed, 1), ("\u{FF13}1UDQ", .mgrs, .malformed, 0),
    (String(repeating: "1 ", count: 500_000), .decimalDegrees, .malformed, 128),
  ])
  func `what is no place is refused with its place in the text`(text: String, notation: Notation, kind: NotationError.Kind, offset: Int) {
    do throws(NotationError) {
      let found = try Notation.place(text, in: notation)
      Issue.record("\(text): \(found)")
    } catch {
      #expect(error.kind == kind && error.offset == offset, "\(text): \(error)")
    }
  }

  @Test(arguments: [
    ("48.8584 2.2945", Notation.decimalDegrees), ("48 51.504 2 17.67", .ddm), ("48°51'30.24\"N 2.2945E", .dms), ("31n 448252 5411955", .utm),
    ("31U 448252mE 5411955mN", .utmBand), ("31u dq 48252 11954", .mgrs), ("NKCD 17670 51504", .georef), ("365mp24", .gars),
    ("31S 500000 8000000", .utm), ("31S 500000 3600000", nil),
  ] as [(String, Notation?)])
  func `a text tells its notation unless it has two`(text: String, notation: Notation?) throws {
    guard let notation else {
      let error = #expect(throws: NotationError.self) { try Notation.place(text, in: nil) }
      #expect(error?.kind == .ambiguous)
      return
    }
    let place = try Notation.place(text, in: nil)
    #expect(place.notation == notation)
    guard !text.hasPrefix("31S") else { return }
    #expect(abs(place.point.x - 2.2945) < 0.01 && abs(place.point.y - 48.8584) < 0.02, "\(place.point)")
  }

  @Test(arguments: [
    ("", NotationError.Kind.malformed, 0), ("hello", .malformed, 4), ("91 0", .outside, 0), ("61UDQ", .outside, 0), ("31UDQ12x4", .malformed, 7),
    ("31UAH", .outside, 3), ("48.8584", .malformed, 7), ("721AA", .outside, 0), ("\u{1F5FA}", .malformed, 0),
  ])
  func `what is in no notation is refused by the one that reads it farthest`(text: String, kind: NotationError.Kind, offset: Int) {
    let error = #expect(throws: NotationError.self) { try Notation.place(text, in: nil) }
    #expect(error?.kind == kind && error?.offset == offset, "\(String(describing: error))")
  }
}
