// The operations that PROJ knows between two references, and the choice of one.

import CPROJ
import Geometry

extension PROJContext {
  /// Passes the operations between two canonical definitions to `body` until it is false, the best first as if all grids were there.
  private func forEachOperation(
    from: String, to: String, in area: Envelope?, superseded: Bool, _ body: (OpaquePointer) -> Bool
  ) throws(TransformError) {
    let (source, target) = try references(from, to)
    guard let factory = proj.pointee.proj_create_operation_factory_context(handle, nil) else { throw .noOperation(from: from, to: to) }
    defer { proj.pointee.proj_operation_factory_context_destroy(factory) }
    proj.pointee.proj_operation_factory_context_set_grid_availability_use(handle, factory, PROJ_GRID_AVAILABILITY_IGNORED)
    proj.pointee.proj_operation_factory_context_set_spatial_criterion(handle, factory, PROJ_SPATIAL_CRITERION_PARTIAL_INTERSECTION)
    proj.pointee.proj_operation_factory_context_set_discard_superseded(handle, factory, superseded ? 0 : 1)
    if let area {
      proj.pointee.proj_operation_factory_context_set_area_of_interest(
        handle, factory, area.xMin, area.yMin, area.xMax, area.yMax)
    }
    guard let list = proj.pointee.proj_create_operations(handle, source, target, factory) else { throw .noOperation(from: from, to: to) }
    defer { proj.pointee.proj_list_destroy(list) }
    for index in 0..<proj.pointee.proj_list_get_count(list) {
      guard let operation = proj.pointee.proj_list_get(handle, list, index) else { continue }
      defer { _ = proj.pointee.proj_destroy(operation) }
      guard body(operation) else { return }
    }
  }

  func transformations(from: String, to: String, in area: Envelope?) throws(TransformError) -> [Transformation] {
    var all: [Transformation] = []
    try forEachOperation(from: from, to: to, in: area, superseded: false) {
      all.append(transformation($0))
      return true
    }
    guard !all.isEmpty else { throw .noOperation(from: from, to: to) }
    return all
  }

  /// The best operation of a choice for which nothing is lacking, x first at both ends. The caller destroys it.
  func choose(
    _ choice: TransformationChoice, from: String, to: String
  ) throws(TransformError) -> (operation: OpaquePointer, Transformation) {
    var found: (OpaquePointer, Transformation)?
    var missing: [String] = []
    // A superseded one may be asked for by name.
    try forEachOperation(from: from, to: to, in: choice.area, superseded: choice.name != nil) { plain in
      let what = transformation(plain)
      guard choice.includes(what) else { return true }
      guard what.isAvailable, let operation = proj.pointee.proj_normalize_for_visualization(handle, plain) else {
        missing += what.grids.filter { !$0.isAvailable && !missing.contains($0.name) }.map(\.name)
        return true
      }
      found = (operation, what)
      return false
    }
    if let found { return found }
    guard missing.isEmpty else { throw .gridMissing(from: from, to: to, grids: missing) }
    guard let name = choice.name?.string else { throw .noOperation(from: from, to: to) }
    throw .unknownTransformation(name, from: from, to: to, isElsewhere: isKnown(name))
  }

  /// Whether an authority has an operation with a code.
  private func isKnown(_ name: String) -> Bool {
    let parts = name.split(separator: ":").map(String.init)
    guard parts.count == 2,
      let object = proj.pointee.proj_create_from_database(handle, parts[0], parts[1], PJ_CATEGORY_COORDINATE_OPERATION, 0, nil)
    else { return false }
    _ = proj.pointee.proj_destroy(object)
    return true
  }

  private func transformation(_ operation: OpaquePointer) -> Transformation {
    let grids = (0..<proj.pointee.proj_coordoperation_get_grid_used_count(handle, operation)).compactMap { index -> Transformation.Grid? in
      var (name, url): (UnsafePointer<CChar>?, UnsafePointer<CChar>?)
      var isThere: Int32 = 0
      guard
        proj.pointee.proj_coordoperation_get_grid_used(handle, operation, index, &name, nil, nil, &url, nil, nil, &isThere) != 0,
        let name
      else { return nil }
      let address = url.map { String(cString: $0) } ?? ""
      return .init(name: String(cString: name), url: address.isEmpty ? nil : address, isAvailable: isThere != 0)
    }
    let accuracy = proj.pointee.proj_coordoperation_get_accuracy(handle, operation)
    var areaName: UnsafePointer<CChar>?
    _ = proj.pointee.proj_get_area_of_use(handle, operation, nil, nil, nil, nil, &areaName)
    return Transformation(
      name: proj.pointee.proj_get_name(operation).map { String(cString: $0) } ?? "", codes: codes(of: operation),
      accuracy: accuracy < 0 ? nil : accuracy,
      isBallpark: proj.pointee.proj_coordoperation_has_ballpark_transformation(handle, operation) != 0,
      areaOfUse: area(of: operation), areaName: areaName.map { String(cString: $0) }, grids: grids,
      isAvailable: proj.pointee.proj_coordoperation_is_instantiable(handle, operation) != 0)
  }

  /// Its own code, or those of its steps but for conversions, which have no choice.
  private func codes(of operation: OpaquePointer) -> [String] {
    // The inverse of an operation has the authority `INVERSE(EPSG)`.
    if let id = id(of: operation) { return [id.split(separator: "(").last.map { $0.filter { $0 != ")" } } ?? id] }
    guard proj.pointee.proj_get_type(operation) == PJ_TYPE_CONCATENATED_OPERATION else { return [] }
    return (0..<proj.pointee.proj_concatoperation_get_step_count(handle, operation)).flatMap { index -> [String] in
      guard let step = proj.pointee.proj_concatoperation_get_step(handle, operation, index) else { return [] }
      defer { _ = proj.pointee.proj_destroy(step) }
      return proj.pointee.proj_get_type(step) == PJ_TYPE_CONVERSION ? [] : codes(of: step)
    }
  }
}
