// Makes blocks of columns of features for a writer process.

import Calendar
import Expressions
import FeatureStore
import GeoProtocol
import Geometry
import JSON
import Planning
import Reading
import WireCoding

struct ExportBlocks: ~Copyable {
  private let export: FeatureExport
  private let fields: [ExportField]
  private let keepsIDs: Bool
  /// Whether features without a position are left out. Failed transformations cause them, and the index has no place for them.
  private let needsPositions: Bool
  /// Whether all geometries are written with Z and with M; nil if each keeps its own layout.
  private let layout: (hasZ: Bool, hasM: Bool)?
  private let isText: Bool
  private let digits: ExportFormat.Digits?
  /// The column in the place of the Z of points, which then is not written.
  private let elevationColumn: Int?
  private let isTable: Bool
  /// Whether only some positions have Z, or M, and all that lack it get NaN.
  private let hasGaps: Bool
  /// The type of the layer; nil without geometries.
  private let typeName: String?
  private var builder: FeatureBlockBuilder
  private var scratch = JSONWriter(capacity: 256)
  private var lastID = Int.min
  /// Whether the ids of all features so far ascend.
  private(set) var isByID = true

  init(_ export: FeatureExport, _ fields: ExportFields, for job: WriteJob) {
    self.export = export
    self.fields = fields.all
    let record = export.format.record
    needsPositions = record.needsPositions || job.isIndexed && record.order == .byPosition
    (isText, digits) = (record.isText, record.digits)
    elevationColumn = job.driver.elevationField.flatMap { name in
      fields.all.first { $0.field.name == Text(name) && $0.field.type == .double }?.column
    }
    isTable = record.isTable
    layout =
      switch record.mixture {
      case .oneTypeWithZ: (job.z != .none, job.m != .none)
      case .families: isText ? nil : (job.z != .none, job.m != .none)
      case .any: nil
      }
    hasGaps = !isText && (job.z == .some || job.m == .some)
    typeName = job.layer.geometryType
    keepsIDs = export.format.record.keepsIDs
    builder = FeatureBlockBuilder(columns: fields.all.map(\.kind))
  }

  /// Makes a sealed block of the first rows of `rows` and removes these; nil with `errno` set on failure.
  ///
  /// - Parameter count: the number of all rows.
  mutating func next(
    _ rows: inout ArraySlice<UInt32>, of count: Int, _ report: inout ExportReport, _ share: WorkShare
  ) throws -> CInt? {
    while let row = rows.first, !builder.isFull {
      if rows.count.isMultiple(of: 32) { try share.checkpoint(count - rows.count, of: count) }
      rows = rows.dropFirst()
      guard let feature = export.output.features.store[row] else { continue }
      var failed: [FeatureOutput.Failure] = []
      let shape = try export.output.shape(of: row, 0, &failed) { try share.work?.checkCancelled() }
      report.add(failed)
      if needsPositions, !feature.hasPosition(shape) {
        report.note(.features)
      } else {
        append(feature, shape, &report)
        report.count += 1
      }
    }
    return builder.finish()
  }

  private mutating func append(
    _ feature: FeatureRow, _ shape: FeatureWriter.Shape, _ report: inout ExportReport
  ) {
    if feature.id < lastID { isByID = false }
    lastID = feature.id
    builder.begin(id: keepsIDs ? Int64(feature.id) : nil)
    let isSpatial = export.output.selection.geometry
    if case .own = shape, let point = feature.point, typeName == "Point" || typeName == "Unknown",
      layout?.hasM != true
    {
      let hasZ = layout?.hasZ ?? !point.z.isNaN
      if hasZ, point.z.isNaN { report.note(.dimensions) }
      if !hasZ, !point.z.isNaN { report.note(.elevations) }
      builder.appendPoint(x: point.x, y: point.y, z: hasZ ? point.z : nil)
    } else if isSpatial, var geometry = feature.shape(shape) {
      if hasGaps, geometry.hasGaps(layout) { report.note(.dimensions) }
      if let wrapped = geometry.wrapped(for: typeName) {
        report.note(.geometryType)
        geometry = wrapped
      }
      if isText { geometry = geometry.asText(&report) }
      if isTable, let layout { geometry.noteLosses(layout, &report) }
      let bytes = layout.map { geometry.wkb(hasZ: $0.hasZ, hasM: $0.hasM) } ?? geometry.wkb()
      builder.appendWKB { $0.append(contentsOf: bytes) }
    } else {
      builder.appendNoGeometry()
    }
    if let elevationColumn, let value = Scalar(feature.value(elevationColumn)).number,
      case .point(let point?)? = feature.shape(shape), let z = point.z, z != value
    {
      report.note(.elevations)
    }
    for (index, field) in fields.enumerated() {
      feature.withAttribute(field.column) { append($0, field, at: index, &report) }
    }
  }

  // MARK: Values

  private mutating func append(
    _ value: FeatureRow.Attribute, _ field: ExportField, at index: Int, _ report: inout ExportReport
  ) {
    switch (field.field.type, value) {
    case (_, .null): builder.columns[index].appendNull()
    case (.boolean, .bool(let flag)): builder.columns[index].append(flag)
    case (.integer, .integer(let number)):
      // Readers take a column that is wider for doubles.
      if isTable, !(-99_999_999_999_999_999...999_999_999_999_999_999).contains(number) {
        report.note(.values, field: field.source.name.string)
      }
      builder.columns[index].append(number)
    case (.double, .integer(let number)):
      if Int64(exactly: Double(number)) != number { report.note(.values, field: field.source.name.string) }
      builder.columns[index].append(Double(number))
    case (.double, .double(let number)) where isTable && !number.fitsTable:
      report.note(.values, field: field.source.name.string)
      if abs(number) < 1e22 { builder.columns[index].append(number) } else { builder.columns[index].appendNull() }
    case (.double, .double(let number)):
      if let digits, !number.isWritten(by: digits) { report.note(.values, field: field.source.name.string) }
      builder.columns[index].append(number)
    case (.dateTime, .string(let text)): append(moment: text, field, at: index, &report)
    case (_, .string(let text)) where field.field.type != .json: append(text: text, field, at: index, &report)
    case (.json, .json(let text)): append(text: text, field, at: index, &report)
    default:
      // A field of mixed types has the JSON text of each value.
      scratch.truncate(to: 0)
      FeatureWriter.write(value, to: &scratch)
      builder.columns[index].append(valid: scratch.bytes)
    }
  }

  /// Appends a text, up to the first NUL, at which GDAL ends texts.
  private mutating func append(
    text: UnsafeRawBufferPointer, _ field: ExportField, at index: Int, _ report: inout ExportReport
  ) {
    var kept = text.prefix { $0 != 0 }
    if isTable {
      // Characters are not split.
      if kept.count > 254 { kept = kept.prefix(text[...254].lastIndex { $0 & 0xC0 != 0x80 } ?? 0) }
      while kept.last == UInt8(ascii: " ") { kept.removeLast() }
    }
    // Readers drop spaces at both ends.
    let isTrimmed = (isTable || digits == .significant) && kept.first == UInt8(ascii: " ")
    if kept.count < text.count || isTrimmed { report.note(.values, field: field.source.name.string) }
    if isText {
      let scalars = String(decoding: kept, as: UTF8.self).unicodeScalars
      if !scalars.allSatisfy(\.isOfXML) {
        report.note(.values, field: field.source.name.string)
        let clean = Array(String(String.UnicodeScalarView(scalars.filter(\.isOfXML))).utf8)
        return clean.withUnsafeBytes { builder.columns[index].append(valid: $0) }
      }
    }
    // An empty text is no value there.
    guard !isTable || !kept.isEmpty else {
      if text.isEmpty { report.note(.values, field: field.source.name.string) }
      return builder.columns[index].appendNull()
    }
    builder.columns[index].append(valid: UnsafeRawBufferPointer(rebasing: kept))
  }

  /// Appends a time in UTC, truncated to milliseconds.
  private mutating func append(
    moment text: UnsafeRawBufferPointer, _ field: ExportField, at index: Int, _ report: inout ExportReport
  ) {
    guard let time = CivilTime(utf8: text) else { return builder.columns[index].appendNull() }
    let name = field.source.name.string
    if time.nanoseconds % 1_000_000 != 0 { report.note(.values, field: name) }
    // Formats write years with four digits, so other years become null.
    guard let utc = time.utcText else {
      report.note(.values, field: name)
      return builder.columns[index].appendNull()
    }
    if text.last != UInt8(ascii: "Z"), text.last != UInt8(ascii: "z") { report.note(.timeZones, field: name) }
    builder.columns[index].append(utc)
  }
}

extension FeatureRow {
  /// Whether the geometry to be written exists and is not empty.
  fileprivate func hasPosition(_ shape: FeatureWriter.Shape) -> Bool {
    if case .own = shape, point != nil { return true }
    return self.shape(shape).map { !$0.isEmpty } ?? false
  }

  /// The geometry to be written.
  func shape(_ shape: FeatureWriter.Shape) -> Geometry? {
    switch shape {
    case .own: geometry
    case .given(let geometry): geometry
    }
  }
}

extension Double {
  /// Whether it is the same in 24 characters with at most 15 decimals.
  fileprivate var fitsTable: Bool {
    let parts = description.split(separator: ".")
    return isFinite && !description.contains("e") && parts.count == 2 && parts[1].utf8.count <= 15
      && description.utf8.count <= 24
  }

  /// Whether a text of so many digits is the same number.
  fileprivate func isWritten(by digits: ExportFormat.Digits) -> Bool {
    guard isFinite else { return true }
    let parts = description.split(separator: "e")
    let mantissa = parts[0].split(separator: ".", omittingEmptySubsequences: false)
    let decimals = mantissa.count < 2 || mantissa[1] == "0" ? 0 : mantissa[1].utf8.count
    let exponent = parts.count < 2 ? 0 : Int(parts[1]) ?? 0
    switch digits {
    case .significant:
      let all = parts[0].filter(\.isNumber).drop { $0 == "0" }
      return all.reversed().drop { $0 == "0" }.count <= 15
    case .decimal: return decimals - exponent <= 15 && magnitude < 1e60
    }
  }
}

extension Geometry {
  /// Without M, and without Z unless all positions have it: NaN is no coordinate in a text.
  fileprivate func asText(_ report: inout ExportReport) -> Geometry {
    if hasM { report.note(.measures) }
    let plain = mapPositions { positions in
      guard positions.hasM else { return positions }
      return Positions((0..<positions.count).map { Point(x: positions[$0].x, y: positions[$0].y, z: positions[$0].z) })
    }
    guard plain.hasGaps(nil) else { return plain }
    report.note(.elevations)
    return plain.mapPositions { positions in
      Positions((0..<positions.count).map { Point(x: positions[$0].x, y: positions[$0].y) })
    }
  }

  fileprivate func noteLosses(_ layout: (hasZ: Bool, hasM: Bool), _ report: inout ExportReport) {
    if !layout.hasM, hasM { report.note(.measures) }
    var hasZ = false
    if !layout.hasZ { forEachPositions { hasZ = hasZ || $0.hasZ } }
    if hasZ { report.note(.elevations) }
  }

  /// Whether any position gets NaN for its Z or M, because `layout` has it, or else because another position has it.
  fileprivate func hasGaps(_ layout: (hasZ: Bool, hasM: Bool)?) -> Bool {
    var (hasZ, hasM) = layout ?? (false, false)
    if layout == nil {
      forEachPositions { positions in
        hasZ = hasZ || positions.hasZ
        hasM = hasM || positions.hasM
      }
    }
    var result = false
    forEachPositions { positions in
      guard !positions.isEmpty else { return }
      if hasZ, !positions.hasZ || positions.lacksZ { result = true }
      if hasM, !positions.hasM || positions.lacksM { result = true }
    }
    return result
  }
}

extension CivilTime {
  /// `2024-02-29T10:20:30.125Z`, truncated to milliseconds; nil outside the years 0 to 9999.
  fileprivate var utcText: String? {
    guard 0...9999 ~= CalendarDay(number: seconds.flooredQuotient(86_400)).year else { return nil }
    return Self.text(ofMilliseconds: seconds * 1000 + nanoseconds / 1_000_000)
  }
}
