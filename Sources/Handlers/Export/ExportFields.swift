// The fields of an exported file: names that the format can distinguish, and types that fit the features' values.

import Calendar
import FeatureStore
import Geometry
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
    let profiles = try Self.profiles(of: columns, rows, store, share)
    var taken: Set<String> = []
    all = zip(columns, profiles).map { column, profile in
      let source = Field(name: store.schema.name(of: column), type: store.fields[column].type)
      var type = Self.type(declared: store.schema.declaredType(of: column), profile)
      if export.format.record.asText.contains(type) { type = .string }
      let name = freeName(source.name.string, &taken)
      return ExportField(
        column: column, source: source, field: Field(name: name, type: type),
        isMixed: type == .string && !profile.kinds.isSubset(of: [.string]))
    }
    idName = freeName("fid", &taken)
    geometryName = freeName(store.schema.geometryName?.string ?? "geom", &taken)
  }

  private static func profiles(
    of columns: [Int], _ rows: ArraySlice<UInt32>, _ store: FeatureStore, _ share: WorkShare
  ) throws -> [ValueProfile] {
    let declared = columns.map(store.schema.declaredType)
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
