// A layer of an open source: its description, and how each field's column is read.

import CGDAL
import Geometry
import Reading

/// A layer of an open dataset, ready for reading.
struct FeatureLayer {
  let handle: OGRLayerH
  let description: LayerDescription
  let columns: [FieldColumn]
  /// Columns of a CSV file's coordinates.
  struct Points {
    let x: Int
    let y: Int
    let z: Int?
  }
  let points: Points?
}

extension FeatureDataset {
  /// - Parameter name: nil for the first layer.
  func layer(named name: String?) throws(ReadError) -> FeatureLayer {
    var names: [String] = []
    for index in 0..<layerCount {
      guard let handle = gdal.pointee.GDALDatasetGetLayer(self.handle, Int32(index)) else { continue }
      let found = self.name(of: handle)
      if name == nil || name == found { return try layer(handle, name: found) }
      names.append(found)
    }
    throw .noSuchLayer(name ?? "", available: names)
  }

  func layer(at index: Int) throws(ReadError) -> FeatureLayer {
    guard let handle = gdal.pointee.GDALDatasetGetLayer(self.handle, Int32(index)) else {
      throw .readFailed(
        driver: driver.rawValue, path: "", layer: String(index), reason: call.complaint ?? "no such layer")
    }
    return try layer(handle, name: self.name(of: handle))
  }

  private func name(of layer: OGRLayerH) -> String {
    files.shown(layer: gdal.pointee.OGR_L_GetName(layer).map(decoded) ?? "")
  }

  private func layer(_ handle: OGRLayerH, name: String) throws(ReadError) -> FeatureLayer {
    let columns = columns(of: handle)
    let fields = columns.map(\.field)
    var points: FeatureLayer.Points?
    if driver == .csv, let wanted = options.points {
      points = FeatureLayer.Points(
        x: try index(of: wanted.x, in: fields), y: try index(of: wanted.y, in: fields),
        z: try wanted.z.map { name throws(ReadError) in try index(of: name, in: fields) })
    }
    let count = gdal.pointee.OGR_L_GetFeatureCount(handle, 0)
    let description = LayerDescription(
      name: name, geometryType: points == nil ? geometryType(handle) : "Point", fields: fields,
      featureCount: count < 0 ? nil : Int(count), extent: count == 0 ? nil : extent(handle),
      spatialReference: Self.spatialReference(handle, gdal), fidColumn: fidColumn(handle),
      geometryName: points == nil
        ? gdal.pointee.OGR_L_GetGeometryColumn(handle).map(decoded).flatMap { $0.isEmpty ? nil : $0 } : nil)
    return FeatureLayer(handle: handle, description: description, columns: columns, points: points)
  }

  private func index(of name: String, in fields: [Field]) throws(ReadError) -> Int {
    guard let index = fields.firstIndex(where: { $0.name == Text(name) }) else {
      throw .missingField(name, available: fields.map(\.name.string))
    }
    return index
  }

  private func columns(of layer: OGRLayerH) -> [FieldColumn] {
    let definition = gdal.pointee.OGR_L_GetLayerDefn(layer)
    let fields = (0..<gdal.pointee.OGR_FD_GetFieldCount(definition)).map {
      gdal.pointee.OGR_FD_GetFieldDefn(definition, $0)
    }
    let names = Self.distinct(fields.map { text(gdal.pointee.OGR_Fld_GetNameRef($0)) })
    return zip(fields, names).enumerated().map { index, described in
      let (field, name) = described
      return FieldColumn(
        index: Int32(index), name: name, decoder: decoder,
        type: gdal.pointee.OGR_Fld_GetType(field),
        subtype: gdal.pointee.OGR_Fld_GetSubType(field))
    }
  }

  /// The names; repeated ones get a number, `name_1`, as in QGIS and ArcGIS.
  private static func distinct(_ names: [String]) -> [String] {
    var used = Set(names.map { Text($0) })
    guard used.count < names.count else { return names }
    var seen: Set<Text> = []
    return names.map { name in
      guard !seen.insert(Text(name)).inserted else { return name }
      var number = 1
      while !used.insert(Text("\(name)_\(number)")).inserted { number += 1 }
      let other = "\(name)_\(number)"
      ReaderProcess.report("Another field is named \(name); it is \(other) here.")
      return other
    }
  }

  private func geometryType(_ layer: OGRLayerH) -> String? {
    let type = gdal.pointee.OGR_GT_Flatten(gdal.pointee.OGR_L_GetGeomType(layer))
    return switch type {
    case wkbNone: nil
    case wkbPoint: "Point"
    case wkbLineString: "LineString"
    case wkbPolygon: "Polygon"
    case wkbMultiPoint: "MultiPoint"
    case wkbMultiLineString: "MultiLineString"
    case wkbMultiPolygon: "MultiPolygon"
    case wkbGeometryCollection: "GeometryCollection"
    default: "Unknown"
    }
  }

  /// The extent that the format stores; computing one would read the whole file.
  private func extent(_ layer: OGRLayerH) -> Envelope? {
    var box = OGREnvelope()
    guard gdal.pointee.OGR_L_GetExtent(layer, &box, 0) == OGRERR_NONE, box.MinX <= box.MaxX,
      [box.MinX, box.MinY, box.MaxX, box.MaxY].allSatisfy(\.isFinite)
    else { return nil }
    return Envelope(xMin: box.MinX, yMin: box.MinY, xMax: box.MaxX, yMax: box.MaxY)
  }

  private func fidColumn(_ layer: OGRLayerH) -> String? {
    guard let name = gdal.pointee.OGR_L_GetFIDColumn(layer), name.pointee != 0 else { return nil }
    return String(cString: name)
  }

  static func spatialReference(_ layer: OGRLayerH, _ gdal: GDAL) -> SpatialReference? {
    guard let text = cgdal_reference_text(gdal.pointee.OGR_L_GetSpatialRef(layer)) else { return nil }
    defer { gdal.pointee.VSIFree(text) }
    return SpatialReference(String(cString: text))
  }
}
