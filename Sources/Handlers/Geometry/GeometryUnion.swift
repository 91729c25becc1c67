// The union of many geometries, by parts that are connected.

import Geometry
import GeometryEngine
import Planning
import Proximity
import SpatialRelations

struct GeometryUnion: Sendable {
  let mends: Bool

  /// What lies in any of the geometries.
  ///
  /// Geometries whose boxes do not meet share no position, so connected ones are united alone, by several threads.
  func callAsFunction(_ geometries: [Geometry], _ worker: Worker) throws -> Geometry {
    let parts = try united([geometries], worker)
    return parts[0]
  }

  /// The union of each list.
  func united(_ lists: [[Geometry]], _ worker: Worker) throws -> [Geometry] {
    let share = WorkShare(worker.work)
    // Every connected part of every list, the largest first, so that threads end together.
    var parts: [(list: Int, members: [Geometry])] = []
    for (list, geometries) in lists.enumerated() {
      let flat = geometries.flatMap(\.singles)
      parts += try ConnectedParts.groups(flat, checking: worker.checkCancelled).map { group in (list, group.map { flat[$0] }) }
    }
    let order = parts.indices.sorted { parts[$0].members.count > parts[$1].members.count }
    let operation = GeometryOperation(.union, mends: mends)
    let chunk = max(1, min(256, order.count / 64))
    let made = try share.concurrently((order.count + chunk - 1) / chunk) { [parts] number in
      do {
        let calculator = try GeometryCalculator()
        return try order[number * chunk..<min((number + 1) * chunk, order.count)].map { index -> (Int, Geometry) in
          try worker.checkCancelled()
          return (index, try calculator(operation, parts[index].members).whole)
        }
      } catch let error as EngineError { throw SpatialError(error) }
    }
    var pieces = [[Geometry]](repeating: [], count: lists.count)
    for (index, geometry) in made.joined().sorted(by: { $0.0 < $1.0 }) { pieces[parts[index].list] += geometry.singles }
    return pieces.map { pieces in
      if pieces.count == 1 { return pieces[0] }
      return pieces.isEmpty ? .collection([]) : Geometry.collection(pieces).uniform ?? .collection(pieces)
    }
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
