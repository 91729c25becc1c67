// Writes a layer by GDAL: each row of a block becomes a feature.

import CGDAL
import Geometry
import JSON
import Platform
import Reading

/// A layer that is being written. `close` completes the file; if writing fails, the server discards the file.
struct LayerWriter {
  private let gdal: GDAL
  private let dataset: GDALDatasetH
  private let layer: OGRLayerH
  private let fields: [WrittenField]
  /// The index of the field that has the Z of points; nil if positions have it.
  private let elevation: Int32?
  /// The journal mark of a database to which the layer is added.
  private let journalMark: [UInt8]?
  private let job: WriteJob
  private let call: GDALCall

  /// Writes a job's layer from the blocks that arrive through a channel.
  static func write(_ job: WriteJob, _ channel: Channel) throws(ReadError) {
    let gdal = try WriterLibrary.shared.get().functions
    let call = GDALCall()
    defer { call.end() }
    let writer = try LayerWriter(job, gdal, call)
    try orEnd { () throws(ChannelError) in
      try ReaderProcess.reply(.layer(writer.description(featureCount: nil)), channel)
    }
    while true {
      let message: Message
      do throws(ChannelError) { message = try channel.receive() } catch { _exit(0) }
      let request = try? message.document.read { json throws(JSONError) in try ReaderRequest(from: json) }
      if request == .end { break }
      guard request == .block, let file = message.files.first,
        let block = FeatureBlock(mapping: file, columns: job.layer.fields.count)
      else { _exit(1) }
      try writer.append(block)
      try orEnd { () throws(ChannelError) in try ReaderProcess.reply(.taken, channel) }
    }
    let written = writer.description(featureCount: writer.featureCount)
    try writer.close()
    try orEnd { () throws(ChannelError) in try ReaderProcess.reply(.layer(written), channel) }
  }

  /// Ends the process if the channel fails: without a server there is nobody to report an error to.
  private static func orEnd(_ body: () throws(ChannelError) -> Void) throws(ReadError) {
    do throws(ChannelError) { try body() } catch { _exit(0) }
  }

  private init(_ job: WriteJob, _ gdal: GDAL, _ call: GDALCall) throws(ReadError) {
    (self.job, self.gdal, self.call) = (job, gdal, call)
    guard let driver = gdal.pointee.GDALGetDriverByName(job.driver.rawValue) else {
      throw .driverMissing(
        job.driver, available: WriteDriver.allCases.filter { $0 != .tiles && gdal.pointee.GDALGetDriverByName($0.rawValue) != nil })
    }
    call.forget()
    let dataset: GDALDatasetH
    if job.placement == .create {
      journalMark = nil
      let created = withStrings(job.driver.record.fileOptions) { options in
        gdal.pointee.GDALCreate(driver, WrittenFiles.targetName, 0, 0, 0, GDT_Unknown, unchanged(options))
      }
      guard let created else { throw Self.failure(call, "the file cannot be created") }
      dataset = created
    } else {
      journalMark = WrittenFiles.setJournalMark([1, 1])
      dataset = try Self.opened(job, gdal, call)
    }
    self.dataset = dataset
    let reference = try Self.reference(job.layer.spatialReference, gdal, call)
    defer { gdal.pointee.OSRDestroySpatialReference(reference) }
    let tables = job.driver.record.tables
    for statement in tables { _ = gdal.pointee.GDALDatasetExecuteSQL(dataset, statement, nil, nil) }
    let overwrite = job.placement == .replaceLayer ? ["OVERWRITE=YES"] : []
    let created = withStrings(job.driver.record.layerOptions(job) + overwrite) { options in
      tables.isEmpty
        ? gdal.pointee.GDALDatasetCreateLayer(dataset, job.layer.name, reference, job.geometryType(gdal), unchanged(options))
        : gdal.pointee.GDALDatasetGetLayerByName(dataset, job.layer.name)
    }
    guard let layer = created else { throw Self.failure(call, "the layer cannot be created") }
    self.layer = layer
    fields = try job.layer.fields.map { field throws(ReadError) in
      if let written = WrittenField(field, in: layer, isNew: tables.isEmpty, gdal) { return written }
      throw Self.failure(call, "the field \(field.name.string) cannot be created")
    }
    elevation = job.driver.elevationField.flatMap { name in
      let index = gdal.pointee.OGR_FD_GetFieldIndex(gdal.pointee.OGR_L_GetLayerDefn(layer), name)
      return index >= 0 ? index : nil
    }
    // One transaction for all features: one for each would take ten times as long. Formats without transactions refuse it.
    _ = gdal.pointee.GDALDatasetStartTransaction(dataset, 0)
  }

  /// Opens the file to which the layer is added.
  private static func opened(_ job: WriteJob, _ gdal: GDAL, _ call: GDALCall) throws(ReadError) -> GDALDatasetH {
    let dataset = withStrings([job.driver.rawValue]) { drivers in
      withStrings(["LIST_ALL_TABLES=YES"]) { options in
        gdal.pointee.GDALOpenEx(
          WrittenFiles.targetName, UInt32(GDAL_OF_VECTOR | GDAL_OF_UPDATE), drivers, options, nil)
      }
    }
    guard let dataset else {
      let reason = call.complaint ?? "the file is not recognized"
      throw .openFailed(driver: job.driver.rawValue, path: "", reason: reason)
    }
    let names = (0..<gdal.pointee.GDALDatasetGetLayerCount(dataset)).compactMap { index in
      gdal.pointee.GDALDatasetGetLayer(dataset, index).flatMap { gdal.pointee.OGR_L_GetName($0) }.map(decoded)
    }
    if job.placement == .addLayer, names.contains(where: { $0.lowercased() == job.layer.name.lowercased() }) {
      throw .layerExists(job.layer.name, available: names)
    }
    return dataset
  }

  private static func reference(
    _ reference: SpatialReference?, _ gdal: GDAL, _ call: GDALCall
  ) throws(ReadError) -> OGRSpatialReferenceH? {
    guard let reference else { return nil }
    let handle = gdal.pointee.OSRNewSpatialReference(nil)
    guard gdal.pointee.OSRSetFromUserInput(handle, reference.definition) == OGRERR_NONE else {
      gdal.pointee.OSRDestroySpatialReference(handle)
      throw failure(call, "GDAL does not know the spatial reference \(reference.definition)")
    }
    gdal.pointee.OSRSetAxisMappingStrategy(handle, OAMS_TRADITIONAL_GIS_ORDER)
    return handle
  }

  /// The description of the layer as GDAL has created it.
  private func description(featureCount: Int?) -> LayerDescription {
    let definition = gdal.pointee.OGR_L_GetLayerDefn(layer)
    let fields = fields.map { written in
      let field = gdal.pointee.OGR_FD_GetFieldDefn(definition, written.index)
      return FieldColumn(
        index: written.index, name: gdal.pointee.OGR_Fld_GetNameRef(field).map(decoded) ?? "",
        type: gdal.pointee.OGR_Fld_GetType(field), subtype: gdal.pointee.OGR_Fld_GetSubType(field)
      ).field
    }
    return LayerDescription(
      name: gdal.pointee.OGR_L_GetName(layer).map(decoded) ?? "", geometryType: job.layer.geometryType, fields: fields,
      featureCount: featureCount, extent: nil, spatialReference: job.layer.spatialReference, fidColumn: nil)
  }

  /// The number of features written; nil if unknown. It may be less than was sent: GDAL 3.6 silently omits FlatGeobuf features
  /// without positions.
  private var featureCount: Int? {
    job.driver.record.count(Int(gdal.pointee.OGR_L_GetFeatureCount(layer, 0)))
  }

  /// The system's error if a write failed, else GDAL's message.
  private static func failure(_ call: GDALCall, _ fallback: String) -> ReadError {
    let number = WrittenFiles.failure
    return .writeFailed(path: "", reason: number != 0 ? errorText(number) : call.complaint ?? fallback)
  }

  // MARK: Features

  private func append(_ block: borrowing FeatureBlock) throws(ReadError) {
    var scratch: [CChar] = []
    for row in 0..<block.count {
      guard let feature = gdal.pointee.OGR_F_Create(gdal.pointee.OGR_L_GetLayerDefn(layer)) else {
        throw Self.failure(call, "a feature cannot be made")
      }
      defer { gdal.pointee.OGR_F_Destroy(feature) }
      if let ids = block.ids { _ = gdal.pointee.OGR_F_SetFID(feature, ids[row]) }
      for (column, field) in fields.enumerated() { field.set(block, column, row, in: feature, gdal, &scratch) }
      if job.layer.geometryType != nil { try setGeometry(of: feature, block.geometries, row) }
      if let elevation, gdal.pointee.OGR_F_IsFieldSetAndNotNull(feature, elevation) == 0,
        let shape = gdal.pointee.OGR_F_GetGeometryRef(feature), gdal.pointee.OGR_G_GetGeometryType(shape) == wkbPoint25D
      {
        gdal.pointee.OGR_F_SetFieldDouble(feature, elevation, gdal.pointee.OGR_G_GetZ(shape, 0))
      }
      guard gdal.pointee.OGR_L_CreateFeature(layer, feature) == OGRERR_NONE else {
        throw Self.failure(call, "a feature cannot be written")
      }
    }
  }

  private func setGeometry(
    of feature: OGRFeatureH, _ geometries: BlockGeometries, _ row: Int
  ) throws(ReadError) {
    var shape: OGRGeometryH?
    switch geometries {
    case .none: return
    case .points(let values, let stride):
      shape = gdal.pointee.OGR_G_CreateGeometry(stride == 3 ? wkbPoint25D : wkbPoint)
      let base = row * stride
      if stride == 3 {
        gdal.pointee.OGR_G_SetPoint(shape, 0, values[base], values[base + 1], values[base + 2])
      } else {
        gdal.pointee.OGR_G_SetPoint_2D(shape, 0, values[base], values[base + 1])
      }
    case .wkb(let offsets, let bytes):
      let range = Int(offsets[row])..<Int(offsets[row + 1])
      guard !range.isEmpty else { return }
      let part = UnsafeRawBufferPointer(rebasing: bytes[range])
      guard gdal.pointee.OGR_G_CreateFromWkb(part.baseAddress, nil, &shape, Int32(part.count)) == OGRERR_NONE else {
        throw Self.failure(call, "a geometry cannot be made")
      }
    }
    _ = gdal.pointee.OGR_F_SetGeometryDirectly(feature, shape)
  }

  private func close() throws(ReadError) {
    call.forget()
    for statement in job.driver.record.finalStatements(job) {
      _ = gdal.pointee.GDALDatasetExecuteSQL(dataset, statement, nil, nil)
    }
    _ = gdal.pointee.GDALDatasetCommitTransaction(dataset)
    // Formats without transactions report that none is active.
    call.forget()
    _ = gdal.pointee.GDALClose(dataset)
    if let journalMark { _ = WrittenFiles.setJournalMark(journalMark) }
    if WrittenFiles.failure != 0 || call.complaint != nil { throw Self.failure(call, "the file cannot be finished") }
  }
}

/// GDAL's lists have no `const`, but are not changed.
private func unchanged(_ list: UnsafePointer<UnsafePointer<CChar>?>?) -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? {
  UnsafeMutableRawPointer(mutating: list)?.assumingMemoryBound(to: UnsafeMutablePointer<CChar>?.self)
}

extension WriteJob {
  fileprivate func geometryType(_ gdal: GDAL) -> OGRwkbGeometryType {
    let type: OGRwkbGeometryType
    switch layer.geometryType {
    case nil: return wkbNone
    case "Point": type = wkbPoint
    case "LineString": type = wkbLineString
    case "Polygon": type = wkbPolygon
    case "MultiPoint": type = wkbMultiPoint
    case "MultiLineString": type = wkbMultiLineString
    case "MultiPolygon": type = wkbMultiPolygon
    case "GeometryCollection": type = wkbGeometryCollection
    default: type = wkbUnknown
    }
    // Several readers know no layer of any type with Z.
    if type == wkbUnknown { return type }
    return gdal.pointee.OGR_GT_SetModifier(type, z == .none ? 0 : 1, m == .none ? 0 : 1)
  }
}
