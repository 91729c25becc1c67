// Passes values of a block's column to GDAL, by the type of the field.

import CGDAL
import Geometry
import JSON
import Reading

/// A field of a layer that is being written. The server has checked that the texts of its values are well-formed.
struct WrittenField {
  /// The index in the layer.
  let index: Int32
  let field: Field

  /// Creates the field in the layer, unless its format has one of that name; nil if GDAL refuses it.
  ///
  /// - Parameter isNew: false if the layer was made with its fields.
  init?(_ field: Field, in layer: OGRLayerH, isNew: Bool, _ gdal: GDAL) {
    let definition = gdal.pointee.OGR_L_GetLayerDefn(layer)
    let count = gdal.pointee.OGR_FD_GetFieldCount(definition)
    guard !isNew || Self.create(field, in: layer, gdal) else { return nil }
    let isNew = gdal.pointee.OGR_FD_GetFieldCount(definition) > count
    index = isNew ? count : gdal.pointee.OGR_FD_GetFieldIndex(definition, field.name.string)
    self.field = field
  }

  private static func create(_ field: Field, in layer: OGRLayerH, _ gdal: GDAL) -> Bool {
    let (type, subtype): (OGRFieldType, OGRFieldSubType) =
      switch field.type {
      case .boolean: (OFTInteger, OFSTBoolean)
      case .integer: (OFTInteger64, OFSTNone)
      case .double: (OFTReal, OFSTNone)
      case .string: (OFTString, OFSTNone)
      case .json: (OFTString, OFSTJSON)
      case .date: (OFTDate, OFSTNone)
      case .time: (OFTTime, OFSTNone)
      case .dateTime: (OFTDateTime, OFSTNone)
      case .binary: (OFTBinary, OFSTNone)
      }
    let definition = gdal.pointee.OGR_Fld_Create(field.name.string, type)
    defer { gdal.pointee.OGR_Fld_Destroy(definition) }
    gdal.pointee.OGR_Fld_SetSubType(definition, subtype)
    return gdal.pointee.OGR_L_CreateField(layer, definition, 1) == OGRERR_NONE
  }

  /// - Parameter scratch: reused, for texts that have to end with a zero.
  func set(
    _ block: borrowing FeatureBlock, _ column: Int, _ row: Int, in feature: OGRFeatureH, _ gdal: GDAL,
    _ scratch: inout [CChar]
  ) {
    guard !block.isNull(column: column, row: row) else { return gdal.pointee.OGR_F_SetFieldNull(feature, index) }
    switch block.columns[column] {
    case .none: gdal.pointee.OGR_F_SetFieldNull(feature, index)
    case .integers(let values): gdal.pointee.OGR_F_SetFieldInteger64(feature, index, values[row])
    case .doubles(let values): gdal.pointee.OGR_F_SetFieldDouble(feature, index, values[row])
    case .bools(let values): gdal.pointee.OGR_F_SetFieldInteger(feature, index, values[row] == 0 ? 0 : 1)
    case .texts(let texts), .json(let texts): set(texts[row], in: feature, gdal, &scratch)
    }
  }

  private func set(
    _ text: UnsafeRawBufferPointer, in feature: OGRFeatureH, _ gdal: GDAL, _ scratch: inout [CChar]
  ) {
    switch field.type {
    case .date, .dateTime, .time: setMoment(text, in: feature, gdal)
    case .binary:
      let bytes = Base64.decode(text.bindMemory(to: UInt8.self)) ?? []
      bytes.withUnsafeBytes { gdal.pointee.OGR_F_SetFieldBinary(feature, index, Int32($0.count), $0.baseAddress) }
    default:
      scratch.removeAll(keepingCapacity: true)
      scratch.append(contentsOf: text.bindMemory(to: CChar.self))
      scratch.append(0)
      gdal.pointee.OGR_F_SetFieldString(feature, index, scratch)
    }
  }

  /// `2024-02-29`, `2024-02-29T10:20:30.125Z` or `10:20:30.125`.
  private func setMoment(_ text: UnsafeRawBufferPointer, in feature: OGRFeatureH, _ gdal: GDAL) {
    func number(_ start: Int, _ count: Int) -> Int32 {
      text.dropFirst(start).prefix(count).reduce(0) { $0 * 10 + Int32($1 & 15) }
    }
    let hasDate = field.type != .time
    let start = hasDate ? 11 : 0
    let hasTime = field.type != .date
    var second: Float = 0
    if hasTime {
      let digits = text.dropFirst(start + 9).prefix { $0 & 0xF0 == 0x30 }.prefix(3)
      let fraction = digits.reduce(Float(0)) { $0 * 10 + Float($1 & 15) }
      second = Float(number(start + 6, 2)) + fraction / [1, 10, 100, 1000][digits.count]
    }
    // 100 is UTC, 0 no zone.
    gdal.pointee.OGR_F_SetFieldDateTimeEx(
      feature, index, hasDate ? number(0, 4) : 0, hasDate ? number(5, 2) : 0, hasDate ? number(8, 2) : 0,
      hasTime ? number(start, 2) : 0, hasTime ? number(start + 3, 2) : 0, second, field.type == .dateTime ? 100 : 0)
  }
}
