// Converts a GDAL field to a column of a block. The conversion is chosen once for each layer, not for each value.

import CGDAL
import Geometry
import Platform
import Reading

/// One field of a layer.
struct FieldColumn {
  private enum Reader {
    case bool, integer, double, string, json, date, time, dateTime, smallIntegers, integers, doubles, strings, binary
  }

  let index: Int32
  let field: Field
  let type: OGRFieldType
  private let reader: Reader
  /// Decodes texts that are not UTF-8.
  private let decoder: TextDecoder?

  init(index: Int32, name: String, decoder: TextDecoder? = nil, type: OGRFieldType, subtype: OGRFieldSubType) {
    self.index = index
    self.decoder = decoder
    self.type = type
    let (fieldType, reader): (FieldType, Reader) =
      switch type {
      case OFTInteger where subtype == OFSTBoolean: (.boolean, .bool)
      case OFTInteger, OFTInteger64: (.integer, .integer)
      case OFTReal: (.double, .double)
      case OFTDate: (.date, .date)
      case OFTTime: (.time, .time)
      case OFTDateTime: (.dateTime, .dateTime)
      case OFTString where subtype == OFSTJSON: (.json, .json)
      case OFTIntegerList: (.json, .smallIntegers)
      case OFTInteger64List: (.json, .integers)
      case OFTRealList: (.json, .doubles)
      case OFTStringList: (.json, .strings)
      case OFTBinary: (.binary, .binary)
      default: (.string, .string)
      }
    field = Field(name: name, type: fieldType)
    self.reader = reader
  }

  var kind: BlockColumnBuilder.Kind {
    switch reader {
    case .bool: .bools
    case .integer: .integers
    case .double: .doubles
    case .string, .date, .time, .dateTime, .binary: .texts
    case .json, .smallIntegers, .integers, .doubles, .strings: .json
    }
  }

  /// Appends the value in a feature.
  func append(_ feature: OGRFeatureH, _ gdal: GDAL, to column: inout BlockColumnBuilder) {
    guard gdal.pointee.OGR_F_IsFieldSetAndNotNull(feature, index) != 0 else { return column.appendNull() }
    switch reader {
    case .bool: column.append(gdal.pointee.OGR_F_GetFieldAsInteger(feature, index) != 0)
    case .integer: column.append(gdal.pointee.OGR_F_GetFieldAsInteger64(feature, index))
    case .double: column.append(gdal.pointee.OGR_F_GetFieldAsDouble(feature, index))
    case .string, .json:
      guard let text = gdal.pointee.OGR_F_GetFieldAsString(feature, index) else { return column.appendNull() }
      guard let decoder else {
        return column.append(utf8: UnsafeRawBufferPointer(start: text, count: strlen(text)))
      }
      decoder.decode(UnsafeBufferPointer(start: text, count: strlen(text))) { column.append(utf8: $0) }
    case .date, .time, .dateTime:
      if let text = moment(feature, gdal) { column.append(text) } else { column.appendNull() }
    case .smallIntegers: column.append(array(list(gdal.pointee.OGR_F_GetFieldAsIntegerList, feature, \.description)))
    case .integers: column.append(array(list(gdal.pointee.OGR_F_GetFieldAsInteger64List, feature, \.description)))
    case .doubles:
      let numbers = list(gdal.pointee.OGR_F_GetFieldAsDoubleList, feature) { $0.isFinite ? $0.description : "null" }
      column.append(array(numbers))
    case .strings:
      var next = gdal.pointee.OGR_F_GetFieldAsStringList(feature, index)
      var texts: [String] = []
      while let text = next?.pointee {
        texts.append(quoted(decoded(text)))
        next = next?.successor()
      }
      column.append(array(texts))
    case .binary:
      var count: Int32 = 0
      let bytes = gdal.pointee.OGR_F_GetFieldAsBinary(feature, index, &count)
      column.append(base64(UnsafeBufferPointer(start: bytes, count: bytes == nil ? 0 : Int(count))))
    }
  }

  private func list<Value>(
    _ values: (OGRFeatureH?, Int32, UnsafeMutablePointer<Int32>?) -> UnsafePointer<Value>?, _ feature: OGRFeatureH,
    _ text: (Value) -> String
  ) -> [String] {
    var count: Int32 = 0
    let values = values(feature, index, &count)
    return UnsafeBufferPointer(start: values, count: values == nil ? 0 : Int(count)).map(text)
  }

  /// RFC 3339. A time without a zone is taken as UTC, as in GeoPackage and OGC API Features.
  private func moment(_ feature: OGRFeatureH, _ gdal: GDAL) -> String? {
    var year: Int32 = 0
    var month: Int32 = 0
    var day: Int32 = 0
    var hour: Int32 = 0
    var minute: Int32 = 0
    var zone: Int32 = 0
    var second: Float = 0
    guard
      gdal.pointee.OGR_F_GetFieldAsDateTimeEx(
        feature, index, &year, &month, &day, &hour, &minute, &second, &zone) != 0
    else { return nil }
    let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    if reader == .date { return date }
    // GDAL keeps seconds in a Float, accurate to a millisecond.
    let milliseconds = min(Int32((second * 1000).rounded()), 59_999)
    var time = "\(padded(hour, 2)):\(padded(minute, 2)):\(padded(milliseconds / 1000, 2))"
    if milliseconds % 1000 != 0 { time += "." + padded(milliseconds % 1000, 3) }
    if reader == .time { return time }
    // GDAL encodes zones in quarters of an hour from 100; 0 is unknown and 1 local.
    let offset = zone > 1 ? (zone - 100) * 15 : 0
    let zoneText =
      offset == 0 ? "Z" : "\(offset < 0 ? "-" : "+")\(padded(abs(offset) / 60, 2)):\(padded(abs(offset) % 60, 2))"
    return "\(date)T\(time)\(zoneText)"
  }
}

private func padded(_ value: Int32, _ width: Int) -> String {
  let digits = String(value)
  return String(repeating: "0", count: max(0, width - digits.count)) + digits
}

private func array(_ items: [String]) -> String { "[" + items.joined(separator: ",") + "]" }

private func quoted(_ text: String) -> String {
  var result = "\""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "\"", "\\": result += "\\" + String(scalar)
    case "\n": result += "\\n"
    case _ where scalar.value < 0x20:
      let hex = String(scalar.value, radix: 16)
      result += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
    default: result.unicodeScalars.append(scalar)
    }
  }
  return result + "\""
}

private func base64(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
  let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  var result: [UInt8] = []
  result.reserveCapacity((bytes.count + 2) / 3 * 4)
  for start in stride(from: 0, to: bytes.count, by: 3) {
    let count = min(3, bytes.count - start)
    var group: UInt32 = 0
    for index in 0..<3 { group = group << 8 | (index < count ? UInt32(bytes[start + index]) : 0) }
    for index in 0..<4 {
      result.append(index <= count ? alphabet[Int(group >> (18 - 6 * UInt32(index))) & 63] : UInt8(ascii: "="))
    }
  }
  return String(decoding: result, as: UTF8.self)
}
