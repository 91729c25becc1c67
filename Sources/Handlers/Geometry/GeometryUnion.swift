// The union of many geometries, by parts that are connected.

import Geometry
import GeometryEngine
import JSONRPC
import Planning
import Proximity
import SpatialRelations
import WireCoding

struct GeometryUnion: Sendable {
  let mends: Bool
  /// Whether geometries whose union fails are left out, as invalid ones are.
  var leavesOut = false

  /// A geometry that is left out, because it is not valid, nowhere, or connected with others whose union fails.
  struct Failure: Sendable {
    let list: Int
    let index: Int
    let error: RPCError
  }

  /// What lies in any of the geometries.
  ///
  /// - Throws: `invalidGeometry` if one is not valid.
  func callAsFunction(_ geometries: [Geometry], _ worker: Worker) throws -> Geometry {
    let made = try united([geometries], worker)
    if let failure = made.failures.first { throw failure.error }
    return made.geometries[0]
  }

  private struct Part: Sendable {
    let list: Int
    /// With their indexes in the list.
    var members: [(index: Int, geometry: Geometry)]
  }

  /// Runs of geometries whose neighbours are found together. Each takes memory for all.
  private static let linkedParts = 16

  /// The union of each list; invalid geometries are left out.
  ///
  /// Geometries that are apart share no position, so connected ones are united alone, by several threads.
  func united(_ given: [[Geometry]], _ worker: Worker) throws -> (geometries: [Geometry], failures: [Failure]) {
    var (lists, failures) = (given, [Failure]())
    for (list, geometries) in given.enumerated() {
      for (index, geometry) in geometries.enumerated() where geometry.isBeyondPlaces {
        lists[list][index] = .collection([])
        failures.append(
          Failure(list: list, index: index, error: RPCError(SpatialError(.beyondPlaces(.union)), at: "/params/geometries/\(index)")))
      }
    }
    let shares = WorkShare(worker.work).split(by: 1, 9)
    var parts: [Part] = []
    for (list, geometries) in lists.enumerated() {
      let flat = geometries.enumerated().flatMap { index, geometry in geometry.singles.map { (index: index, geometry: $0) } }
      let connected = ConnectedParts(flat.map(\.geometry))
      let size = max(256, flat.count / Self.linkedParts + 1)
      let links = try shares[0].concurrently((flat.count + size - 1) / size) { number in
        try connected.links(number * size..<min((number + 1) * size, flat.count), checking: worker.checkCancelled)
      }
      parts += connected.groups(links).map { group in Part(list: list, members: group.map { flat[$0] }) }
    }
    // The largest first, so that threads end together.
    let order = parts.indices.sorted { parts[$0].members.count > parts[$1].members.count }
    let chunk = max(1, min(256, order.count / 64))
    let made = try shares[1].concurrently((order.count + chunk - 1) / chunk) { [parts] number in
      do {
        let calculator = try GeometryCalculator()
        return try order[number * chunk..<min((number + 1) * chunk, order.count)].map { index in
          try worker.checkCancelled()
          return (part: index, made: try united(parts[index], calculator))
        }
      } catch let error as EngineError { throw SpatialError(error) }
    }
    var pieces = [[Geometry]](repeating: [], count: lists.count)
    for each in made.joined().sorted(by: { $0.part < $1.part }) {
      pieces[parts[each.part].list] += each.made.geometry.singles.filter { !$0.isEmpty }
      failures += each.made.failures
    }
    let whole = pieces.map { pieces in
      if pieces.count == 1 { return pieces[0] }
      return pieces.isEmpty ? .collection([]) : Geometry.collection(pieces).uniform ?? .collection(pieces)
    }
    return failures.isEmpty ? (whole, []) : try completed(whole, failures, lists, worker)
  }

  /// The same without the valid parts of geometries that failed, each of which fails once.
  private func completed(
    _ whole: [Geometry], _ given: [Failure], _ lists: [[Geometry]], _ worker: Worker
  ) throws -> (geometries: [Geometry], failures: [Failure]) {
    var known = Set<[Int]>()
    var (whole, failures) = (whole, given.filter { known.insert([$0.list, $0.index]).inserted })
    var rest = [[Geometry]](repeating: [], count: lists.count)
    for failure in failures where lists[failure.list][failure.index].singles.count > 1 { rest[failure.list] = lists[failure.list] }
    let affected = rest.indices.filter { !rest[$0].isEmpty }
    guard !affected.isEmpty else { return (whole, failures) }
    for failure in failures where !rest[failure.list].isEmpty { rest[failure.list][failure.index] = .collection([]) }
    let again = try united(rest, worker)
    for list in affected { whole[list] = again.geometries[list] }
    failures += again.failures
    return (whole, failures)
  }

  private func united(
    _ given: Part, _ calculate: borrowing GeometryCalculator
  ) throws -> (geometry: Geometry, failures: [Failure]) {
    var (part, failures): (Part, [Failure]) = (given, [])
    let operation = GeometryOperation(.union, mends: mends)
    while !part.members.isEmpty {
      do throws(EngineError) { return (try calculate(operation, part.members.map(\.geometry)).whole, failures) } catch {
        guard case .invalid(_, _, let operand) = error, part.members.indices.contains(operand) else {
          return (.collection([]), try failures + left(part, error))
        }
        let index = part.members.remove(at: operand).index
        failures.append(Failure(list: part.list, index: index, error: RPCError(SpatialError(error), at: "/params/geometries/\(index)")))
      }
    }
    return (.collection([]), failures)
  }

  private func left(_ part: Part, _ error: EngineError) throws(EngineError) -> [Failure] {
    guard leavesOut else { throw error }
    let failure = try GeometryBatch.failure(ofOne: error)
    return part.members.map { Failure(list: part.list, index: $0.index, error: failure) }
  }
}

extension GeometryUnion {
  /// What the buffers of the parts may take before they are united: as much as a process that computes has by default.
  private static let mostBytes = 1 << 30

  /// The area around one geometry. Many parts are buffered apart and united where they are connected: GEOS takes gigabytes for 100,000
  /// that are not.
  static func buffered(
    _ geometry: Geometry, _ operation: GeometryOperation, _ worker: Worker, _ calculate: borrowing GeometryCalculator
  ) throws -> Geometry {
    let parts = geometry.singles
    guard parts.count > 64, operation.numbers[5] == 0 else { return try calculate(operation, [geometry]).whole }
    let chunk = 256
    let size = DerivedSize(limit: mostBytes, ofNumber: 8)
    let buffers = try WorkShare(worker.work).concurrently((parts.count + chunk - 1) / chunk) { number in
      let calculate = try GeometryCalculator()
      return try parts[number * chunk..<min((number + 1) * chunk, parts.count)].map { part in
        try worker.checkCancelled()
        let buffer = try calculate(operation, [part]).whole
        try size.add(buffer)
        return buffer
      }
    }
    let area = try GeometryUnion(mends: true)(Array(buffers.joined()), worker)
    return area.isEmpty ? .polygon([]) : area
  }
}

extension Geometry {
  /// Its points, lines and polygons one by one.
  fileprivate var singles: [Geometry] {
    flattened.flatMap { part -> [Geometry] in
      switch part {
      case .multiPoint(let points): points.points.map(Geometry.point)
      case .multiLineString(let lines): lines.map(Geometry.lineString)
      case .multiPolygon(let polygons): polygons.map(Geometry.polygon)
      case .point, .lineString, .polygon, .collection: [part]
      }
    }
  }
}

extension GeometryOutcome {
  /// The only geometry that most operations make.
  var whole: Geometry { geometries.first ?? .collection([]) }
}
