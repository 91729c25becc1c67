// Reads the columns of bulk requests: JSON arrays, or packed little-endian numbers, in base64 or behind the message.

import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import JSON

/// One column of a bulk request.
package enum Column {
  /// NaN stands for null.
  case doubles([Double])
  case integers([Int64])
  /// A JSON array, read from the request's document without a copy.
  case array(JSONValue)

  package var count: Int {
    switch self {
    case .doubles(let values): values.count
    case .integers(let values): values.count
    case .array(let values): values.count
    }
  }
}

package enum ColumnReader {
  package static func read(_ opaque: JSONOpaque) throws -> Column {
    guard let value = opaque.value else { return .doubles([]) }
    switch value.kind {
    case .array: return .array(value)
    case .object: return try packed(value)
    default: throw value.typeError(expected: "an array, or an object with `type` and `data`")
    }
  }

  /// What is done with rows that are refused: by default the request fails.
  package struct Refusal {
    /// The most rows that are reported.
    let most: Int
    let refuse: (_ rows: [ItemError], _ count: Int) throws -> Void

    package static var ofAll: Refusal { Refusal(most: 100) { throw ModelError.items($0, count: $1) } }
    /// Takes all such rows, of which the columns then have nothing.
    package static func each(_ body: @escaping ([ItemError]) -> Void) -> Refusal { Refusal(most: .max) { rows, _ in body(rows) } }
  }

  /// A column of coordinates.
  ///
  /// - Parameter refusal: of nulls and numbers that are not finite.
  package static func numbers(_ opaque: JSONOpaque, _ refusal: Refusal = .ofAll) throws -> [Double] {
    guard let value = opaque.value else { return [] }
    let numbers: [Double]
    if value.kind == .array {
      var read: [Double] = []
      read.reserveCapacity(value.count)
      do { try value.appendNumbers(to: &read) } catch {
        // Nulls become NaN and are reported by index below; other types are an error of the whole column.
        read = try (0..<value.count).map { value[$0].isNull ? .nan : try value[$0].double() }
      }
      numbers = read
    } else {
      switch try packed(value) {
      case .doubles(let values): numbers = values
      case .integers(let values): numbers = values.map(Double.init)
      case .array: numbers = []
      }
    }
    if areFinite(numbers) { return numbers }
    try refuse(
      numbers,
      Failure(
        .invalidGeometry, "A coordinate has to be finite.", expected: "a finite number"
      ),
      where: { !$0.isFinite }, refusal)
    return numbers
  }

  /// A column of attribute values.
  ///
  /// - Throws: for infinite numbers, and for values that are nested too deep.
  package static func attribute(_ opaque: JSONOpaque, named name: String) throws -> Column {
    let column = try read(opaque)
    if case .array(let values) = column {
      for row in 0..<values.count { try GraphicReader.checkDepth(values[row]) }
    }
    guard case .doubles(let numbers) = column else { return column }
    try refuse(
      numbers,
      Failure(
        .invalidParams, "An attribute has to be finite.", path: "/attributes/\(name)",
        expected: "a finite number, or NaN for null"), where: \.isInfinite)
    return column
  }

  fileprivate static func areFinite(_ numbers: [Double]) -> Bool {
    // The loop vectorizes.
    var areFinite = true
    for number in numbers { areFinite = areFinite && number.isFinite }
    return areFinite
  }

  private static func refuse(
    _ numbers: [Double], _ failure: Failure, where isBad: (Double) -> Bool, _ refusal: Refusal = .ofAll
  ) throws {
    guard numbers.contains(where: isBad) else { return }
    let bad = numbers.indices.filter { isBad(numbers[$0]) }
    try refusal.refuse(bad.prefix(refusal.most).map { ItemError(index: $0, .failure(failure)) }, bad.count)
  }

  package static func ids(_ opaque: JSONOpaque) throws -> [Int] {
    try opaque.value.map(integers) ?? []
  }

  static func integers(_ value: JSONValue) throws -> [Int] {
    if value.kind == .array { return try value.array { (element) throws(JSONError) in try element.integer() } }
    switch try packed(value) {
    case .integers(let values): return values.map { Int($0) }
    case .doubles(let values):
      return try values.map { number in
        guard let id = Int(exactly: number) else { throw value.typeError(expected: "integers") }
        return id
      }
    case .array: return []
    }
  }

  private static func packed(_ value: JSONValue) throws -> Column {
    try value.requireObject()
    let type = try value["type"].string()
    guard type == "float64" || type == "int64" else {
      throw value["type"].error(expected: "one of \"float64\", \"int64\"")
    }
    let data = value["data"]
    if let count = data.attachedCount, count.isMultiple(of: 8) {
      if type == "float64", let numbers = doubles(data, 0..<(count / 8)) { return .doubles(numbers) }
      if type == "int64", let numbers: [Int64] = attached(data, 0..<(count / 8)) { return .integers(numbers.map(\.littleEndian)) }
    }
    if data.kind == .string {
      if type == "float64", let numbers = data.withUTF8(doubles) { return .doubles(numbers) }
      if type == "int64", let numbers = data.withUTF8({ Base64.decode($0, as: Int64.self) }) {
        return .integers(1.littleEndian == 1 ? numbers : numbers.map(\.byteSwapped))
      }
    }
    try withBytes(data) { _ in }
    throw data.typeError(expected: "base64 of whole 8-byte numbers")
  }

  fileprivate static func doubles(_ text: UnsafeBufferPointer<UInt8>) -> [Double]? {
    let numbers = Base64.decode(text, as: Double.self)
    return 1.littleEndian == 1 ? numbers : numbers?.map { Double(bitPattern: $0.bitPattern.byteSwapped) }
  }

  /// The numbers of some rows behind the message.
  fileprivate static func doubles(_ data: JSONValue, _ rows: Range<Int>) -> [Double]? {
    let numbers: [Double]? = attached(data, rows)
    return 1.littleEndian == 1 ? numbers : numbers?.map { Double(bitPattern: $0.bitPattern.byteSwapped) }
  }

  private static func attached<Number: BitwiseCopyable>(_ data: JSONValue, _ rows: Range<Int>) -> [Number]? {
    data.withAttached { bytes in
      [Number](unsafeUninitializedCapacity: rows.count) { numbers, count in
        UnsafeMutableRawBufferPointer(numbers).copyMemory(
          from: UnsafeRawBufferPointer(rebasing: bytes[rows.lowerBound * 8..<rows.upperBound * 8]))
        count = rows.count
      }
    }
  }

  /// Passes the bytes on that a value has in base64 or behind the message.
  static func withBytes<R>(_ value: JSONValue, _ body: (UnsafeRawBufferPointer) -> R) throws(JSONError) -> R {
    if let result = value.withAttached(body) { return result }
    guard value.kind == .string, let bytes = value.withUTF8({ Base64.decode($0) }) else {
      throw value.typeError(expected: "base64")
    }
    return bytes.withUnsafeBytes(body)
  }

  /// Adds a column to a batch under a name.
  package static func set(_ column: Column, named name: String, in batch: inout FeatureBatch) throws(StoreError) {
    switch column {
    case .doubles(let values):
      try batch.setColumn(name, doubles: values, nulls: values.contains(where: \.isNaN) ? values.map(\.isNaN) : [])
    case .integers(let values): try batch.setColumn(name, integers: values)
    case .array(let values):
      // Fast path: most columns that are not numeric contain texts only.
      let isDone: Void? = try values.withTexts { (texts) throws(StoreError) in try batch.setColumn(name, texts: texts) }
      if isDone != nil { return }
      let rows = values.count
      let column = try batch.beginColumn(name, rows: rows)
      for row in 0..<rows {
        let value = values[row]
        if value.kind == .string {
          value.withUTF8 { batch.set(column: column, row: row, utf8: UnsafeRawBufferPointer($0)) }
        } else {
          batch.set(column: column, row: row, GraphicReader.attribute(value))
        }
      }
    }
  }

  /// The value of one row of a column.
  package static func value(_ column: Column, at index: Int) -> AttributeValue {
    switch column {
    case .doubles(let values): values[index].isNaN ? .null : .double(values[index])
    case .integers(let values): .integer(values[index])
    case .array(let values): GraphicReader.attribute(values[index])
    }
  }
}

/// A column of coordinates that is read part by part, on any threads.
package enum CoordinateColumn: Sendable {
  case packed(JSONValue, count: Int)
  case list([Double])

  /// A part may begin at a multiple of this: three numbers are 32 characters of base64.
  package static let step = 3

  package init(_ column: JSONOpaque) throws {
    guard let value = column.value, value.kind == .object, (try? value["type"].string()) == "float64" else {
      self = .list(try ColumnReader.numbers(column, .each { _ in }))
      return
    }
    let data = value["data"]
    if let count = data.attachedCount, count.isMultiple(of: 8) {
      self = .packed(data, count: count / 8)
    } else if data.kind == .string {
      self = .packed(data, count: data.withUTF8 { Base64.byteCount($0) / 8 })
    } else {
      self = .list(try ColumnReader.numbers(column, .each { _ in }))
    }
  }

  package var count: Int {
    switch self {
    case .packed(_, let count): count
    case .list(let numbers): numbers.count
    }
  }

  /// The numbers of some rows; nil if they are malformed or not finite.
  package subscript(rows: Range<Int>) -> [Double]? {
    switch self {
    case .list(let numbers):
      let part = Array(numbers[rows])
      return ColumnReader.areFinite(part) ? part : nil
    case .packed(let data, let count):
      let numbers = ColumnReader.doubles(data, rows) ?? data.withUTF8 { text in
        let end = rows.upperBound == count ? text.count : rows.upperBound / Self.step * 32
        return ColumnReader.doubles(UnsafeBufferPointer(rebasing: text[rows.lowerBound / Self.step * 32..<end]))
      }
      return numbers.flatMap { $0.count == rows.count && ColumnReader.areFinite($0) ? $0 : nil }
    }
  }
}
