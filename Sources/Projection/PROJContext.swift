// One PROJ context with the references and operations made in it, by definition.

import CPROJ
import Geometry

/// One PROJ context.
///
/// `@unchecked`: ``PROJPool`` gives it to one caller at a time.
final class PROJContext: @unchecked Sendable {
  private struct Pair: Hashable {
    let from: String
    let to: String
    var choice: TransformationChoice?
  }

  /// Above this number all references and operations are released; a server uses few.
  private static let maximumKept = 64

  let proj: UnsafePointer<cproj_functions>
  let handle: OpaquePointer
  private var references: [String: OpaquePointer] = [:]
  private var operations: [Pair: OpaquePointer] = [:]
  private var chosen: [Pair: Transformation] = [:]
  /// The last message of PROJ's log, more specific than its error number.
  private let message: UnsafeMutablePointer<String>

  init() throws(TransformError) {
    proj = try PROJLibrary.shared.get().functions
    guard let handle = proj.pointee.proj_context_create() else {
      throw .unavailable(reason: "PROJ gives no context")
    }
    self.handle = handle
    message = .allocate(capacity: 1)
    message.initialize(to: "")
    _ = proj.pointee.proj_context_set_enable_network(handle, 0)
    cproj_confine(handle)
    _ = proj.pointee.proj_log_level(handle, PJ_LOG_ERROR)
    proj.pointee.proj_log_func(handle, message) { data, _, text in
      guard let data, let text else { return }
      data.assumingMemoryBound(to: String.self).pointee = String(cString: text)
    }
  }

  deinit {
    forget()
    _ = proj.pointee.proj_context_destroy(handle)
    message.deinitialize(count: 1)
    message.deallocate()
  }

  private func forget() {
    for object in operations.values { _ = proj.pointee.proj_destroy(object) }
    for object in references.values { _ = proj.pointee.proj_destroy(object) }
    operations = [:]
    chosen = [:]
    references = [:]
  }

  private var reason: String {
    if !message.pointee.isEmpty { return message.pointee }
    let number = proj.pointee.proj_context_errno(handle)
    return proj.pointee.proj_context_errno_string(handle, number).map { String(cString: $0) } ?? "not a reference"
  }

  /// The reference of a canonical definition; the context keeps it.
  private func reference(_ definition: String, given: String) throws(TransformError) -> OpaquePointer {
    if let known = references[definition] { return known }
    if references.count >= Self.maximumKept { forget() }
    message.pointee = ""
    guard let object = proj.pointee.proj_create(handle, definition) else {
      throw .unknownReference(given, reason: reason)
    }
    guard Self.kind(proj.pointee.proj_get_type(object)) != nil else {
      _ = proj.pointee.proj_destroy(object)
      throw .unknownReference(given, reason: "it defines something other than a spatial reference")
    }
    references[definition] = object
    return object
  }

  /// The operation between two canonical definitions, x first at both ends; the context keeps it.
  func operation(from: String, to: String) throws(TransformError) -> OpaquePointer {
    let pair = Pair(from: from, to: to)
    if let known = operations[pair] { return known }
    let (source, target) = try references(from, to)
    guard let plain = proj.pointee.proj_create_crs_to_crs_from_pj(handle, source, target, nil, nil) else {
      throw .noOperation(from: from, to: to)
    }
    defer { _ = proj.pointee.proj_destroy(plain) }
    guard let operation = proj.pointee.proj_normalize_for_visualization(handle, plain) else {
      throw .noOperation(from: from, to: to)
    }
    operations[pair] = operation
    return operation
  }

  /// The references of two canonical definitions; the context keeps them.
  func references(_ from: String, _ to: String) throws(TransformError) -> (OpaquePointer, OpaquePointer) {
    if operations.count >= Self.maximumKept || references.count >= Self.maximumKept - 1 { forget() }
    let both = (try reference(from, given: from), try reference(to, given: to))
    message.pointee = ""
    return both
  }

  /// The operation that is chosen between two canonical definitions, as ``choose(_:from:to:)``; the context keeps it.
  func operation(
    from: String, to: String, _ choice: TransformationChoice
  ) throws(TransformError) -> (operation: OpaquePointer, transformation: Transformation) {
    let pair = Pair(from: from, to: to, choice: choice)
    if let operation = operations[pair], let transformation = chosen[pair] { return (operation, transformation) }
    let (operation, transformation) = try choose(choice, from: from, to: to)
    (operations[pair], chosen[pair]) = (operation, transformation)
    return (operation, transformation)
  }

  /// An operation on longitude, latitude and height, and the metres of a unit of height at both ends; the context keeps it.
  func heightConversion(
    from: String, to: String
  ) throws(TransformError) -> (operation: OpaquePointer, from: Double, to: Double) {
    let (source, target) = (try spatial(from), try spatial(to))
    defer {
      _ = proj.pointee.proj_destroy(source.object)
      _ = proj.pointee.proj_destroy(target.object)
    }
    let pair = Pair(from: "heights of " + from, to: to)
    if let known = operations[pair] { return (known, source.unit, target.unit) }
    guard let factory = proj.pointee.proj_create_operation_factory_context(handle, nil) else { throw .noOperation(from: from, to: to) }
    defer { proj.pointee.proj_operation_factory_context_destroy(factory) }
    proj.pointee.proj_operation_factory_context_set_grid_availability_use(handle, factory, PROJ_GRID_AVAILABILITY_USED_FOR_SORTING)
    let list = proj.pointee.proj_create_operations(handle, source.object, target.object, factory)
    defer { if let list { proj.pointee.proj_list_destroy(list) } }
    var missing: [String] = []
    for index in 0..<(list.map { proj.pointee.proj_list_get_count($0) } ?? 0) {
      guard let list, let plain = proj.pointee.proj_list_get(handle, list, index) else { continue }
      defer { _ = proj.pointee.proj_destroy(plain) }
      if proj.pointee.proj_coordoperation_is_instantiable(handle, plain) == 0 { missing += grids(of: plain) }
      // One that leaves heights as they are is no conversion.
      guard proj.pointee.proj_coordoperation_is_instantiable(handle, plain) != 0,
        proj.pointee.proj_coordoperation_has_ballpark_transformation(handle, plain) == 0,
        let operation = proj.pointee.proj_normalize_for_visualization(handle, plain)
      else { continue }
      operations[pair] = operation
      return (operation, source.unit, target.unit)
    }
    var known: Set<String> = []
    missing = missing.filter { known.insert($0).inserted }
    throw missing.isEmpty ? .noOperation(from: from, to: to) : .gridMissing(from: from, to: to, grids: missing)
  }

  /// The grids of an operation that are not installed.
  private func grids(of operation: OpaquePointer) -> [String] {
    (0..<proj.pointee.proj_coordoperation_get_grid_used_count(handle, operation)).compactMap { index in
      var name: UnsafePointer<CChar>?
      var isThere: Int32 = 0
      guard proj.pointee.proj_coordoperation_get_grid_used(handle, operation, index, &name, nil, nil, nil, nil, nil, &isThere) != 0, isThere == 0
      else { return nil }
      return name.map { String(cString: $0) }
    }
  }

  /// A reference with the heights of another over WGS 84, and the metres of a unit of height. The caller destroys it.
  private func spatial(_ definition: String) throws(TransformError) -> (object: OpaquePointer, unit: Double) {
    let object = try reference(definition, given: definition)
    func unit(_ object: OpaquePointer, axis: Int32) -> Double {
      guard let system = proj.pointee.proj_crs_get_coordinate_system(handle, object) else { return 1 }
      defer { _ = proj.pointee.proj_destroy(system) }
      var factor = 1.0
      _ = proj.pointee.proj_cs_get_axis_info(handle, system, axis, nil, nil, nil, &factor, nil, nil, nil)
      return factor
    }
    var part: OpaquePointer?
    switch proj.pointee.proj_get_type(object) {
    case PJ_TYPE_VERTICAL_CRS: part = proj.pointee.proj_create(handle, definition)
    case PJ_TYPE_COMPOUND_CRS: part = proj.pointee.proj_crs_get_sub_crs(handle, object, 1)
    case PJ_TYPE_GEOGRAPHIC_3D_CRS:
      if let copy = proj.pointee.proj_create(handle, definition) { return (copy, unit(object, axis: 2)) }
    default: break
    }
    guard let part else { throw .noHeightDatum(definition) }
    defer { _ = proj.pointee.proj_destroy(part) }
    let ground = try reference(SpatialReference.wgs84.definition, given: definition)
    // PROJ makes references of parts by functions that are experimental, or of text.
    guard let x = proj.pointee.proj_as_projjson(handle, ground, nil).map({ String(cString: $0) }),
      let y = proj.pointee.proj_as_projjson(handle, part, nil).map({ String(cString: $0) }),
      let both = proj.pointee.proj_create(handle, #"{"type": "CompoundCRS", "name": "heights", "components": [\#(x), \#(y)]}"#)
    else { throw .noHeightDatum(definition) }
    return (both, unit(part, axis: 0))
  }

  /// Nil for other objects: a datum, an ellipsoid, an operation.
  static func kind(_ type: PJ_TYPE) -> SpatialReferenceInfo.Kind? {
    switch type {
    case PJ_TYPE_GEOGRAPHIC_2D_CRS, PJ_TYPE_GEOGRAPHIC_3D_CRS, PJ_TYPE_GEOGRAPHIC_CRS: .geographic
    // Compound and bound references have the kind of their horizontal part, which `describe` looks up.
    case PJ_TYPE_PROJECTED_CRS, PJ_TYPE_COMPOUND_CRS, PJ_TYPE_BOUND_CRS: .projected
    case PJ_TYPE_GEOCENTRIC_CRS: .geocentric
    case PJ_TYPE_ENGINEERING_CRS, PJ_TYPE_OTHER_CRS, PJ_TYPE_TEMPORAL_CRS: .local
    case PJ_TYPE_VERTICAL_CRS: .vertical
    default: nil
    }
  }

  func describe(_ definition: String, given: String) throws(TransformError) -> SpatialReferenceInfo {
    let object = try reference(definition, given: given)
    // Names and units differ between writers of WKT, so the authority's are used where the code is known.
    if let code = code(of: object), code != definition { return try describe(code, given: given) }
    let horizontal = horizontal(object)
    defer { if horizontal != object { _ = proj.pointee.proj_destroy(horizontal) } }
    let kind = Self.kind(proj.pointee.proj_get_type(horizontal)) ?? .local
    let unit = unit(of: horizontal)
    let (datum, verticalName) = vertical(object)
    // A unit of angle is in radians, and rounded.
    let turn = kind == .geographic ? unit.map { 2 * Double.pi / $0.factor } ?? 360 : 360
    return SpatialReferenceInfo(
      reference: SpatialReference(definition),
      name: proj.pointee.proj_get_name(object).map { String(cString: $0) } ?? "", kind: kind,
      unitName: unit?.name ?? "", metersPerUnit: kind == .geographic ? nil : unit?.factor, areaOfUse: area(of: object),
      heightDatum: datum, verticalName: verticalName, turn: abs(turn.rounded() - turn) < 1e-6 ? turn.rounded() : turn,
      isTilted: kind == .geographic && proj.pointee.proj_crs_is_derived(handle, horizontal) != 0)
  }

  func esriWKT(_ definition: String, given: String) throws(TransformError) -> String? {
    let object = try reference(definition, given: given)
    func text(_ form: PJ_WKT_TYPE) -> String? {
      "MULTILINE=NO".withCString { option in
        [option, nil].withUnsafeBufferPointer { proj.pointee.proj_as_wkt(handle, object, form, $0.baseAddress).map { String(cString: $0) } }
      }
    }
    // Esri has no shift of a datum in a reference, and PROJ names projections that Esri does not have after its own.
    guard proj.pointee.proj_get_type(object) != PJ_TYPE_BOUND_CRS, let esri = text(PJ_WKT1_ESRI), !esri.contains("PROJECTION[\"PROJ_") else {
      return text(PJ_WKT2_2019)
    }
    return esri
  }

  /// What heights are above, and the name of the part that says it.
  private func vertical(_ object: OpaquePointer) -> (HeightDatum, String?) {
    func name(_ object: OpaquePointer) -> String? { proj.pointee.proj_get_name(object).map { String(cString: $0) } }
    switch proj.pointee.proj_get_type(object) {
    case PJ_TYPE_VERTICAL_CRS: return (.geoid, name(object))
    case PJ_TYPE_GEOGRAPHIC_3D_CRS: return (.ellipsoid, name(object))
    case PJ_TYPE_COMPOUND_CRS:
      guard let part = proj.pointee.proj_crs_get_sub_crs(handle, object, 1) else { return (.unknown, nil) }
      defer { _ = proj.pointee.proj_destroy(part) }
      return (.geoid, name(part))
    default:
      // A projected reference may have three axes.
      guard let system = proj.pointee.proj_crs_get_coordinate_system(handle, object) else { return (.unknown, nil) }
      defer { _ = proj.pointee.proj_destroy(system) }
      return proj.pointee.proj_cs_get_axis_count(handle, system) == 3 ? (.ellipsoid, name(object)) : (.unknown, nil)
    }
  }

  /// The part of a compound or bound reference that defines x and y; the object itself for others. The caller destroys
  /// the result if it is not `object`.
  private func horizontal(_ object: OpaquePointer) -> OpaquePointer {
    var current = object
    while true {
      let next: OpaquePointer? =
        switch proj.pointee.proj_get_type(current) {
        case PJ_TYPE_COMPOUND_CRS: proj.pointee.proj_crs_get_sub_crs(handle, current, 0)
        case PJ_TYPE_BOUND_CRS: proj.pointee.proj_get_source_crs(handle, current)
        default: nil
        }
      guard let next else { return current }
      if current != object { _ = proj.pointee.proj_destroy(current) }
      current = next
    }
  }

  private func unit(of object: OpaquePointer) -> (name: String, factor: Double)? {
    guard let system = proj.pointee.proj_crs_get_coordinate_system(handle, object) else { return nil }
    defer { _ = proj.pointee.proj_destroy(system) }
    var factor = 0.0
    var name: UnsafePointer<CChar>?
    guard proj.pointee.proj_cs_get_axis_info(handle, system, 0, nil, nil, nil, &factor, &name, nil, nil) != 0,
      let name
    else { return nil }
    return (String(cString: name), factor)
  }

  func area(of object: OpaquePointer) -> Envelope? {
    var west = 0.0
    var south = 0.0
    var east = 0.0
    var north = 0.0
    guard proj.pointee.proj_get_area_of_use(handle, object, &west, &south, &east, &north, nil) != 0,
      // -1000 is PROJ's value for unknown.
      west != -1000
    else { return nil }
    return Envelope(xMin: west, yMin: south, xMax: east, yMax: north)
  }

  /// `AUTHORITY:CODE` by its own id, or by an equal reference of EPSG.
  private func code(of object: OpaquePointer) -> String? {
    if let own = id(of: object) { return own }
    // A reference bound to its own datum shift differs from EPSG's.
    guard proj.pointee.proj_get_type(object) != PJ_TYPE_BOUND_CRS else { return nil }
    var confidences: UnsafeMutablePointer<Int32>?
    guard let matches = proj.pointee.proj_identify(handle, object, "EPSG", nil, &confidences) else { return nil }
    defer {
      proj.pointee.proj_list_destroy(matches)
      proj.pointee.proj_int_list_destroy(confidences)
    }
    // 100 is equal, 90 equal except names; 70 and less differ in meaning.
    guard proj.pointee.proj_list_get_count(matches) > 0, let confidences, confidences[0] >= 90,
      let best = proj.pointee.proj_list_get(handle, matches, 0)
    else { return nil }
    defer { _ = proj.pointee.proj_destroy(best) }
    return id(of: best)
  }

  func id(of object: OpaquePointer) -> String? {
    guard let authority = proj.pointee.proj_get_id_auth_name(object, 0),
      let code = proj.pointee.proj_get_id_code(object, 0)
    else { return nil }
    let name = "\(String(cString: authority)):\(String(cString: code))"
    return name == "OGC:CRS84" ? SpatialReference.wgs84.definition : name
  }
}
