// CSV files: RFC 4180 in UTF-8, with a header. Geometries are columns of coordinates or of well-known text.

import FeatureStore
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Planning
import WireCoding

struct CSVText: ~Copyable {
  private enum Shape {
    case none, wkt
    case xy(hasZ: Bool)
  }

  private let export: FeatureExport
  private let shape: Shape
  /// The indexes of the columns in the store.
  private let columns: [Int]
  private let names: [String]
  /// The names as written, without line breaks: readers take one within quotes for the end of the header.
  private let headers: [String]
  private let geometryNames: [String]
  private var text = ExportText()
  private var scratch = JSONWriter(capacity: 256)

  /// - Throws: `invalidParams` if columns of coordinates cannot hold the geometries.
  init(_ export: FeatureExport, _ rows: ArraySlice<UInt32>, _ share: WorkShare) throws {
    self.export = export
    let (store, selection) = (export.output.features.store, export.output.selection)
    columns = selection.columns ?? Array(0..<store.schema.count)
    names = columns.map(store.schema.name)
    shape = try Self.shape(export, rows, share)
    let wanted =
      switch shape {
      case .none: [String]()
      case .wkt: ["WKT"]
      case .xy(let hasZ): hasZ ? ["x", "y", "z"] : ["x", "y"]
      }
    let broken = names.map { $0.utf8.contains { $0 == 0x0A || $0 == 0x0D } }
    var taken = Set(zip(names, broken).filter { !$1 }.map { $0.0.lowercased() })
    headers = zip(names, broken).map { $1 ? freeName($0.onOneLine, &taken) : $0 }
    geometryNames = wanted.map { freeName($0, &taken) }
  }

  private static func shape(
    _ export: FeatureExport, _ rows: ArraySlice<UInt32>, _ share: WorkShare
  ) throws -> Shape {
    let wanted = export.params.csvGeometry
    let selection = export.output.selection
    guard selection.geometry else {
      if selection.columns?.isEmpty ?? (export.output.features.store.schema.count == 0) {
        throw RPCError(
          .invalidParams, "There is no column to write.", path: "/params/properties",
          expected: "names of fields, or `returnGeometry`")
      }
      return .none
    }
    if wanted == .wkt { return .wkt }
    let profile = try GeometryProfile(of: rows, in: export.output, share)
    if profile.isOfPlainPoints { return .xy(hasZ: profile.z != .none) }
    guard wanted == nil else {
      throw RPCError(
        .invalidParams, "Not all geometries are points without M.", path: "/params/csvGeometry", expected: "`wkt`")
    }
    return .wkt
  }

  mutating func write(
    _ rows: ArraySlice<UInt32>, to file: borrowing AtomicFile, _ report: inout ExportReport, _ share: WorkShare
  ) throws {
    let export = export
    if !geometryNames.isEmpty { report.geometryFields = geometryNames }
    for (name, header) in zip(names, headers) where name != header {
      report.add(.init(kind: .fieldName, field: name, name: header))
    }
    for (index, name) in (geometryNames + headers).enumerated() {
      if index > 0 { text.writer.append(",") }
      append(name)
    }
    text.writer.append("\r\n")
    try export.forEach(in: rows, &report, share) { feature, shape, report in
      append(feature, shape, &report)
      try text.flushPiece(to: file)
    }
    try text.flush(to: file)
  }

  private mutating func append(_ feature: FeatureRow, _ given: FeatureWriter.Shape, _ report: inout ExportReport) {
    let start = text.writer.count
    var isFirst = true
    func separate(_ text: inout ExportText) {
      if !isFirst { text.writer.append(",") }
      isFirst = false
    }
    switch shape {
    case .none: break
    case .wkt:
      separate(&text)
      if let geometry = feature.shape(given) { append(geometry.wkt) }
    case .xy(let hasZ):
      let point = point(of: feature, given)
      for value in [point?.x, point?.y] + (hasZ ? [point?.z] : []) {
        separate(&text)
        if let value { append(value) }
      }
    }
    for (index, column) in columns.enumerated() {
      separate(&text)
      feature.withAttribute(column) { value in
        // It is written, but readers end the text there.
        if case .string(let bytes) = value, bytes.contains(0) { report.note(.values, field: names[index]) }
        append(value)
      }
    }
    // Readers skip empty lines, so a row whose only value is null is written as an empty quoted text.
    if text.writer.count == start { text.writer.append("\"\"") }
    text.writer.append("\r\n")
  }

  private func point(of feature: FeatureRow, _ given: FeatureWriter.Shape) -> Point? {
    guard case .point(let point) = feature.shape(given) else { return nil }
    return point
  }

  // MARK: Fields

  private mutating func append(_ value: FeatureRow.Attribute) {
    switch value {
    case .null: break
    case .bool(let flag): text.writer.append(flag ? "true" : "false")
    case .integer(let number): appendScratch { $0.value(number) }
    case .double(let number): append(number)
    case .string(let bytes), .json(let bytes): append(bytes)
    }
  }

  /// NaN and infinities are unknown values, written as null.
  private mutating func append(_ number: Double) {
    if number.isFinite { appendScratch { $0.value(number) } }
  }

  private mutating func appendScratch(_ write: (inout JSONWriter) -> Void) {
    scratch.truncate(to: 0)
    write(&scratch)
    text.writer.append(scratch.bytes)
  }

  private mutating func append(_ string: String) {
    var string = string
    string.withUTF8 { append(UnsafeRawBufferPointer($0)) }
  }

  /// Writes a text, in quotes if it is empty or contains a separator, quote or line break.
  private mutating func append(_ bytes: UnsafeRawBufferPointer) {
    let needsQuotes = bytes.isEmpty || bytes.contains { Self.special.contains($0) }
    guard needsQuotes else { return text.writer.append(bytes) }
    text.writer.append(byte: UInt8(ascii: "\""))
    for byte in bytes {
      if byte == UInt8(ascii: "\"") { text.writer.append(byte: byte) }
      text.writer.append(byte: byte)
    }
    text.writer.append(byte: UInt8(ascii: "\""))
  }

  private static let special = [UInt8(ascii: ","), UInt8(ascii: "\""), 0x0A, 0x0D]
}

extension String {
  /// The text with a space in place of each line break.
  fileprivate var onOneLine: String {
    var line = String.UnicodeScalarView()
    var rest = unicodeScalars[...]
    while let next = rest.popFirst() {
      if next == "\r", rest.first == "\n" { rest.removeFirst() }
      line.append(next == "\r" || next == "\n" ? " " : next)
    }
    return String(line)
  }
}

/// The name, with a number appended if it is taken. Names are compared without case.
func freeName(_ name: String, _ taken: inout Set<String>, bytes limit: Int = .max) -> String {
  var free = name
  var number = 1
  while !taken.insert(free.lowercased()).inserted {
    number += 1
    free = name.prefix(bytes: limit - "_\(number)".utf8.count) + "_\(number)"
  }
  return free
}
