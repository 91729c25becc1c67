// Locations and layers: points that are replayed, lines to which locations are snapped.

import FeatureStore
import Geometry
import Proximity
import Synchronization

extension World {
  /// The features of a layer in longitude and latitude, or in its own reference.
  private func features(of id: LayerID) throws(Failure) -> (store: FeatureStore, reference: SpatialReference) {
    guard let layer = layers[id] else {
      throw Failure(kind: "notLoaded", message: "There is no layer \"\(id.rawValue)\".")
    }
    guard let store = layer.store else {
      throw Failure(
        kind: "notLoaded", message: "The layer \"\(id.rawValue)\" is not loaded.", expected: "a layer that layer/load has loaded")
    }
    return (store, layer.reference)
  }

  func reading(_ replay: Replay, of id: LocationSourceID) throws(Failure) -> ReplayReading {
    let (store, reference) = try features(of: replay.layer)
    return ReplayReading(source: id, replay: replay, store: store, reference: reference, transformer: transformer)
  }

  /// What a starting replay has to read, and is not read on the loop; nil if it has nothing.
  public func reading(of id: LocationSourceID) -> ReplayReading? {
    guard let source = locationSources[id], source.status == .starting, case .replay(let replay) = source.feed, replay.reading != nil
    else { return nil }
    return try? reading(replay, of: id)
  }

  /// Why locations cannot be snapped to a layer now; nil if they can.
  func failure(of snap: LocationSnap) -> Failure? {
    do throws(Failure) {
      let (store, reference) = try features(of: snap.layer)
      guard reference == .wgs84, !store.isOfPoints || store.count == 0 else {
        return Failure(
          kind: "invalidGeometry", message: "The layer \"\(snap.layer.rawValue)\" has no lines in EPSG:4326.", expected: "lines in EPSG:4326")
      }
      return nil
    } catch { return error }
  }

  /// A location moved to the nearest line; nil if none is near enough.
  func snapped(_ location: Location, by snap: LocationSnap) -> Location? {
    guard let place = location.position, failure(of: snap) == nil, let store = layers[snap.layer]?.store else { return nil }
    // The check bounds the work on the loop, by work and not by time, so that a replay gives the same.
    let budget = SnapBudget()
    let query = NearestQuery(store, rows: nil, count: 1, radius: snap.maxDistance) { try budget.spend() }
    guard let nearest = try? query.geodetic(to: Point(x: place.x, y: place.y), geodesy).first,
      let (point, _) = try? geodesy.direct(from: place, azimuth: nearest.azimuth, distance: nearest.distance)
    else { return nil }
    var result = location
    result.position = Point(x: point.x, y: point.y, z: place.z)
    return result
  }
}

/// The features of a replay, to be read by any thread.
public struct ReplayReading: Sendable {
  public struct Outcome: Sendable {
    let result: Result<(locations: Shared<[Location]>, refusals: [LocationRefusal: Int]), Failure>
  }

  let source: LocationSourceID
  let replay: Replay
  let store: FeatureStore
  let reference: SpatialReference
  let transformer: any CoordinateTransformer

  /// The locations in the order of their times, and why other features are none.
  public func outcome() -> Outcome {
    Outcome(result: Result { () throws(Failure) in try read() })
  }

  private func read() throws(Failure) -> (locations: Shared<[Location]>, refusals: [LocationRefusal: Int]) {
    guard let timeColumn = store.schema.column(named: replay.timeField) else { throw .noTimes(in: replay) }
    let columns = ["speed", "course", "accuracy", "ele"].map { store.schema.column(named: $0) }
    var refusals: [LocationRefusal: Int] = [:]
    var locations: [Location] = []
    store.forEach { row in
      guard locations.count < Replay.limit else { return false }
      guard let position = row.position, let time = Instant(time: row.value(timeColumn)) else {
        refusals[.incomplete, default: 0] += 1
        return true
      }
      var isBad = false
      let numbers = columns.map { column -> Double? in
        guard let column else { return nil }
        switch row.value(column) {
        case .null: return nil
        case .integer(let number): return Double(number)
        case .double(let number) where number.isFinite: return number
        // One text in a column makes all of its values texts.
        case .string(let text):
          if let number = Double(text), number.isFinite { return number }
        case .bool, .double, .json: break
        }
        isBad = true
        return nil
      }
      // A speed that is no number is unknown; the position counts.
      if isBad { refusals[.notANumber, default: 0] += 1 }
      let z = row.point.flatMap { $0.z.isFinite ? $0.z : nil } ?? position.z ?? numbers[3]
      locations.append(
        Location(
          timestamp: time, position: Point(x: position.x, y: position.y, z: z), horizontalAccuracy: max(0, numbers[2] ?? 0),
          speed: numbers[0].flatMap { Location.isSpeed($0) ? $0 : nil }, course: numbers[1]))
      return true
    }
    let surplus = store.count - locations.count - refusals[.incomplete, default: 0]
    if surplus > 0 { refusals[.tooMany] = surplus }
    if reference != .wgs84 {
      let moved: [Result<Point, TransformError>]
      do {
        moved = try transformer.transformEach(locations.compactMap(\.position), from: reference, to: .wgs84)
      } catch { throw Failure(kind: "noLocations", message: "The features of \"\(replay.layer.rawValue)\" have no place on the earth.") }
      for (index, result) in moved.enumerated() {
        locations[index].position = (try? result.get()).map { Point(x: $0.x, y: $0.y, z: locations[index].position?.z) }
      }
    }
    guard !locations.isEmpty else { throw .noTimes(in: replay) }
    // Stable: features of one time keep their order.
    let order = locations.indices.sorted {
      let (first, second) = (locations[$0].timestamp ?? .latest, locations[$1].timestamp ?? .latest)
      return first != second ? first < second : $0 < $1
    }
    return (Shared(order.map { locations[$0] }), refusals)
  }
}

/// The work that one location may take.
private final class SnapBudget: Sendable {
  private struct Spent: Error {}
  private let checks = Atomic(0)

  func spend() throws {
    guard checks.wrappingAdd(1, ordering: .relaxed).newValue <= 100 else { throw Spent() }
  }
}

extension Failure {
  fileprivate static func noTimes(in replay: Replay) -> Failure {
    Failure(
      kind: "noLocations", message: "The layer \"\(replay.layer.rawValue)\" has no points with times in \"\(replay.timeField)\".",
      expected: "points with a field of times")
  }
}
