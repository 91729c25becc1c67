// Handlers of `feature/buffer` and the other methods that make features of those of a query.

import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import GeometryEngine
import JSONRPC
import Planning
import SpatialRelations
import Statistics
import WireCoding

extension FeatureService {
  package static func buffer(_ params: Buffer.Params, in world: inout World) throws -> Plan<Buffer.Result> {
    let derived = try DerivedFeatures(params, in: &world)
    if !params.geodetic {
      try GeometryService.requirePlane(
        derived.reference, "feature/buffer with geodetic: true", at: "/params/outSpatialReference",
        expected: "a projected spatial reference, or geodetic: true", in: world)
    }
    guard (params.distance != nil) != (params.distanceExpression != nil) else {
      throw ModelError.oneOf(["distance", "distanceExpression"])
    }
    let expression = try params.distanceExpression.map { expression in
      let store = derived.features.store
      return try world.condition(
        Wire.parsed(expression, at: "/params/distanceExpression"), as: .value, over: store.schema, in: derived.features.reference,
        given: nil, extent: store.reach, at: "/distanceExpression")
    }
    let (mends, globe) = (params.mend, Globe(derived.reference, in: world))
    return derived.plan { worker in
      let rows = try derived.mapped(worker, isUnited: params.together, tools: {}) { row, geometry, calculate, _ in
        guard let distance = params.distance ?? expression?.value(of: row).finite else {
          throw RPCError(.invalidParams, "Its distance is no number.")
        }
        guard params.geodetic else { return try GeometryUnion.buffered(geometry, .buffer(distance, params, mends: mends), worker, calculate) }
        return try globe.back(GeometryService.buffered(
          geometry, distance, .geodesic, within: params.maxDeviation, mends: mends, on: globe, worker, calculate))
      }
      return params.together ? try rows.united(worker, mends: mends) : rows as any DerivedContent
    }
  }

  package static func centroid(
    _ params: FeatureProtocol.Centroid.Params, in world: inout World
  ) throws -> Plan<FeatureProtocol.Centroid.Result> {
    let derived = try DerivedFeatures(params, in: &world)
    let wrap = try WorldWrap(world.transformer.describe(derived.reference), world.transformer)
    let label = params.inside ? GeometryOperation(.labelPoint, mends: params.mend) : nil
    return derived.plan { worker in
      try derived.mapped(worker, tools: {}) { _, geometry, calculate, _ in
        try label.map { try calculate($0, [geometry]).whole } ?? GeometryService.centroid(of: geometry, wrap, calculate)
      }
    }
  }

  package static func project(
    _ params: FeatureProtocol.Project.Params, in world: inout World
  ) throws -> Plan<FeatureProtocol.Project.Result> {
    let derived = try DerivedFeatures(params, in: &world)
    let choice = try GeometryService.choice(params)
    return derived.plan { worker in try derived.copied(worker, by: choice) }
  }

  package static func calculate(_ params: Calculate.Params, in world: inout World) throws -> Plan<Calculate.Result> {
    let derived = try DerivedFeatures(params, in: &world)
    return derived.plan { worker in try derived.copied(worker) }
  }

  // MARK: Areas of other features

  package static func clip(
    _ params: FeatureProtocol.Clip.Params, in world: inout World
  ) throws -> Plan<FeatureProtocol.Clip.Result> {
    let derived = try DerivedFeatures(params, in: &world)
    guard (params.area != nil) != (params.areaFeatures != nil) else { throw ModelError.oneOf(["area", "areaFeatures"]) }
    let given = try params.area.map { area in
      guard let box = try area.value.flatMap(Wire.envelope(ofGeometry:)) else { return try GeometryBatch.checked(area) }
      return try world.area(of: box, in: derived.reference, at: "/params/area")
    }
    if let given, given.dimension < 2 {
      throw RPCError(.invalidGeometry, "There is no area.", path: "/params/area", expected: "polygons")
    }
    let others = try params.areaFeatures.map { try derived.output(of: $0, named: "areaFeatures", in: world) }
    return derived.plan { worker in
      var (area, lost) = (given, [FeatureProtocol.FailedFeature]())
      if let others {
        let input = try DerivedFeatures.input(others, worker)
        lost = input.failed.map(\.ofOthers)
        area = try derived.area(of: input, mends: params.mend, worker)
      } else if let given, case .invalid(let reason, let place) = try GeometryEngine.validity(of: given) {
        guard params.mend else { throw RPCError(SpatialError.invalid(reason: reason, at: place), at: "/params/area") }
        area = try GeometryUnion(mends: true)([given], worker)
      }
      guard let area, let box = area.envelope else { return DerivedRows(derived.fields(derived.features), failed: lost) }
      let operation = GeometryOperation(.intersection, mends: params.mend)
      let isExtreme = area.isExtreme
      let large = LargeArea(area)
      let parts = try derived.mapped(worker, tools: { PreparedArea(area) }) { _, geometry, calculate, prepared in
        let part = try GeometryService.clipped(geometry) { geometry in
          guard let own = geometry.envelope, box.intersects(own) else { return .collection([]) }
          if !isExtreme, !geometry.isExtreme {
            let place = large?.edges.location(of: own)
            if place == .exterior { return .collection([]) }
            let piece = place == nil ? large?.piece(around: geometry) : nil
            let near = piece.map(PreparedArea.init) ?? prepared
            guard try place == .interior || near.relates(.intersects, geometry) else { return .collection([]) }
            if try place == .interior || near.relates(.within, geometry) { return try calculate.valid(geometry, mends: params.mend) }
            if let piece {
              return try calculate(operation.trusting(1), [geometry, piece]).whole.part(ofDimension: geometry.dimension)
            }
          }
          return try calculate(operation, [geometry, area]).whole.part(ofDimension: geometry.dimension)
        }
        return part.isEmpty ? nil : part
      }
      return parts.failing(also: lost)
    }
  }

  package static func combine(_ params: Combine.Params, in world: inout World) throws -> Plan<Combine.Result> {
    let derived = try DerivedFeatures(params, in: &world)
    let others = try derived.output(of: params.others, named: "others", in: world)
    let join = try FeatureJoin(derived.features, with: others.features, .related(.intersects), in: world)
    return derived.plan { worker in
      try Combination(derived, others, join, params.operation, mends: params.mend).rows(worker)
    }
  }

  // MARK: Groups

  package static func dissolve(_ params: Dissolve.Params, in world: inout World) throws -> Plan<Dissolve.Result> {
    let derived = try DerivedFeatures(params, in: &world)
    let query = try StatisticsQuery(
      derived.features, groupBy: params.groupBy ?? [], at: "groupBy", (params.statistics ?? []).map(Wire.statistic), order: [])
    return derived.plan { worker in
      let page = try query.page(offset: 0, limit: .max, WorkShare(worker.work))
      let input = try derived.input(worker)
      let numbers = try page.groups.numbers(of: input.rows, in: input.query.store, checking: worker.checkCancelled)
      var members = [[Geometry]](repeating: [], count: page.groups.count)
      var ids = [[Int]](repeating: [], count: page.groups.count)
      for (index, geometry) in input.geometries.enumerated() {
        guard let geometry, let number = numbers[index], let feature = input.query.store[input.rows[index]] else { continue }
        members[number].append(geometry)
        ids[number].append(feature.id)
      }
      let made = try GeometryUnion(mends: params.mend, leavesOut: true).united(members, worker)
      var rows = DerivedRows(zip(query.names, query.types).map { ($0, $1) }, failed: input.failed)
      rows.failed += made.failures.map { .init(id: ids[$0.list][$0.index], reason: $0.error.message) }
      // Which features fail is known after the union, so the others are counted again.
      let failed = Set(rows.failed.map(\.id))
      let kept = failed.isEmpty ? input.rows : input.rows.filter { row in input.query.store[row].map { !failed.contains($0.id) } ?? false }
      guard !kept.isEmpty else { return rows }
      var (counted, unions) = (page, Array(made.geometries.indices))
      if !failed.isEmpty {
        counted = try query.page(of: kept.sorted(), offset: 0, limit: .max, WorkShare(worker.work))
        unions = Array(repeating: 0, count: counted.groups.count)
        let united = Dictionary(zip(input.rows, numbers)) { first, _ in first }
        let regrouped = try counted.groups.numbers(of: kept, in: input.query.store, checking: worker.checkCancelled)
        for (row, number) in zip(kept, regrouped) { if let number, let union = united[row] ?? nil { unions[number] = union } }
      }
      for number in counted.numbers {
        let (group, geometry) = (counted.groups[number], made.geometries[unions[number]])
        // Of empty geometries alone there is one, and of none there is none.
        rows.append(geometry.isEmpty ? members[unions[number]].first(where: \.isEmpty) : geometry, group.values + group.results)
      }
      return rows
    }
  }
}

/// An area that is prepared for tests with the first of them: with a large one most runs of features need none.
private final class PreparedArea {
  private let area: Geometry
  private var prepared: PreparedGeometry?

  init(_ area: Geometry) { self.area = area }

  func relates(_ relation: SpatialRelation, _ other: Geometry) throws(EngineError) -> Bool {
    if prepared == nil { prepared = try PreparedGeometry(area) }
    return try prepared?.relates(relation, other) ?? false
  }
}

extension AttributeValue {
  /// The number, if it is one and finite.
  fileprivate var finite: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .double(let number): number.isFinite ? number : nil
    case .null, .bool, .string, .json: nil
    }
  }
}

extension GeometryOperation {
  static func buffer(_ distance: Double, _ params: some GeometryProtocol.BufferOptions, mends: Bool) -> GeometryOperation {
    var operation = buffer(
      distance, quadrantSegments: params.quadrantSegments, cap: .init(params.cap), join: .init(params.join),
      mitreLimit: params.mitreLimit, isOneSided: params.oneSided)
    operation.mends = mends
    return operation
  }
}

extension DerivedFeatures {
  /// Other features, in the reference of the result.
  func output(of source: FeatureProtocol.JoinSource, named name: String, in world: World) throws -> FeatureOutput {
    let features = try FeatureService.joined(source, named: name, in: world)
    return try FeatureOutput(FeatureExport.Params(path: ""), features, measures: true, in: reference, world)
  }

  /// The union of the polygons of other features, all of which are valid.
  fileprivate func area(of input: Input, mends: Bool, _ worker: Worker) throws -> Geometry {
    let polygons = input.geometries.map { $0?.part(ofDimension: 2) ?? .collection([]) }
    let made = try GeometryUnion(mends: mends).united([polygons], worker)
    guard var error = made.failures.first?.error, let index = made.failures.first?.index else { return made.geometries[0] }
    error.path = "/params/areaFeatures"
    throw error.with("feature", input.query.store[input.rows[index]]?.id)
  }
}
