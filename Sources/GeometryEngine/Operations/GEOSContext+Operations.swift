// Operations by GEOS.

import CGEOS
import Geometry

extension GEOSContext {
  /// Outer rings of results are counterclockwise, as RFC 7946 has them.
  func compute(_ operation: GeometryOperation, _ operands: [Geometry]) throws(EngineError) -> GeometryOutcome {
    var outcome = try made(operation, operands)
    for index in outcome.geometries.indices where outcome.geometries[index].dimension == 2 {
      outcome.geometries[index] = outcome.geometries[index].withRightHandRings
    }
    return outcome
  }

  private func made(_ operation: GeometryOperation, _ operands: [Geometry]) throws(EngineError) -> GeometryOutcome {
    for operand in operands where operand.isBeyondPlaces { throw .beyondPlaces(operation.kind) }
    var operands = operands
    if operation.needsValidity {
      for index in operands.indices where operands[index].dimension == 2 && !operands[index].isSurelyValid {
        if operation.trusts(index) { continue }
        let shape = try GEOSShape(operands[index], in: self)
        guard case .invalid(let reason, let place) = try validity(of: shape) else {
          guard operation.kind == .buffer, operands[index].uniform != nil else { continue }
          // The operation has one operand, which is built already.
          let given = shape.handle
          return GeometryOutcome([try geometry(of: GEOSShape(of: "buffer", in: self) { buffered(given, operation.numbers) })])
        }
        guard operation.mends else { throw .invalid(reason: reason, at: place, operand: index) }
        operands[index] = try geometry(of: madeValid(shape))
      }
    }
    // GEOS copies a polygon that it has nothing to unite with.
    if operation.kind == .union, operands.count == 1, case .polygon = operands[0], !operands[0].hasM { return GeometryOutcome(operands) }
    let numbers = operation.numbers
    switch operation.kind {
    case .intersection where operands.contains(where: \.isMixed), .difference where operands.contains(where: \.isMixed),
      .symmetricDifference where operands.contains(where: \.isMixed):
      return try mixed(operation.kind, operands)
    case .buffer: return GeometryOutcome([try within(operands[0], numbers)])
    case .offset: return GeometryOutcome([try beside(operands[0], numbers)])
    case .union:
      return try one(operands.count == 1 ? operands[0] : .collection(operands), "union") { geos.pointee.GEOSUnaryUnion_r(handle, $0) }
    case .intersection: return try two(operands, "intersection") { geos.pointee.GEOSIntersection_r(handle, $0, $1) }
    case .difference: return try two(operands, "difference") { geos.pointee.GEOSDifference_r(handle, $0, $1) }
    case .symmetricDifference: return try two(operands, "symmetricDifference") { geos.pointee.GEOSSymDifference_r(handle, $0, $1) }
    case .convexHull: return try one(operands[0], "convexHull") { geos.pointee.GEOSConvexHull_r(handle, $0) }
    case .concaveHull:
      return try one(operands[0], "concaveHull") { geos.pointee.GEOSConcaveHull_r(handle, $0, numbers[0], UInt32(numbers[1])) }
    case .minimumRectangle:
      return GeometryOutcome([try one(operands[0], "minimumRectangle") { geos.pointee.GEOSConvexHull_r(handle, $0) }.geometries[0].smallestRectangle])
    case .minimumCircle: return try circle(operands[0])
    case .simplify: return try simplified(operands[0], byStructure: numbers[0] == 1)
    case .generalize: return try generalized(operands[0], numbers[0])
    case .labelPoint: return try labelPoint(operands[0])
    case .centroid: return try one(operands[0], "centroid") { geos.pointee.GEOSGetCentroid_r(handle, $0) }
    case .cut: return try cut(operands[0], by: operands[1])
    case .reshape: return GeometryOutcome([try reshaped(operands[0], by: operands[1])])
    case .autoComplete: return try completed(operands, existing: Int(numbers[0]))
    case .nearest: return try nearest(operands[0], operands[1])
    case .relate: return try matrix(operands[0], operands[1])
    case .validity: return try fault(of: operands[0])
    case .snap: return try snapped(operands[0], to: numbers[0])
    }
  }

  func one(
    _ operand: Geometry, _ name: String, _ make: (OpaquePointer) -> OpaquePointer?
  ) throws(EngineError) -> GeometryOutcome {
    let shape = try GEOSShape(operand, in: self)
    let given = shape.handle
    return GeometryOutcome([try geometry(of: GEOSShape(of: name, in: self) { make(given) })])
  }

  /// Collections are united first, as GEOS refuses them.
  func two(
    _ operands: [Geometry], _ name: String, _ make: (OpaquePointer, OpaquePointer) -> OpaquePointer?
  ) throws(EngineError) -> GeometryOutcome {
    let first = try united(operands[0])
    let second = try united(operands[1])
    let (left, right) = (first.handle, second.handle)
    return GeometryOutcome([try geometry(of: GEOSShape(of: name, in: self) { make(left, right) })])
  }

  /// An overlay of which an operand has parts of several dimensions. GEOS 3.11 takes the highest one alone, later ones refuse some.
  private func mixed(_ kind: GeometryOperation.Kind, _ operands: [Geometry]) throws(EngineError) -> GeometryOutcome {
    var sides: [[Geometry]] = []
    for operand in operands {
      let whole = try geometry(of: united(operand))
      sides.append((0...2).map(whole.part(ofDimension:)).filter { !$0.isEmpty })
    }
    var made: [Geometry] = []
    if kind == .intersection {
      for one in sides[0] { for other in sides[1] { made += try self.made(GeometryOperation(.intersection), [one, other]).geometries } }
    }
    for (own, others) in [(0, 1), (1, 0)] where kind == .symmetricDifference || kind == .difference && own == 0 {
      for part in sides[own] {
        var rest = [part]
        for other in sides[others] where !rest[0].isEmpty {
          rest = try self.made(GeometryOperation(.difference), [rest[0], other]).geometries
        }
        made += rest
      }
    }
    let whole = Geometry.collection(made.filter { !$0.isEmpty })
    return try one(whole.uniform ?? whole, "union") { geos.pointee.GEOSUnaryUnion_r(handle, $0) }
  }

  /// GEOS 3.14 goes beyond the distance, by a quarter in some; then a smaller one is tried.
  private func generalized(_ operand: Geometry, _ most: Double) throws(EngineError) -> GeometryOutcome {
    // Of positions in a row some are beside it by rounding.
    let rounding = operand.envelope.map { 1e-15 * max(abs($0.xMin), abs($0.xMax), abs($0.yMin), abs($0.yMax)) } ?? 0
    for part in 0..<6 {
      let distance = most / Double(1 << part)
      let made = try one(operand, "generalize") { geos.pointee.GEOSTopologyPreserveSimplify_r(handle, $0, distance) }
      // GEOS makes of one part no multipart geometry, and leaves out empty ones and M.
      guard let whole = operand.choosing(made.geometries[0]) else { continue }
      if operand.deviation(of: whole) <= most * (1 + 1e-9) + rounding { return GeometryOutcome([whole]) }
    }
    return GeometryOutcome([operand])
  }

  /// Parts that are buffered together: GEOS takes the square of their number, and of polygons that overlap it shrinks away too much.
  private static let bufferedTogether = 64

  /// The union of the buffers of all parts.
  private func bufferedApart(_ shape: OpaquePointer, _ numbers: [Double], _ count: Int32) -> OpaquePointer? {
    var made: [OpaquePointer?] = []
    for index in 0..<count {
      guard let part = geos.pointee.GEOSGetGeometryN_r(handle, shape, index), let buffer = buffered(part, numbers) else {
        for buffer in made { geos.pointee.GEOSGeom_destroy_r(handle, buffer) }
        return nil
      }
      made.append(buffer)
    }
    // Takes the parts over, whatever it returns.
    let type = Int32(GEOS_GEOMETRYCOLLECTION.rawValue)
    guard let all = made.withUnsafeMutableBufferPointer({
      geos.pointee.GEOSGeom_createCollection_r(handle, type, $0.baseAddress, UInt32(count))
    }) else { return nil }
    defer { geos.pointee.GEOSGeom_destroy_r(handle, all) }
    guard geos.pointee.GEOSisEmpty_r(handle, all) != 1 else { return geos.pointee.GEOSGeom_createEmptyPolygon_r(handle) }
    return geos.pointee.GEOSUnaryUnion_r(handle, all)
  }

  func buffered(_ shape: OpaquePointer, _ numbers: [Double]) -> OpaquePointer? {
    let count = geos.pointee.GEOSGetNumGeometries_r(handle, shape)
    let isShrunk = numbers[0] < 0 && geos.pointee.GEOSGeomTypeId_r(handle, shape) == Int32(GEOS_GEOMETRYCOLLECTION.rawValue)
    if count > (isShrunk ? 1 : Self.bufferedTogether), numbers[5] == 0 { return bufferedApart(shape, numbers, count) }
    guard let params = geos.pointee.GEOSBufferParams_create_r(handle) else { return nil }
    defer { geos.pointee.GEOSBufferParams_destroy_r(handle, params) }
    _ = geos.pointee.GEOSBufferParams_setQuadrantSegments_r(handle, params, Int32(numbers[1]))
    _ = geos.pointee.GEOSBufferParams_setEndCapStyle_r(handle, params, Int32(numbers[2]))
    _ = geos.pointee.GEOSBufferParams_setJoinStyle_r(handle, params, Int32(numbers[3]))
    _ = geos.pointee.GEOSBufferParams_setMitreLimit_r(handle, params, numbers[4])
    _ = geos.pointee.GEOSBufferParams_setSingleSided_r(handle, params, Int32(numbers[5]))
    return geos.pointee.GEOSBufferWithParams_r(handle, shape, params, numbers[0])
  }

  private func circle(_ operand: Geometry) throws(EngineError) -> GeometryOutcome {
    var radius = 0.0
    var center: OpaquePointer?
    defer { if let center { geos.pointee.GEOSGeom_destroy_r(handle, center) } }
    // Of positions in one place GEOS makes nothing.
    if let box = operand.envelope, box.width == 0, box.height == 0 {
      let place = Geometry.point(Point(x: box.xMin, y: box.yMin))
      return GeometryOutcome([place, place], numbers: [0])
    }
    var outcome = try one(operand, "minimumCircle") { geos.pointee.GEOSMinimumBoundingCircle_r(handle, $0, &radius, &center) }
    var (x, y) = (Double.nan, Double.nan)
    if let center {
      _ = geos.pointee.GEOSGeomGetX_r(handle, center, &x)
      _ = geos.pointee.GEOSGeomGetY_r(handle, center, &y)
    }
    outcome.geometries.append(.point(x.isNaN ? nil : Point(x: x, y: y)))
    outcome.numbers = [radius]
    return outcome
  }

  func simplified(_ operand: Geometry, byStructure: Bool) throws(EngineError) -> GeometryOutcome {
    // Lines: what GEOS calls valid may cross itself; the union puts a position at each crossing.
    if operand.dimension < 2 {
      return GeometryOutcome([try one(operand, "simplify") { geos.pointee.GEOSUnaryUnion_r(handle, $0) }.geometries[0].withLoopsDivided])
    }
    // Of lines beside polygons GEOS makes nothing else.
    if case .collection(let members) = operand, operand.isMixed {
      return GeometryOutcome([.collection(try members.map { (member) throws(EngineError) in try simplified(member, byStructure: byStructure).geometries[0] })])
    }
    var made = operand
    // By structure GEOS makes one in a thousand that is not valid; again it is.
    for _ in 0..<3 {
      let shape = try GEOSShape(made, in: self)
      let given = shape.handle
      made = try geometry(of: GEOSShape(of: "simplify", in: self) {
        guard let params = geos.pointee.GEOSMakeValidParams_create_r(handle) else { return nil }
        defer { geos.pointee.GEOSMakeValidParams_destroy_r(handle, params) }
        _ = geos.pointee.GEOSMakeValidParams_setMethod_r(handle, params, byStructure ? GEOS_MAKE_VALID_STRUCTURE : GEOS_MAKE_VALID_LINEWORK)
        return geos.pointee.GEOSMakeValidWithParams_r(handle, given, params)
      })
      guard byStructure, case .invalid = try validity(of: GEOSShape(made, in: self)) else { break }
    }
    return GeometryOutcome([made])
  }

  /// In polygons the centre of the largest circle inside, to a thousandth of the larger side; on lines the middle of the longest.
  private func labelPoint(_ operand: Geometry) throws(EngineError) -> GeometryOutcome {
    let polygons = operand.flattened.flatMap(\.polygons)
    guard polygons.contains(where: { !($0.first?.isEmpty ?? true) }) else { return GeometryOutcome([.point(operand.middle)]) }
    let area = Geometry.multiPolygon(polygons)
    let sides = area.envelope.map { ($0.width, $0.height) } ?? (0, 0)
    let size = max(sides.0, sides.1)
    // GEOS begins with squares of the shorter side, of which a narrow box has millions. No place in one is better than another by more
    // than the tolerance. The circle is a line from its centre to the nearest place of the boundary.
    guard size > 0, min(sides.0, sides.1) >= size / 1000, case .lineString(let line) = try one(area, "labelPoint", {
      geos.pointee.GEOSMaximumInscribedCircle_r(handle, $0, size / 1000)
    }).geometries[0], line.count > 1 else { return try one(area, "labelPoint") { geos.pointee.GEOSPointOnSurface_r(handle, $0) } }
    return GeometryOutcome([.point(Point(x: line[0].x, y: line[0].y))], numbers: [line.length])
  }

  private func nearest(_ first: Geometry, _ second: Geometry) throws(EngineError) -> GeometryOutcome {
    guard !first.isEmpty, !second.isEmpty else { return GeometryOutcome() }
    let one = try GEOSShape(first.withoutEmptyMembers, in: self)
    let other = try GEOSShape(second.withoutEmptyMembers, in: self)
    let (left, right) = (one.handle, other.handle)
    let sequence = try run("nearest") { geos.pointee.GEOSNearestPoints_r(handle, left, right) }
    defer { geos.pointee.GEOSCoordSeq_destroy_r(handle, sequence) }
    let points = (0..<UInt32(2)).map { index in
      var (x, y) = (0.0, 0.0)
      _ = geos.pointee.GEOSCoordSeq_getX_r(handle, sequence, index, &x)
      _ = geos.pointee.GEOSCoordSeq_getY_r(handle, sequence, index, &y)
      return Point(x: x, y: y)
    }
    let way = SIMD2(points[1].x - points[0].x, points[1].y - points[0].y)
    return GeometryOutcome(points.map(Geometry.point), numbers: [(way * way).sum().squareRoot()])
  }

  private func matrix(_ first: Geometry, _ second: Geometry) throws(EngineError) -> GeometryOutcome {
    let one = try united(first)
    let other = try united(second)
    let (left, right) = (one.handle, other.handle)
    let isMixed = [first, second].contains { geometry in geometry.uniform == nil }
    let text: UnsafeMutablePointer<CChar>
    do throws(EngineError) { text = try run("relate") { geos.pointee.GEOSRelate_r(handle, left, right) } } catch {
      throw isMixed ? .failed(operation: "relate", reason: "members of a collection differ in dimension") : error
    }
    defer { geos.pointee.GEOSFree_r(handle, text) }
    return GeometryOutcome(text: String(cString: text))
  }

  /// The reason why it is not simple, with a place: of polygons the first that GEOS finds, of lines a crossing, of points a repeated one.
  private func fault(of operand: Geometry) throws(EngineError) -> GeometryOutcome {
    let shape: GEOSShape
    do throws(EngineError) { shape = try GEOSShape(operand, in: self) } catch {
      guard case .failed(_, let reason) = error else { throw error }
      return GeometryOutcome(text: reason)
    }
    if case .invalid(let reason, let place) = try validity(of: shape) {
      return GeometryOutcome(place.map { [.point($0)] } ?? [], text: reason)
    }
    let given = shape.handle
    if case .collection = operand {
      for member in operand.flattened where member.dimension < 2 && !member.isEmpty {
        let found = try fault(of: member)
        if found.text != nil { return found }
      }
      return GeometryOutcome()
    }
    if try answer("isSimple", { geos.pointee.GEOSisSimple_r(handle, given) }) { return GeometryOutcome() }
    if case .multiPoint(let points) = operand {
      return GeometryOutcome(points.firstRepeated.map { [.point($0)] } ?? [], text: "Repeated Point")
    }
    return GeometryOutcome(operand.firstCrossing.map { [.point($0)] } ?? [], text: "Self-intersection")
  }

}

extension EngineError {
  package static func beyondPlaces(_ kind: GeometryOperation.Kind) -> EngineError {
    .failed(operation: kind.rawValue, reason: "coordinates beyond 1e100 are no places")
  }
}

extension Geometry {
  /// Whether lengths and areas would be infinite; GEOS's indexes search boxes around such for ever.
  package var isBeyondPlaces: Bool { envelope.map { max(abs($0.xMin), abs($0.xMax), abs($0.yMin), abs($0.yMax)) > 1e100 } ?? false }
}

extension Geometry {
  /// GEOS 3.11 reads the coordinates of empty points in collections that it measures distances to: they end the process.
  fileprivate var withoutEmptyMembers: Geometry {
    guard case .collection = self else { return self }
    return .collection(flattened.filter { !$0.isEmpty })
  }

  /// Whether it has parts of several dimensions.
  fileprivate var isMixed: Bool {
    guard case .collection = self else { return false }
    return Set(flattened.lazy.filter { !$0.isEmpty }.map(\.dimension)).count > 1
  }
}
