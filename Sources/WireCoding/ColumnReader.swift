// Reads the columns of bulk requests: JSON arrays, or packed little-endian numbers in base64.

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

  /// A column of coordinates.
  ///
  /// - Throws: for nulls and numbers that are not finite, with the indexes of the first 100.
  package static func numbers(_ opaque: JSONOpaque) throws -> [Double] {
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
    try refuse(
      numbers,
      Failure(
        .invalidGeometry, "A coordinate has to be finite.", expected: "a finite number"
      ),
      where: { !$0.isFinite })
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

  private static func refuse(_ numbers: [Double], _ failure: Failure, where isBad: (Double) -> Bool) throws {
    guard numbers.contains(where: isBad) else { return }
    let bad = numbers.indices.filter { isBad(numbers[$0]) }
    throw ModelError.items(bad.prefix(100).map { ItemError(index: $0, .failure(failure)) }, count: bad.count)
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
    let bytes = try bytes(value["data"])
    guard bytes.count.isMultiple(of: 8) else {
      throw value["data"].typeError(expected: "base64 of whole 8-byte numbers")
    }
    return type == "float64"
      ? .doubles(words(bytes) { Double(bitPattern: $0) }) : .integers(words(bytes) { Int64(bitPattern: $0) })
  }

  static func bytes(_ value: JSONValue) throws(JSONError) -> [UInt8] {
    guard value.kind == .string, let bytes = value.withUTF8({ Base64.decode($0) }) else {
      throw value.typeError(expected: "base64")
    }
    return bytes
  }

  private static func words<Word>(_ bytes: [UInt8], _ word: (UInt64) -> Word) -> [Word] {
    bytes.withUnsafeBytes { bytes in
      [Word](unsafeUninitializedCapacity: bytes.count / 8) { words, count in
        for index in 0..<bytes.count / 8 {
          let bits = bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self)
          words.initializeElement(at: index, to: word(UInt64(littleEndian: bits)))
        }
        count = bytes.count / 8
      }
    }
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
