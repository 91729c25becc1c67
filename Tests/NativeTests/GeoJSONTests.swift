// GeoJSON read here equals what GDAL makes of it. A second member that resembles `features`, which GDAL ignores, leaves a file to it.

import Foundation
import GeoJSON
import Geometry
import JSON
import Readers
import Reading
import Testing

/// The reader has the rules of GDAL 3.6. Later versions infer other types of fields, so that they are no judges.
private let hasJudge = ["x86_64", "aarch64"].contains {
  FileManager.default.fileExists(atPath: "/usr/lib/\($0)-linux-gnu/libgdal.so.32")
}

@Suite struct `GeoJSON without GDAL` {
  @Test(.enabled(if: hasJudge), arguments: Files.taken)
  func `a collection has the layer and the features that GDAL finds`(members: String) throws {
    let text = "{\(members)}"
    #expect(throws: Never.self) { try scanned(text) }
    let own = try features(.geoJSON(Array(text.utf8)))
    let judged = try features(.geoJSON(Array(left(members).utf8)))
    #expect(own.layer == judged.layer)
    #expect(own.features.map(\.normalized) == judged.features.map(\.normalized))
    let description = try readers.describe(.geoJSON(Array(text.utf8)))
    #expect(description.layers == [own.layer])
  }

  @Test(arguments: Files.left)
  func `what GDAL reads in ways of its own is left to it`(members: String) {
    #expect(throws: TextStop.self) { try scanned("{\(members)}") }
    #expect(throws: TextStop.self) { try scanned(left(members)) }
  }

  @Test(.enabled(if: hasJudge), arguments: UInt64(0)..<40)
  func `random collections equal GDAL's`(seed: UInt64) throws {
    var random = RandomCollection(seed: seed)
    let members = random.members()
    let own = Result { try features(.geoJSON(Array("{\(members)}".utf8))) }
    let judged = Result { try features(.geoJSON(Array(left(members).utf8))) }
    switch (own, judged) {
    case (.success(let own), .success(let judged)):
      #expect(own.layer == judged.layer, "{\(members)}")
      #expect(own.features.map(\.normalized) == judged.features.map(\.normalized), "{\(members)}")
    case (.failure, .failure): break
    default: Issue.record("one of the two fails: {\(members)}")
    }
  }

  @Test func `most random collections are read here`() {
    let taken = (UInt64(0)..<200).filter { seed in
      var random = RandomCollection(seed: seed)
      return (try? scanned("{\(random.members())}")) != nil
    }
    #expect(taken.count > 100, "\(taken.count) of 200")
  }

  @Test(arguments: ["\n", "\r\n", "\n\n"], [false, true])
  func `features on lines of their own, or behind record separators, are a source`(end: String, hasSeparators: Bool)
    throws
  {
    let lines = (0..<3).map { index in
      #"{"type":"Feature","id":\#(index * 10),"properties":{"n":\#(index)},"geometry":{"type":"Point","coordinates":[\#(index),2]}}"#
    }
    let directory = try TemporaryDirectory()
    let path = try directory.write(
      lines.map { (hasSeparators ? "\u{1E}" : "") + $0 }.joined(separator: end) + end, to: "three.geojsonl")
    #expect(try readers.describe(.file(path)).driver == .geoJSONSeq)
    let found = try features(.file(path))
    #expect(found.layer.name == "three" && found.layer.featureCount == 3 && found.layer.geometryType == "Point")
    #expect(found.features.map(\.fid) == [0, 10, 20])
    #expect(found.features.map { $0.geometry?.point?.x } == [0, 1, 2])
    #expect(found.features.map(\.attributes) == [[.integer(0)], [.integer(1)], [.integer(2)]])
    // GDAL's own reader of sequences agrees: a name that resembles one of GeoJSON's leaves the file to it.
    let odd = lines.map { $0.replacingOccurrences(of: #""type":"Feature""#, with: #""GEOMETRIES":0,"type":"Feature""#) }
    let judged = try directory.write(
      odd.map { (hasSeparators ? "\u{1E}" : "") + $0 }.joined(separator: end) + end, to: "judged.geojsonl")
    #expect(try features(.file(judged)).features == found.features)
  }

  @Test(arguments: [
    (#"{"type":"FeatureCollection",\#n"features":[\#n  {"type":"Feature" "id":1}]}"#, 3, 21),
    (#"{"type":"FeatureCollection","é":1,"features":[}"#, 1, 47), (#"{"type":"FeatureCollection","features":["#, 1, 41),
    (#"{"type":"FeatureCollection","features":[]} x"#, 1, 44),
    (
      #"{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"a":01},"geometry":null}],"b":[1 2]}"#,
      1, 78
    ),
  ])
  func `an error says line and column`(text: String, line: Int, column: Int) throws {
    let error = try #require(throws: ReadError.self) { try readers.describe(.geoJSON(Array(text.utf8))) }
    guard case .openFailed("GeoJSON", _, let reason) = error else { throw error }
    #expect(reason.hasPrefix("line \(line), column \(column): expected "), "\(reason)")
  }

  /// jansson is the judge of what is JSON. Names that occur twice, numbers beyond all doubles and half surrogate pairs are JSON by
  /// RFC 8259, and refused by it.
  @Test(arguments: [
    #"{"a": [1, -0.5e+3, true, {"b": null, "c": "x\u00e9\n"}], "": [], "d": {}, "é": false}"#,
    "[[], {}, [[1]], \"\\\\\"]",
  ])
  func `what is JSON and what is none is jansson's judgement`(text: String) {
    let bytes = Array(text.utf8)
    var texts = bytes.indices.map { Array(bytes[..<$0]) }
    let others = Array(#"",:[]{}\ 0e-+.tn/u"#.utf8) + [0, 0x0A, 0x1F, 0x7F, 0x80, 0xC3, 0xFF]
    for index in bytes.indices {
      texts.append(Array(bytes[..<index] + bytes[(index + 1)...]))
      for other in others {
        texts.append(Array(bytes[..<index] + [other] + bytes[(index + 1)...]))
        texts.append(Array(bytes[..<index] + [other] + bytes[index...]))
      }
    }
    for bytes in texts {
      var refused: JSONSyntaxError.Kind?
      do { _ = try bytes.withUnsafeBytes { try JSONDocument($0) } } catch {
        refused = (error as? JSONSyntaxError)?.kind
      }
      var check = TextCheck(isSequence: false, source(bytes, pieces: 3))
      let fault = check.firstFault()
      let isExcepted = refused == .duplicateKey || String(decoding: bytes, as: UTF8.self).contains("\\u")
      if !isExcepted {
        #expect((fault == nil) == (refused == nil), "\(String(decoding: bytes, as: UTF8.self)): \(fault as Any)")
      }
    }
  }

  @Test func `a feature larger than a buffer is read`() throws {
    let positions = (0..<200_000).map { "[\($0 % 180),\($0 % 90)]" }.joined(separator: ",")
    let text =
      #"{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"s":"\#(String(repeating: "ü", count: 300_000))"},"#
      + #""geometry":{"type":"LineString","coordinates":[\#(positions)]}}]}"#
    let found = try features(.geoJSON(Array(text.utf8))).features
    guard case .lineString(let line) = found.first?.geometry else { throw Unexpected() }
    #expect(line.count == 200_000 && found[0].attributes == [.string(String(repeating: "ü", count: 300_000))])
  }

  @Test func `numbers are exact`() throws {
    var random = SplitMix64(state: 7)
    var numbers = [0.1, Double.leastNonzeroMagnitude, 1.7976931348623157e308, 123456789.123456789, 1e22, 1e23, -0.0]
    for _ in 0..<5000 {
      let number = Double(bitPattern: random.next())
      if number.isFinite { numbers.append(number) }
      numbers.append(Double(Int64.random(in: -1_800_000_000...1_800_000_000, using: &random)) / 1e7)
    }
    let rows = numbers.map { #"{"type":"Feature","properties":{"d":\#($0)},"geometry":null}"# }
    let text = #"{"type":"FeatureCollection","features":[\#(rows.joined(separator: ","))]}"#
    let found = try features(.geoJSON(Array(text.utf8))).features
    #expect(found.map { $0.attributes[0] } == numbers.map { .double($0) })
  }
}

/// What the reader of collections makes of a text; throws where it is left to GDAL.
private func scanned(_ text: String) throws(TextStop) -> TextLayer {
  // In small pieces, so that everything is cut somewhere.
  var reader = FeatureReader(allowsSequence: true, source(Array(text.utf8), pieces: 7))
  return try reader.scan()
}

private func source(_ bytes: [UInt8], pieces: Int) -> (UnsafeMutableRawBufferPointer) -> Int {
  var rest = bytes[...]
  return { target in
    let piece = rest.prefix(min(pieces, target.count))
    target.copyBytes(from: piece)
    rest = rest.dropFirst(piece.count)
    return piece.count
  }
}

/// The collection, with a member that leaves it to GDAL.
private func left(_ members: String) -> String { #"{"Features":0,\#(members)}"# }

extension RawFeature {
  /// With JSON as it is written here: GDAL writes it with other white space.
  fileprivate var normalized: RawFeature {
    RawFeature(
      // GDAL makes up a Z of 0 beside positions that have one.
      fid: fid,
      geometry: geometry?.mapPositions { run in
        Positions(run.points.map { Point(x: $0.x, y: $0.y, z: $0.z.map { $0.isNaN ? 0 : $0 }) })
      },
      attributes: attributes.map { value in
        guard case .json(let text) = value, let document = try? JSONDocument(text) else { return value }
        return .json(document.read(\.jsonText))
      })
  }
}
