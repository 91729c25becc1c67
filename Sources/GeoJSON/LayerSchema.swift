// Infers fields, ids and geometry type of a layer feature by feature. The result equals GDAL's, so that it does not matter which
// of the two reads a file.

import Geometry

struct LayerSchema {
  private var fields: [InferredField?] = []
  private var order = FieldOrder()
  private(set) var count = 0
  private var hasBareFeatures = false

  // One geometry type with and without Z becomes the type with Z; different types become "Unknown".
  private var kind: GeometryText.Kind?
  private var hasZ = false
  private var isMixed = false

  /// Whether ids outside of the properties number the features, and whether they became a field.
  private var idsAreNumbers = false
  private var idsAreAttribute = false
  /// The types of ids of features, and of the ids of features without a property `id`.
  private var idKinds: ValueKinds = []
  private var loneIDKinds: ValueKinds = []

  mutating func include(_ feature: borrowing FeatureText, _ names: inout FieldNames) throws(TextStop) {
    count += 1
    if feature.isBare { hasBareFeatures = true }
    includeGeometry(feature)
    var last = includeID(feature, &names) ?? -1
    for token in feature.properties {
      let field = token.field
      if field >= fields.count || fields[field] == nil { begin(field, InferredField()) }
      fields[field]?.include(token)
      if last >= 0 { order.note(last, before: field) }
      last = field
    }
  }

  private mutating func begin(_ number: Int, _ field: InferredField) {
    while fields.count <= number { fields.append(nil) }
    fields[number] = field
  }

  private mutating func includeGeometry(_ feature: borrowing FeatureText) {
    guard !isMixed, let other = feature.geometry.kind else { return }
    guard let known = kind else {
      kind = other
      hasZ = feature.geometry.hasZ
      return
    }
    if known != other {
      isMixed = true
    } else if feature.geometry.hasZ {
      hasZ = true
    }
  }

  /// - Returns: the field `id`, if it precedes the feature's properties.
  private mutating func includeID(_ feature: borrowing FeatureText, _ names: inout FieldNames) -> Int? {
    let type: TypedValue
    switch feature.id {
    case .none: return nil
    case .string:
      type = TypedValue(type: .string)
      idKinds.insert(.string)
    case .integer(let id):
      type = TypedValue(TextNumber(isInteger: true, bits: UInt64(bitPattern: id)))
      idKinds.insert(.integer)
    }
    let number = names.idNumber
    let property = number.flatMap { number in feature.properties.first { $0.field == number } }
    if property == nil { loneIDKinds.insert(type.type == .string ? .string : .integer) }
    if let number, number < fields.count, let field = fields[number] {
      guard idsAreAttribute else { return number }
      if type.type == .string {
        fields[number]?.setType(TypedValue(type: .string, subtype: field.type.subtype))
      } else if type.type == .integer64, field.type.type == .integer {
        fields[number]?.setType(TypedValue(type: .integer64, subtype: field.type.subtype))
      }
      return number
    }
    if case .integer(let id) = feature.id { idsAreNumbers = id >= 0 }
    guard !idsAreNumbers, property == nil || property?.kind == .null else { return nil }
    idsAreAttribute = true
    let added = names.addID()
    begin(added, InferredField(type))
    return added
  }
}

extension LayerSchema {
  /// The layer after all features have been included; throws `odd` where GDAL's result is not reproduced here.
  func layer(
    _ form: TextLayer.Form, name: String?, reference: String?, _ names: FieldNames
  ) throws(TextStop) -> TextLayer {
    let texts = (0..<fields.count).map { names.name($0) }
    // For features without properties GDAL reads fields named like members from the members; a property named `properties`
    // together with `_id` and `_rev` makes it assume GeoCouch.
    let members = ["type", "geometry", "properties", "bbox", "id"]
    guard !hasBareFeatures || texts.allSatisfy({ !members.contains($0) }),
      !["_id", "_rev", "properties"].allSatisfy(texts.contains)
    else { throw .odd("fields that are called like members") }
    var columns: [TextColumn] = []
    var columnOfField = [Int](repeating: 0, count: fields.count)
    for number in order.sorted(texts) {
      guard let (type, form) = fields[number]?.form else { throw .odd("values of several types") }
      columnOfField[number] = columns.count
      columns.append(TextColumn(field: Field(name: texts[number], type: type), form: form))
    }
    return TextLayer(
      form: form, name: name, reference: reference, columns: columns, featureCount: count,
      geometryType: isMixed ? "Unknown" : kind?.name ?? "Unknown", hasZ: hasZ && !isMixed,
      ids: try ids(names, columnOfField, texts), names: names, columnOfField: columnOfField)
  }

  private func ids(_ names: FieldNames, _ columns: [Int], _ texts: [String]) throws(TextStop) -> FeatureIDs {
    if idsAreNumbers {
      guard !idKinds.contains(.string) else { throw .odd("ids of several types") }
      return .member
    }
    guard let number = names.idNumber, number < fields.count, let field = fields[number] else { return .order }
    let isInteger = field.type.type == .integer || field.type.type == .integer64
    // Ids in place of missing properties are converted to the type of the property.
    guard loneIDKinds.isEmpty || field.type == TypedValue(type: .string) || (isInteger && loneIDKinds == .integer)
    else {
      throw .odd("ids of another type than the property")
    }
    guard isInteger else { return .attribute(columns[number]) }
    guard !field.kinds.contains(.bool),
      !texts.contains(where: { $0 != "id" && $0.utf8.count == 2 && $0.lowercased() == "id" })
    else { throw .odd("ids of several fields") }
    return .property(columns[number])
  }
}
