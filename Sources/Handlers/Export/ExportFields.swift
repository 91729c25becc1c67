// The fields of an exported file: names that the format can distinguish, and types that fit the features' values.

import Calendar
import FeatureStore
import Geometry
import JSON
import Planning
import Reading
import WireCoding

/// A column of a store as a field of the file.
struct ExportField {
  let column: Int
  /// The column in the store.
  let source: Field
  /// The field in the file.
  let field: Field
  /// Whether a text field also has values of other types.
  let isMixed: Bool

  var kind: BlockColumnBuilder.Kind {
    switch field.type {
    case .boolean: .bools
    case .integer: .integers
    case .double: .doubles
    case .json: .json
    case .string, .date, .dateTime, .time, .binary: .texts
    }
  }
}

/// The types and forms of a column's values.
private struct ValueProfile {
  enum Kind { case bool, integer, double, string, json }
  var kinds: Set<Kind> = []
  /// Whether each text has the form of the declared type.
  var isWellFormed = true
}

struct ExportFields {
  let all: [ExportField]
  /// Names for the columns of ids and geometries that no field has.
  let idName: String
  let geometryName: String

  /// - Complexity: O(values).
  init(_ export: FeatureExport, _ rows: ArraySlice<UInt32>, _ share: WorkShare) throws {
    let store = export.output.features.store
    let columns = export.output.selection.columns ?? Array(0..<store.schema.count)
    let record = export.format.record
    // A column without a type takes that of the format's own field if all values have it.
    let declared = columns.map {
      store.schema.declaredType(of: $0) ?? record.ownFields[store.schema.name(of: $0).lowercased()]?.type
    }
    let profiles = try Self.profiles(of: columns, declared, rows, store, share)
    // A field that means something else in the format has another name.
    var unused = Set(record.ownFields.keys)
    var taken = unused
    all = zip(columns, zip(declared, profiles)).map { column, types in
      let source = store.schema.field(column)
      var type = Self.type(declared: types.0, types.1)
      let own = record.ownFields[source.name.string.lowercased()].flatMap { $0.type == type ? $0 : nil }
      var name: String
      if let own, let known = unused.remove(own.name.string.lowercased()) {
        taken.remove(known)
        name = own.name.string
      } else {
        if record.asText.contains(type) { type = .string }
        name = record.names.name(source.name.string)
      }
      name = freeName(name, &taken, bytes: record.names == .ofTenBytes ? 10 : .max)
      return ExportField(
        column: column, source: source, field: Field(name: name, type: type),
        isMixed: type == .string && !types.1.kinds.isSubset(of: [.string]))
    }
    idName = freeName("fid", &taken)
    geometryName = freeName(store.schema.geometryName?.string ?? "geom", &taken)
  }

  private static func profiles(
    of columns: [Int], _ declared: [FieldType?], _ rows: ArraySlice<UInt32>, _ store: FeatureStore, _ share: WorkShare
  ) throws -> [ValueProfile] {
    var profiles = columns.map { _ in ValueProfile() }
    for (index, row) in rows.enumerated() {
      if index.isMultiple(of: 64) { try share.checkpoint(index, of: rows.count) }
      guard let feature = store[row] else { continue }
      for (number, column) in columns.enumerated() {
        feature.withAttribute(column) { profiles[number].note($0, declared[number]) }
      }
    }
    return profiles
  }

  /// The declared type if all values have it, else the type of the values. Mixed types become text.
  private static func type(declared: FieldType?, _ profile: ValueProfile) -> FieldType {
    let kinds = profile.kinds
    if let declared, profile.isWellFormed, kinds.isSubset(of: ValueProfile.kinds(of: declared)) { return declared }
    switch kinds {
    case [.bool]: return .boolean
    case [.integer]: return .integer
    case [.double], [.integer, .double]: return .double
    case [.json]: return .json
    default: return .string
    }
  }
}

extension ValueProfile {
  static func kinds(of type: FieldType) -> Set<Kind> {
    switch type {
    case .boolean: [.bool]
    case .integer: [.integer]
    case .double: [.integer, .double]
    case .json: [.json]
    case .string, .date, .dateTime, .time, .binary: [.string]
    }
  }

  mutating func note(_ value: FeatureRow.Attribute, _ declared: FieldType?) {
    switch value {
    case .null: break
    case .bool: kinds.insert(.bool)
    case .integer: kinds.insert(.integer)
    case .double: kinds.insert(.double)
    case .json: kinds.insert(.json)
    case .string(let text):
      kinds.insert(.string)
      if isWellFormed, let declared { isWellFormed = ExportText.isWellFormed(text, declared) }
    }
  }
}

extension ExportFormat.Names {
  /// A name in this form, the same where it has that form.
  fileprivate func name(_ name: String) -> String {
    switch self {
    case .any: name
    case .ofTenBytes: name.isEmpty ? "field" : name.prefix(bytes: 10)
    case .ofElements:
      String(decoding: name.utf8.map { Self.isOfElement($0) ? $0 : UInt8(ascii: "_") }, as: UTF8.self)
    case .ofAttributes:
      String(String.UnicodeScalarView(name.unicodeScalars.map { $0.isOfXML && !"\"<>&\t\n\r".unicodeScalars.contains($0) ? $0 : "_" }))
    }
  }

  private static func isOfElement(_ byte: UInt8) -> Bool {
    UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
  }
}

extension Unicode.Scalar {
  /// Source: XML 1.0, production 2.
  var isOfXML: Bool { value >= 0x20 && value != 0xFFFE && value != 0xFFFF || [9, 10, 13].contains(value) }
}

extension String {
  /// At most this many bytes, without splitting a character.
  func prefix(bytes limit: Int) -> String {
    var end = utf8.index(utf8.startIndex, offsetBy: limit, limitedBy: utf8.endIndex) ?? utf8.endIndex
    while end < utf8.endIndex, utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
    return String(self[..<end])
  }
}

extension ExportText {
  /// Whether a text has the form of a type.
  static func isWellFormed(_ text: UnsafeRawBufferPointer, _ type: FieldType) -> Bool {
    switch type {
    case .date: CivilTime(utf8: text)?.isDate ?? false
    case .dateTime: CivilTime(utf8: text).map { !$0.isDate } ?? false
    case .time: isTime(text)
    case .binary: Base64.decode(text.bindMemory(to: UInt8.self)) != nil
    case .boolean, .integer, .double, .string, .json: true
    }
  }

  /// Whether a text has the form `10:20:30`, with or without a fraction.
  private static func isTime(_ text: UnsafeRawBufferPointer) -> Bool {
    guard text.count >= 8, text[2] == UInt8(ascii: ":"), text[5] == UInt8(ascii: ":") else { return false }
    let digits = [0, 1, 3, 4, 6, 7] + Array(9..<max(text.count, 9))
    return digits.allSatisfy { text[$0] & 0xF0 == 0x30 && text[$0] < 0x3A }
      && (text.count == 8 || text.count > 9 && text[8] == UInt8(ascii: "."))
  }
}
