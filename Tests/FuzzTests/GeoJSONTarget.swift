// GeoJSON of foreign files: what is taken is JSON to jansson, and is read again, in other pieces, as what it was scanned for.

import Geometry
import JSON

@testable import GeoJSON

extension FuzzTarget {
  static let geojson = FuzzTarget(
    name: "geojson",
    words: [
      #""type":"#, #""Feature""#, #""FeatureCollection""#, #""features":["#, #""properties":{"#, #""geometry":"#,
      #""coordinates":[["#, #""GeometryCollection""#, #""geometries":["#, #""id":"#, "\\ud83d\\ude00", "null", "1e400",
      "\u{1E}",
      #""2024-02-29T12:30:00Z""#,
    ],
    seeds: {
      let features = [
        #"{"type":"Feature","id":7,"properties":{"a":1,"b":"x\n","c":[1,2.5],"d":null},"geometry":{"type":"Point","coordinates":[1,2,3]}}"#,
        #"{"type":"Feature","properties":{"a":0.5,"b":"2024-02-29","c":[]},"geometry":{"type":"Polygon","coordinates":[[[0,0],[4,0],[4,4],[0,0]]]}}"#,
        #"{"type":"Feature","id":"é","properties":{"b":{"k":["v"]}},"geometry":{"type":"GeometryCollection","geometries":[{"type":"LineString","coordinates":[[0,0],[1e1,-1]]}]}}"#,
      ]
      let collection =
        #"{"type":"FeatureCollection","name":"n","crs":null,"features":[\#(features.joined(separator: ","))]}"#
      return [collection, features.joined(separator: "\n"), features.map { "\u{1E}" + $0 }.joined()].map {
        Array($0.utf8)
      }
        + features.map { Array(#"{"features":[\#($0)],"type":"FeatureCollection"}"#.utf8) }
    },
    run: { (input) throws(Broken) in
      var text = TextCheck(isSequence: true, source(input, pieces: 11))
      let fault = text.firstFault()
      var scan = FeatureReader(allowsSequence: true, source(input, pieces: 1 << 20))
      let layer: TextLayer
      do throws(TextStop) { layer = try scan.scan() } catch { return }
      try check(fault == nil, "what is taken is no JSON: \(fault.map(\.description) ?? "")")
      var reader = FeatureReader(layer, source(input, pieces: 5))
      var count = 0
      while try accepted("what was scanned is not read", { () throws(TextStop) in try reader.next() }) {
        count += 1
        try readAll(reader.feature, layer)
      }
      try check(count == layer.featureCount, "\(count) features in place of \(layer.featureCount)")
    })
}

/// Reads every value.
private func readAll(_ feature: FeatureText, _ layer: TextLayer) throws(Broken) {
  for token in feature.properties {
    let form = layer.columns[layer.columnOfField[token.field]].form
    switch token.kind {
    case .string:
      var bytes: [UInt8] = []
      appendDecoded(token.text, to: &bytes)
      try check(String(validating: bytes, as: UTF8.self) != nil, "a string is no UTF-8")
      _ = token.momentText(form)
    case .array, .object:
      try check((try? JSONDocument(token.text)) != nil, "a nested value is no JSON to jansson")
      if token.kind == .array, case .numbers = form {
        try check((try? JSONDocument(token.numbersText)) != nil, "an array of numbers is written as none")
      }
    case .null, .no, .yes, .integer, .double: break
    }
  }
  guard feature.geometry.kind != nil else { return }
  var bytes: [UInt8] = []
  feature.geometry.appendWKB(to: &bytes)
  _ = try accepted("a geometry is written as no WKB") { () throws(WKBError) in try Geometry(wkb: bytes) }
}

private func source(_ bytes: UnsafeRawBufferPointer, pieces: Int) -> (UnsafeMutableRawBufferPointer) -> Int {
  var rest = bytes[...]
  return { target in
    let piece = rest.prefix(min(pieces, target.count))
    target.copyBytes(from: piece)
    rest = rest.dropFirst(piece.count)
    return piece.count
  }
}
