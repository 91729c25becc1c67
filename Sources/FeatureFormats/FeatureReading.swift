// Reads a layer: each GDAL feature becomes a value and is released.

import CGDAL
import Geometry

extension FeatureDataset {
  /// Calls `body` with each feature of `layer`.
  func readFeatures(of layer: FeatureLayer, _ body: (RawFeature) -> Void) throws(FormatError) {
    let share = session.readShare
    let total = layer.description.featureCount.map(Double.init)
    if total == nil && share == 0 { session.readShare = 1 }
    var scratch: [UInt8] = []
    var count = 0
    gdal.pointee.OGR_L_ResetReading(layer.handle)
    while let feature = gdal.pointee.OGR_L_GetNextFeature(layer.handle) {
      defer { gdal.pointee.OGR_F_Destroy(feature) }
      // The flag is cheap and rows vary in size, so it is checked by count and not by time.
      if count & 15 == 0 {
        guard !session.stops() else { throw .cancelled }
        if let total, total > 0 { session.reached(min(share + (1 - share) * Double(count) / total, 0.99)) }
      }
      count += 1
      body(try value(feature, layer, &scratch))
    }
    guard !session.wasCancelled else { throw .cancelled }
    if let reason = complaint { throw failure(layer, reason) }
    // FlatGeobuf's reader takes a premature end for the end. Other drivers report it, and their counts may be inexact.
    if driver == .flatGeobuf, let expected = layer.description.featureCount, expected != count {
      throw failure(layer, "the file ends after \(count) of \(expected) features")
    }
  }

  private func failure(_ layer: FeatureLayer, _ reason: String) -> FormatError {
    .readFailed(driver: driver, path: source.name, layer: layer.description.name, reason: reason)
  }

  private func value(
    _ feature: OGRFeatureH, _ layer: FeatureLayer, _ scratch: inout [UInt8]
  ) throws(FormatError) -> RawFeature {
    let attributes = layer.columns.map { $0.value(feature, gdal) }
    let fid = gdal.pointee.OGR_F_GetFID(feature)
    let geometry =
      if let points = layer.points { point(attributes[points.x], attributes[points.y]) } else {
        try geometry(feature, layer, &scratch)
      }
    return RawFeature(fid: fid == OGRNullFID ? nil : fid, geometry: geometry, attributes: attributes)
  }

  /// GDAL's own points from CSV read a word as 0 and drop the position 0, 0.
  private func point(_ x: AttributeValue, _ y: AttributeValue) -> Geometry? {
    guard let x = number(x), let y = number(y) else { return nil }
    return .point(Point(x: x, y: y))
  }

  private func number(_ value: AttributeValue) -> Double? {
    switch value {
    case .double(let number): number
    case .integer(let number): Double(number)
    case .string(let text): Double(text).flatMap { $0.isFinite ? $0 : nil }
    case .null, .bool, .json: nil
    }
  }

  private func geometry(
    _ feature: OGRFeatureH, _ layer: FeatureLayer, _ scratch: inout [UInt8]
  ) throws(FormatError) -> Geometry? {
    guard let shape = gdal.pointee.OGR_F_GetGeometryRef(feature) else { return nil }
    let type = gdal.pointee.OGR_G_GetGeometryType(shape)
    let flat = gdal.pointee.OGR_GT_Flatten(type)
    if flat == wkbPoint { return .point(point(shape, type)) }
    if gdal.pointee.OGR_GT_IsNonLinear(type) != 0 {
      // Arcs become chords of GDAL's default step, 4 degrees.
      let linear = gdal.pointee.OGR_G_GetLinearGeometry(shape, 0, nil)
      defer { gdal.pointee.OGR_G_DestroyGeometry(linear) }
      return try decoded(linear, layer, &scratch)
    }
    if flat == wkbPolyhedralSurface || flat == wkbTIN || flat == wkbTriangle {
      let polygons = gdal.pointee.OGR_G_ForceTo(gdal.pointee.OGR_G_Clone(shape), wkbMultiPolygon, nil)
      defer { gdal.pointee.OGR_G_DestroyGeometry(polygons) }
      return try decoded(polygons, layer, &scratch)
    }
    return try decoded(shape, layer, &scratch)
  }

  private func point(_ shape: OGRGeometryH, _ type: OGRwkbGeometryType) -> Point? {
    guard gdal.pointee.OGR_G_IsEmpty(shape) == 0 else { return nil }
    return Point(
      x: gdal.pointee.OGR_G_GetX(shape, 0), y: gdal.pointee.OGR_G_GetY(shape, 0),
      z: gdal.pointee.OGR_GT_HasZ(type) != 0 ? gdal.pointee.OGR_G_GetZ(shape, 0) : nil,
      m: gdal.pointee.OGR_GT_HasM(type) != 0 ? gdal.pointee.OGR_G_GetM(shape, 0) : nil)
  }

  private func decoded(
    _ shape: OGRGeometryH?, _ layer: FeatureLayer, _ scratch: inout [UInt8]
  ) throws(FormatError) -> Geometry {
    guard let shape else { throw failure(layer, complaint ?? "a curve was not made linear") }
    let size = Int(gdal.pointee.OGR_G_WkbSize(shape))
    if scratch.count < size { scratch = [UInt8](repeating: 0, count: size * 2) }
    let result: Result<Geometry, WKBError>? = scratch.withUnsafeMutableBytes { raw in
      let bytes = raw.bindMemory(to: UInt8.self)
      guard gdal.pointee.OGR_G_ExportToIsoWkb(shape, wkbNDR, bytes.baseAddress) == OGRERR_NONE else { return nil }
      return Result { () throws(WKBError) in
        try Geometry(wkb: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(raw)[..<size]))
      }
    }
    switch result {
    case .success(let geometry): return geometry
    case .failure(let error): throw failure(layer, "a geometry cannot be held: \(error)")
    case nil: throw failure(layer, complaint ?? "a geometry cannot be exported")
    }
  }
}
