// Types of values and fields as GDAL's GeoJSON driver infers them, and how a further value changes a field's type.

/// A type of GDAL's fields.
enum ValueType: UInt8 {
  case integer, integer64, real, string
  case integerList, integer64List, realList, stringList
  case date, time, dateTime
}

/// A type with GDAL's subtype.
struct TypedValue: Equatable {
  enum Subtype: UInt8 { case none, boolean, json }

  var type: ValueType
  var subtype = Subtype.none

  static let json = TypedValue(type: .string, subtype: .json)
  static let boolean = TypedValue(type: .integer, subtype: .boolean)
}

extension TypedValue {
  /// Changes a field's type when a value of another type occurs.
  ///
  /// - Parameters:
  ///   - isEmpty: whether the value is an array without items, whose type is `json`.
  ///   - moment: the type of a string that may be a date or a time.
  mutating func include(_ value: TypedValue, isEmpty: Bool, moment: () -> ValueType) {
    switch type {
    case .integer: includeInInteger(value)
    case .integer64: includeInInteger64(value)
    case .real:
      switch value.type {
      case .integer, .integer64, .real: break
      case .integerList, .integer64List, .realList: self = TypedValue(type: .realList)
      case .stringList: self = TypedValue(type: .stringList)
      default: self = .json
      }
    case .string: if subtype == .none, value.type == .stringList { type = .stringList }
    case .integerList, .integer64List, .realList: includeInList(value, isEmpty: isEmpty)
    case .stringList: if value == .json, !isEmpty { self = .json }
    case .date, .time, .dateTime:
      let other = value == TypedValue(type: .string) ? moment() : value.type
      guard type != other else { return }
      subtype = .none
      if other == .string {
        self = value
      } else if type == .date, other == .dateTime {
        type = .dateTime
      } else if type != .dateTime || other != .date {
        self = .json
      }
    }
  }

  private mutating func includeInInteger(_ value: TypedValue) {
    switch value.type {
    case .integer: if subtype == .boolean, value.subtype != .boolean { subtype = .none }
    case .integer64, .real, .integer64List, .realList, .stringList: self = TypedValue(type: value.type)
    case .integerList:
      if subtype == .boolean, value.subtype != .boolean { subtype = .none }
      type = .integerList
    default: self = .json
    }
  }

  private mutating func includeInInteger64(_ value: TypedValue) {
    switch value.type {
    case .integer, .integer64: break
    case .integerList, .integer64List: self = TypedValue(type: .integer64List)
    case .real, .realList, .stringList: self = TypedValue(type: value.type)
    default: self = .json
    }
  }

  private mutating func includeInList(_ value: TypedValue, isEmpty: Bool) {
    if value.type == .string {
      if !isEmpty { self = .json }
      return
    }
    let ranks: [ValueType] = [.integerList, .integer64List, .realList]
    let other: ValueType? =
      switch value.type {
      case .integer, .integerList: .integerList
      case .integer64, .integer64List: .integer64List
      case .real, .realList: .realList
      default: nil
      }
    if value.type == .stringList {
      self = TypedValue(type: .stringList)
    } else if let own = ranks.firstIndex(of: type), let new = other.flatMap({ ranks.firstIndex(of: $0) }) {
      if new > own { self = TypedValue(type: ranks[new]) }
      if new == 0, type == .integerList, subtype == .boolean, value.subtype != .boolean { subtype = .none }
    } else {
      self = .json
    }
  }
}

extension TypedValue {
  /// The type of an array's text, which has been checked.
  init(ofArray text: UnsafeRawBufferPointer) {
    self = Self.arrayType(text) ?? .json
  }

  /// Nil if GDAL keeps the array as text.
  private static func arrayType(_ text: UnsafeRawBufferPointer) -> TypedValue? {
    var found: TypedValue?
    for item in ArrayItems(text) {
      guard let type = item.type else { return nil }
      guard let known = found else {
        found = TypedValue(type: type.list, subtype: type.subtype)
        continue
      }
      switch (known.type, type.type) {
      case (.stringList, .string): break
      case (.integerList, .integer) where known.subtype == type.subtype: break
      case (.integerList, .integer64) where known.subtype == .none: found?.type = .integer64List
      case (.integer64List, .integer) where type.subtype == .none: break
      case (.integer64List, .integer64): break
      case (.realList, .integer) where type.subtype == .none: break
      case (.realList, .integer64), (.realList, .real): break
      case (.integerList, .real) where known.subtype == .none: found?.type = .realList
      case (.integer64List, .real): found?.type = .realList
      default: return nil
      }
    }
    return found
  }

  private var list: ValueType {
    switch type {
    case .integer: .integerList
    case .integer64: .integer64List
    case .real: .realList
    default: .stringList
    }
  }
}

/// The items of an array, in text that has been checked.
struct ArrayItems: Sequence, IteratorProtocol {
  struct Item {
    /// Nil for null, arrays and objects.
    let type: TypedValue?
    let text: UnsafeRawBufferPointer
  }

  private var scanner: TextScanner?

  init(_ text: UnsafeRawBufferPointer) {
    guard let start = text.bindMemory(to: UInt8.self).baseAddress else { return }
    // More text, or zeros, follow the array.
    scanner = TextScanner(start, count: text.count + 1, from: 1)
  }

  mutating func next() -> Item? {
    guard var scanner, scanner.next() != UInt8(ascii: "]") else { return nil }
    if scanner.at.pointee == UInt8(ascii: ",") {
      scanner.at += 1
      _ = scanner.next()
    }
    let start = scanner.at
    let item: Item?
    do throws(TextStop) {
      let type: TypedValue?
      if TextScanner.beginsNumber(start.pointee) {
        let number = try scanner.number()
        type = .init(number)
      } else {
        try scanner.skipValue()
        type =
          switch start.pointee {
          case UInt8(ascii: "\""): TypedValue(type: .string)
          case UInt8(ascii: "t"), UInt8(ascii: "f"): .boolean
          default: nil
          }
      }
      item = Item(type: type, text: UnsafeRawBufferPointer(start: start, count: scanner.at - start))
    } catch { item = nil }
    self.scanner = scanner
    return item
  }
}

extension TypedValue {
  init(_ number: TextNumber) {
    guard number.isInteger else {
      self.init(type: .real)
      return
    }
    self.init(type: Int32(exactly: number.integer) == nil ? .integer64 : .integer)
  }
}
