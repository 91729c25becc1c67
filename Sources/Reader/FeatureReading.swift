// Reads a layer: each GDAL feature becomes a row of a block and is released.

import CGDAL
import Reading

extension FeatureDataset {
  /// Calls `send` with blocks of the features of `layer`, in the format's order.
  func readFeatures(
    of layer: FeatureLayer, _ send: (inout FeatureBlockBuilder) throws(ReadError) -> Void
  ) throws(ReadError) {
    guard let sent = try readColumns(of: layer, send) else { return }
    let share = files.readShare
    let total = layer.description.featureCount.map(Double.init)
    if total == nil && share == 0 { files.readShare = 1 }
    var block = FeatureBlockBuilder(columns: layer.columns.map(\.kind))
    var count = 0
    gdal.pointee.OGR_L_ResetReading(layer.handle)
    while let feature = gdal.pointee.OGR_L_GetNextFeature(layer.handle) {
      defer { gdal.pointee.OGR_F_Destroy(feature) }
      if count & 15 == 0, let total, total > 0 {
        files.reached(min(share + (1 - share) * Double(count) / total, 0.99))
      }
      count += 1
      guard count > sent else { continue }
      try append(feature, layer, to: &block)
      if block.isFull { try send(&block) }
    }
    try checkEnd(of: layer, after: count)
    if block.count > 0 { try send(&block) }
  }

  /// Throws if the layer has more features than were read.
  func checkEnd(of layer: FeatureLayer, after count: Int) throws(ReadError) {
    if let reason = call.complaint { throw failure(layer, reason) }
    if driver.record.statesCount, let expected = layer.description.featureCount, expected != count {
      throw failure(layer, "the file ends after \(count) of \(expected) features")
    }
    if driver == .csv, let line = files.swallowingLine(after: count) {
      throw failure(layer, "the row of line \(line) has a quotation mark that is not closed")
    }
  }

  func failure(_ layer: FeatureLayer, _ reason: String) -> ReadError {
    .readFailed(driver: driver.rawValue, path: "", layer: layer.description.name, reason: reason)
  }

  private func append(
    _ feature: OGRFeatureH, _ layer: FeatureLayer, to block: inout FeatureBlockBuilder
  ) throws(ReadError) {
    let fid = gdal.pointee.OGR_F_GetFID(feature)
    block.begin(id: fid == OGRNullFID ? nil : fid)
    for (index, column) in layer.columns.enumerated() { column.append(feature, gdal, to: &block.columns[index]) }
    guard let points = layer.points else { return try appendGeometry(of: feature, layer, to: &block) }
    // GDAL's own points from CSV read a word as 0 and drop the position 0, 0.
    if let x = layer.columns[points.x].number(feature, gdal), let y = layer.columns[points.y].number(feature, gdal) {
      block.appendPoint(x: x, y: y, z: points.z.flatMap { layer.columns[$0].number(feature, gdal) })
    } else {
      block.appendNoGeometry()
    }
  }

  private func appendGeometry(
    of feature: OGRFeatureH, _ layer: FeatureLayer, to block: inout FeatureBlockBuilder
  ) throws(ReadError) {
    guard let shape = gdal.pointee.OGR_F_GetGeometryRef(feature) else { return block.appendNoGeometry() }
    try append(geometry: shape, layer, to: &block)
  }

  func append(
    geometry shape: OGRGeometryH, _ layer: FeatureLayer, to block: inout FeatureBlockBuilder
  ) throws(ReadError) {
    let type = gdal.pointee.OGR_G_GetGeometryType(shape)
    let flat = gdal.pointee.OGR_GT_Flatten(type)
    if flat == wkbPoint, gdal.pointee.OGR_GT_HasM(type) == 0, gdal.pointee.OGR_G_IsEmpty(shape) == 0 {
      let z = gdal.pointee.OGR_GT_HasZ(type) != 0 ? gdal.pointee.OGR_G_GetZ(shape, 0) : nil
      return block.appendPoint(
        x: gdal.pointee.OGR_G_GetX(shape, 0), y: gdal.pointee.OGR_G_GetY(shape, 0), z: z)
    }
    if gdal.pointee.OGR_GT_IsNonLinear(type) != 0 {
      // Arcs become chords of GDAL's default step, 4 degrees.
      let linear = gdal.pointee.OGR_G_GetLinearGeometry(shape, 0, nil)
      defer { gdal.pointee.OGR_G_DestroyGeometry(linear) }
      return try appendWKB(of: linear, layer, to: &block)
    }
    if flat == wkbPolyhedralSurface || flat == wkbTIN || flat == wkbTriangle {
      let polygons = gdal.pointee.OGR_G_ForceTo(gdal.pointee.OGR_G_Clone(shape), wkbMultiPolygon, nil)
      defer { gdal.pointee.OGR_G_DestroyGeometry(polygons) }
      return try appendWKB(of: polygons, layer, to: &block)
    }
    try appendWKB(of: shape, layer, to: &block)
  }

  private func appendWKB(
    of shape: OGRGeometryH?, _ layer: FeatureLayer, to block: inout FeatureBlockBuilder
  ) throws(ReadError) {
    guard let shape else { throw failure(layer, call.complaint ?? "a curve was not made linear") }
    let size = Int(gdal.pointee.OGR_G_WkbSize(shape))
    var isWritten = false
    block.appendWKB { bytes in
      let start = bytes.count
      bytes.append(contentsOf: repeatElement(0, count: size))
      isWritten = bytes.withUnsafeMutableBufferPointer { buffer in
        guard let base = buffer.baseAddress else { return false }
        return gdal.pointee.OGR_G_ExportToIsoWkb(shape, wkbNDR, base + start) == OGRERR_NONE
      }
    }
    guard isWritten else { throw failure(layer, call.complaint ?? "a geometry cannot be exported") }
  }
}

extension FieldColumn {
  /// The value as a coordinate; nil if it is not a number.
  fileprivate func number(_ feature: OGRFeatureH, _ gdal: GDAL) -> Double? {
    guard gdal.pointee.OGR_F_IsFieldSetAndNotNull(feature, index) != 0 else { return nil }
    switch kind {
    case .doubles:
      let number = gdal.pointee.OGR_F_GetFieldAsDouble(feature, index)
      return number.isFinite ? number : nil
    case .integers: return Double(gdal.pointee.OGR_F_GetFieldAsInteger64(feature, index))
    case .texts:
      let text = gdal.pointee.OGR_F_GetFieldAsString(feature, index).map { String(cString: $0) }
      return text.flatMap(Double.init).flatMap { $0.isFinite ? $0 : nil }
    case .bools, .json: return nil
    }
  }
}
