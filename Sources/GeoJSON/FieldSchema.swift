// The fields of a layer, inferred while features are read. Types and order equal GDAL's, so that both readers give the same
// result.

import Geometry

/// The kinds of values of a field.
struct ValueKinds: OptionSet {
  let rawValue: UInt16
  static let bool = ValueKinds(rawValue: 1)
  static let integer = ValueKinds(rawValue: 2)
  static let double = ValueKinds(rawValue: 4)
  static let string = ValueKinds(rawValue: 8)
  static let object = ValueKinds(rawValue: 16)
  static let integers = ValueKinds(rawValue: 32)
  static let doubles = ValueKinds(rawValue: 64)
  static let strings = ValueKinds(rawValue: 128)
  /// Arrays of booleans or of several types.
  static let others = ValueKinds(rawValue: 256)
  static let empty = ValueKinds(rawValue: 512)
}

/// A field as inferred so far.
struct InferredField {
  private(set) var type = TypedValue(type: .string)
  private(set) var kinds: ValueKinds = []
  /// Whether all values so far were null.
  private var isUndetermined = true

  init() {}

  init(_ type: TypedValue) {
    self.type = type
    isUndetermined = false
  }

  mutating func setType(_ type: TypedValue) { self.type = type }

  @inline(__always)
  mutating func include(_ token: PropertyToken) {
    switch token.kind {
    case .null: return
    case .string:
      kinds.insert(.string)
      if type == TypedValue(type: .string), !isUndetermined { return }
    case .integer:
      kinds.insert(.integer)
      if type.type == .real || type.type == .integer64 { return }
      if type == TypedValue(type: .integer), Int32(exactly: token.integer) != nil { return }
    case .double:
      kinds.insert(.double)
      if type.type == .real { return }
    default: break
    }
    includeSlowly(token)
  }

  @inline(never)
  private mutating func includeSlowly(_ token: PropertyToken) {
    var isEmpty = false
    let value: TypedValue
    switch token.kind {
    case .string, .null: value = TypedValue(type: .string)
    case .double: value = TypedValue(type: .real)
    case .integer: value = TypedValue(TextNumber(isInteger: true, bits: token.bits))
    case .no, .yes:
      kinds.insert(.bool)
      value = .boolean
    case .object:
      kinds.insert(.object)
      value = .json
    case .array:
      value = TypedValue(ofArray: token.text)
      isEmpty = token.text.dropFirst().allSatisfy { $0 <= 0x20 || $0 == UInt8(ascii: "]") }
      kinds.insert(isEmpty ? .empty : ValueKinds(ofArray: value))
    }
    let moment = { token.kind == .string ? momentType(token) : .string }
    guard isUndetermined else { return type.include(value, isEmpty: isEmpty, moment: moment) }
    isUndetermined = false
    type = value
    if value == TypedValue(type: .string) { type.type = moment() }
  }
}

private func momentType(_ token: PropertyToken) -> ValueType {
  guard token.hasEscapes else { return Moment.type(of: token.text) }
  var text: [UInt8] = []
  appendDecoded(token.text, to: &text)
  return text.withUnsafeBytes { Moment.type(of: $0) }
}

extension ValueKinds {
  fileprivate init(ofArray type: TypedValue) {
    switch type.type {
    case .integerList where type.subtype == .none: self = .integers
    case .integer64List: self = .integers
    case .realList: self = .doubles
    case .stringList: self = .strings
    default: self = .others
    }
  }
}

/// How values of a field are written into a column.
public enum ColumnForm: Sendable {
  case bools, integers, doubles, texts
  /// The text of each value, without quotes around a string.
  case json
  /// Arrays of numbers, each as a double.
  case numbers
  /// RFC 3339.
  case date, time, dateTime
}

extension InferredField {
  /// The field's type and form; nil if GDAL would convert its values in a way that is not reproduced here.
  var form: (FieldType, ColumnForm)? {
    switch (type.type, type.subtype) {
    case (.integer, .boolean): kinds.isSubset(of: .bool) ? (.boolean, .bools) : nil
    case (.integer, _), (.integer64, _): kinds.isSubset(of: [.integer, .bool]) ? (.integer, .integers) : nil
    case (.real, _): kinds.isSubset(of: [.integer, .bool, .double]) ? (.double, .doubles) : nil
    case (.string, .json): (.json, .json)
    case (.string, _): kinds.isSubset(of: [.string, .integer, .bool]) ? (.string, .texts) : nil
    case (.integerList, .none), (.integer64List, _): kinds.isSubset(of: [.integers, .empty]) ? (.json, .json) : nil
    case (.integerList, _): nil
    case (.realList, _): kinds.isSubset(of: [.integers, .doubles, .empty]) ? (.json, .numbers) : nil
    case (.stringList, _): kinds.isSubset(of: [.strings, .empty]) ? (.json, .json) : nil
    case (.date, _): (.date, .date)
    case (.time, _): (.time, .time)
    case (.dateTime, _): (.dateTime, .dateTime)
    }
  }
}
