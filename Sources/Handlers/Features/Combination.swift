// The overlay of `feature/combine`: what features have in common with others, and what is left of each.

import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import GeometryEngine
import JSONRPC
import Planning
import SpatialRelations

/// The overlay of features with others.
struct Combination: Sendable {
  let derived: DerivedFeatures
  let others: FeatureOutput
  let join: FeatureJoin
  let operation: FeatureProtocol.CombineOperation
  let mends: Bool

  init(
    _ derived: DerivedFeatures, _ others: FeatureOutput, _ join: FeatureJoin, _ operation: FeatureProtocol.CombineOperation, mends: Bool
  ) {
    (self.derived, self.others, self.join, self.operation, self.mends) = (derived, others, join, operation, mends)
  }

  /// A part: the rows that it is of, on each side.
  private typealias Part = (left: Int?, right: Int?, geometry: Geometry)

  func rows(_ worker: Worker) throws -> DerivedRows {
    let (left, right) = (try valid(derived.input(worker), worker), try valid(DerivedFeatures.input(others, worker), worker))
    let meetings = try meetings(left, right, worker)
    var backwards = [[Int]](repeating: [], count: right.rows.count)
    for (one, others) in meetings.enumerated() { for other in others { backwards[other].append(one) } }
    let (keepsCommon, keepsLeft, keepsRight) =
      switch operation {
      case .intersection: (true, false, false)
      case .erase: (false, true, false)
      case .identity: (true, true, false)
      case .union: (true, true, true)
      }
    let wanted = (derived.fields(left.query), operation == .erase ? [] : DerivedRows.fields(of: right.query))
    var names = Set(wanted.0.map(\.0))
    let second = wanted.1.map { name, type in
      var name = name
      while !names.insert(name).inserted { name += "_2" }
      return (name, type)
    }
    var rows = DerivedRows(wanted.0 + second, failed: left.failed + right.failed.map(\.ofOthers))
    func add(_ results: [(Part?, FeatureProtocol.FailedFeature?)]) {
      for (part, failure) in results {
        if let failure { rows.failed.append(failure) }
        guard let part else { continue }
        let own = part.left.flatMap { left.query.store[left.rows[$0]] }.map { derived.values(of: $0, left.query) }
        let other = second.isEmpty ? nil : part.right.flatMap { right.query.store[right.rows[$0]] }.map { row in
          (0..<right.query.store.schema.count).map { row.value($0) }
        }
        rows.append(part.geometry, (own ?? wanted.0.map { _ in .null }) + (other ?? second.map { _ in .null }))
      }
    }
    let back = backwards
    let (leftAreas, rightAreas) = (try areas(left, meetings, worker), try areas(right, back, worker))
    // Of each feature its pairs, then what is left of it: one with many others is shared by threads.
    let items = left.rows.indices.flatMap { index -> [(left: Int, right: Int?)] in
      guard left.geometries[index] != nil else { return [] }
      return (keepsCommon ? meetings[index].map { (index, $0) } : []) + (keepsLeft ? [(index, nil)] : [])
    }
    add(try parts(items.map(\.left), worker) { number, calculate in
      let (index, other) = items[number]
      guard let geometry = left.geometries[index] else { return nil }
      guard let other else {
        return (index, nil, try rest(of: geometry, less: meetings[index], of: right, rightAreas, worker, calculate))
      }
      guard let second = right.geometries[other] else { return nil }
      let common =
        if Self.isInside(geometry, rightAreas[other], of: second) {
          try calculate(GeometryOperation(.union), [geometry]).whole
        } else if Self.isInside(second, leftAreas[index], of: geometry) {
          try calculate(GeometryOperation(.union), [second]).whole
        } else { try common(geometry, leftAreas[index], second, rightAreas[other], calculate) }
      return (index, other, common.part(ofDimension: min(geometry.dimension, second.dimension)))
    } failure: { .init(id: left.query.store[left.rows[$0]]?.id ?? 0, reason: $1) })
    if keepsRight {
      add(try parts(Array(right.rows.indices), worker) { index, calculate in
        guard let geometry = right.geometries[index] else { return nil }
        return (nil, index, try rest(of: geometry, less: back[index], of: left, leftAreas, worker, calculate))
      } failure: { FeatureProtocol.FailedFeature(id: right.query.store[right.rows[$0]]?.id ?? 0, reason: $1).ofOthers })
    }
    return rows
  }

  /// The features without those that are not valid, which fail; or with these mended.
  private func valid(_ input: DerivedFeatures.Input, _ worker: Worker) throws -> DerivedFeatures.Input {
    let size = 256
    let checked = try WorkShare(worker.work).concurrently((input.rows.count + size - 1) / size) { number in
      do {
        let calculate = try GeometryCalculator()
        let geometries = input.geometries[number * size..<min((number + 1) * size, input.rows.count)]
        return try geometries.map { geometry -> Result<Geometry?, RPCError> in
          try worker.checkCancelled()
          guard let geometry else { return .success(nil) }
          do throws(EngineError) { return .success(try calculate.valid(geometry, mends: mends)) } catch {
            return .failure(try GeometryBatch.failure(ofOne: error))
          }
        }
      } catch let error as EngineError { throw SpatialError(error) }
    }.flatMap { $0 }
    var failed = input.failed
    for (row, result) in zip(input.rows, checked) {
      if case .failure(let error) = result { failed.append(.init(id: input.query.store[row]?.id ?? 0, reason: error.message)) }
    }
    return .init(query: input.query, rows: input.rows, geometries: checked.map { (try? $0.get()) ?? nil }, failed: failed)
  }

  /// Of each of the features the others that it meets, ascending.
  private func meetings(_ left: DerivedFeatures.Input, _ right: DerivedFeatures.Input, _ worker: Worker) throws -> [[Int]] {
    var join = join
    var (leftRows, rightRows) = ([UInt32: Int](), [UInt32: Int]())
    if derived.reference == derived.features.reference, derived.reference == others.features.reference {
      leftRows = Dictionary(uniqueKeysWithValues: left.rows.enumerated().map { ($1, $0) })
      rightRows = Dictionary(uniqueKeysWithValues: right.rows.enumerated().map { ($1, $0) })
    } else {
      // Edges that are straight in one reference are not in the other, and some are cut, so others meet there.
      (join, leftRows, rightRows) = (try join.comparing(table(left), table(right)), [:], [:])
      for index in left.rows.indices { leftRows[UInt32(index)] = index }
      for index in right.rows.indices { rightRows[UInt32(index)] = index }
    }
    var meetings = [[Int]](repeating: [], count: left.rows.count)
    try join.forEachBlock(WorkShare(worker.work)) { block in
      for (one, other) in zip(block.pairs.left, block.pairs.right) {
        guard let one = leftRows[one], let other = rightRows[other], left.geometries[one] != nil, right.geometries[other] != nil
        else { continue }
        meetings[one].append(other)
      }
    }
    return meetings.map { $0.sorted() }
  }

  /// Geometries as features of which each has its index as its row.
  private func table(_ input: DerivedFeatures.Input) throws -> FeatureQuery {
    var rows = DerivedRows([])
    for geometry in input.geometries { rows.append(geometry, []) }
    return FeatureQuery(table: try rows.data(in: derived.reference).store, in: derived.reference)
  }

  /// The large areas that meet several others: most of these are inside, or meet a small part.
  private func areas(_ input: DerivedFeatures.Input, _ meetings: [[Int]], _ worker: Worker) throws -> [Int: LargeArea] {
    var areas: [Int: LargeArea] = [:]
    for (index, geometry) in input.geometries.enumerated() where meetings[index].count > 1 {
      try worker.checkCancelled()
      areas[index] = geometry.flatMap(LargeArea.init)
    }
    return areas
  }

  /// Whether a geometry is certainly in the interior of an area, and has Z where that has it.
  private static func isInside(_ geometry: Geometry, _ area: LargeArea?, of other: Geometry) -> Bool {
    guard let area, let box = geometry.envelope, area.edges.location(of: box) == .interior else { return false }
    return !geometry.lacksZ || other.lacksZ
  }

  /// What two geometries have in common, of a large area by the piece around the other.
  private func common(
    _ left: Geometry, _ leftArea: LargeArea?, _ right: Geometry, _ rightArea: LargeArea?, _ calculate: borrowing GeometryCalculator
  ) throws -> Geometry {
    let operation = GeometryOperation(.intersection, mends: mends)
    if let piece = rightArea?.piece(around: left) { return try calculate(operation.trusting(1), [left, piece]).whole }
    if let piece = leftArea?.piece(around: right) { return try calculate(operation.trusting(0), [piece, right]).whole }
    return try calculate(operation, [left, right]).whole
  }

  /// What of a geometry is in none of those that cover its dimension.
  private func rest(
    of geometry: Geometry, less met: [Int], of input: DerivedFeatures.Input, _ areas: [Int: LargeArea],
    _ worker: Worker, _ calculate: borrowing GeometryCalculator
  ) throws -> Geometry {
    var rest = geometry
    guard let box = geometry.envelope else { return rest }
    if met.contains(where: { areas[$0]?.edges.location(of: box) == .interior }) { return .collection([]) }
    let covering = met.filter { input.geometries[$0].map { $0.dimension >= geometry.dimension } ?? false }
    let others = covering.compactMap { input.geometries[$0] }
    for other in others where others.count > 1 {
      try worker.checkCancelled()
      if other.envelope?.contains(box) == true, try isWithin(geometry, other, calculate) { return .collection([]) }
    }
    let operation = GeometryOperation(.difference, mends: mends)
    if covering.count == 1, let piece = areas[covering[0]]?.piece(around: geometry) {
      return try calculate(operation.trusting(1), [geometry, piece]).whole.part(ofDimension: geometry.dimension)
    }
    for part in covers(others, geometry.dimension) where !rest.isEmpty {
      rest = try calculate(operation, [rest, part]).whole.part(ofDimension: geometry.dimension)
    }
    return rest
  }

  /// Whether all of a geometry is in another, or on its boundary.
  private func isWithin(_ geometry: Geometry, _ other: Geometry, _ calculate: borrowing GeometryCalculator) throws -> Bool {
    let matrix = try calculate(GeometryOperation(.relate), [geometry, other]).text.map { Array($0.utf8) } ?? []
    return matrix.count == 9 && matrix[2] == UInt8(ascii: "F") && matrix[5] == UInt8(ascii: "F")
  }

  /// What is to be subtracted from a geometry of a dimension, one after the other.
  ///
  /// A union has rounded positions where lines cross, so what one of its parts covers may be beside it. Lines therefore are subtracted as
  /// they are, before areas, and points meet each other geometry alone.
  private func covers(_ others: [Geometry], _ dimension: Int) -> [Geometry] {
    func together(_ geometries: [Geometry]) -> [Geometry] {
      geometries.count > 1 ? [.collection(geometries)] : geometries
    }
    let lines = others.filter { $0.dimension == 1 }, areas = others.filter { $0.dimension == 2 }
    let strings = lines.flatMap { geometry -> [Positions] in
      switch geometry.part(ofDimension: 1) {
      case .lineString(let line): [line]
      case .multiLineString(let lines): lines
      case .point, .multiPoint, .polygon, .multiPolygon, .collection: []
      }
    }
    let network = strings.isEmpty ? [] : [Geometry.multiLineString(strings)]
    switch dimension {
    case 0: return together(others.filter { $0.dimension == 0 }) + network + areas
    case 1: return network + together(areas)
    default: return together(areas)
    }
  }

  /// The parts that `body` makes, in order; none of a feature of which one fails.
  ///
  /// - Parameter features: the feature that each part is of; those of one feature follow one another.
  private func parts(
    _ features: [Int], _ worker: Worker, _ body: @Sendable (Int, borrowing GeometryCalculator) throws -> Part?,
    failure: (Int, _ reason: String) -> FeatureProtocol.FailedFeature
  ) throws -> [(Part?, FeatureProtocol.FailedFeature?)] {
    let chunk = 64
    let size = derived.size(worker)
    let made = try WorkShare(worker.work).concurrently((features.count + chunk - 1) / chunk) { number in
      do {
        let calculator = try GeometryCalculator()
        return try (number * chunk..<min((number + 1) * chunk, features.count)).map { index -> Result<Part?, RPCError> in
          try worker.checkCancelled()
          let part: Part?
          do { part = try body(index, calculator) } catch let error as EngineError {
            return .failure(try GeometryBatch.failure(ofOne: error))
          }
          if let part { try size.add(part.geometry) }
          return .success(part)
        }
      } catch let error as EngineError { throw SpatialError(error) }
    }
    var failed: [Int: RPCError] = [:]
    for (feature, result) in zip(features, made.joined()) {
      if case .failure(let error) = result { failed[feature] = failed[feature] ?? error }
    }
    var results: [(Part?, FeatureProtocol.FailedFeature?)] = []
    for (feature, result) in zip(features, made.joined()) {
      if failed[feature] == nil, case .success(let part?) = result, !part.geometry.isEmpty { results.append((part, nil)) }
    }
    return results + failed.sorted { $0.key < $1.key }.map { (nil, failure($0.key, $0.value.message)) }
  }
}

extension FeatureProtocol.FailedFeature {
  /// The same of the other features.
  var ofOthers: Self { .init(id: id, reason: reason, isOther: true) }
}
