// Finds the features nearest to places, with both in one reference.

import FeatureStore
import GeoModel
import Geometry
import Proximity

/// A search for the features nearest to places.
package struct NearestFeatures: Sendable {
  /// The nearest features of all places, place by place.
  package struct Answer {
    package var counts: [Int] = []
    package var neighbours: [Neighbour] = []
    package var exceeded = false
  }

  private let features: FeatureQuery
  private let places: [Point]
  private let limit: Int
  private let radius: Double
  private let isPlanar: Bool
  private let isBounded: Bool
  private let transformer: any CoordinateTransformer
  private let geodesy: any Geodesy

  static let placeLimit = 100_000
  static let resultLimit = 1_000_000

  /// - Parameters:
  ///   - locations: a point or a multipoint in `reference`, which is that of the features if nil; `path` is its JSON Pointer for
  ///     errors.
  ///   - limit: maximum number per place; nil for 1, or for 1000 if a distance is given.
  package init(
    _ features: FeatureQuery, _ locations: Geometry, at path: String, in reference: SpatialReference?, limit: Int?,
    maxDistance: Double?, planar: Bool, _ world: borrowing World
  ) throws {
    self.features = features
    (transformer, geodesy) = (world.transformer, world.geodesy)
    (isPlanar, isBounded) = (planar, maxDistance != nil)
    radius = maxDistance ?? .infinity
    self.limit = limit ?? (isBounded ? 1000 : 1)
    places = try Self.positions(
      locations, at: path, from: reference ?? features.reference, to: planar ? features.reference : .wgs84,
      world.transformer)
    try checkLimit(limit)
  }

  private func checkLimit(_ given: Int?) throws {
    guard let given, places.count > Self.resultLimit / given else { return }
    throw QueryError.invalid(
      "At most \(Self.resultLimit) features are returned for all places.", path: "/limit",
      expected: "at most \(Self.resultLimit / max(places.count, 1))")
  }

  private static func positions(
    _ locations: Geometry, at path: String, from given: SpatialReference, to reference: SpatialReference,
    _ transformer: any CoordinateTransformer
  ) throws -> [Point] {
    let positions: Positions
    switch locations {
    case .point(let point?): positions = Positions([point])
    case .multiPoint(let points) where points.count <= placeLimit: positions = points
    default:
      throw QueryError.invalid(
        "Places are a point or a multipoint.", .geometry, path: path,
        expected: "a point, or a multipoint of at most \(placeLimit)")
    }
    if let index = (0..<positions.count).first(where: { positions[$0].x.isNaN }) {
      throw QueryError.invalid(
        "Place \(index) is empty.", .geometry, path: path, expected: "places that are not empty")
    }
    guard case .multiPoint(let moved) = try transformer.transform(.multiPoint(positions), from: given, to: reference)
    else { return [] }
    if reference == .wgs84, let index = (0..<moved.count).first(where: { abs(moved[$0].y) > 90 }) {
      throw QueryError.invalid(
        "Place \(index) is beyond a pole.", .range, path: path, expected: "a latitude in -90...90")
    }
    return moved.points
  }

  /// The estimated effort per place, in units of `FeatureQuery.effort`.
  private var effortOfEach: Int { (isPlanar ? 50 : 100) + min(limit, features.store.count) * (isPlanar ? 2 : 40) }
  private var movesFeatures: Bool { !isPlanar && features.reference != .wgs84 }

  package var effort: Int {
    let filtering = features.isAll ? 0 : features.effort
    let moving = movesFeatures ? features.store.count * FeatureQuery.transformCost : 0
    // Distances to lines and polygons take a hundred times as long.
    let factor = features.store.isOfPoints ? 1 : 100
    return filtering + moving + places.count * effortOfEach * factor
  }

  package func answer(_ share: WorkShare) throws -> Answer {
    let shares = share.split(
      by: features.isAll ? 0 : features.effort, movesFeatures ? features.store.count * FeatureQuery.transformCost : 0,
      places.count * effortOfEach)
    var rows = features.isAll ? nil : try features.rows(shares[0])
    var store = features.store
    if movesFeatures {
      store = try features.moved(rows, to: .wgs84, transformer, shares[1])
      rows = nil
    }
    let query = NearestQuery(
      store, rows: rows.map { RowSet($0) }, count: limit + (isBounded ? 1 : 0), radius: radius,
      checking: { try share.work?.checkCancelled() })
    var answer = Answer()
    for (index, place) in places.enumerated() {
      try shares[2].checkpoint(index, of: places.count)
      let found = try isPlanar ? query.planar(to: SIMD2(place.x, place.y)) : query.geodetic(to: place, geodesy)
      answer.exceeded = answer.exceeded || found.count > limit
      answer.counts.append(min(found.count, limit))
      answer.neighbours += found.prefix(limit)
      guard answer.neighbours.count <= Self.resultLimit else {
        throw QueryError.resultTooLarge(limit: Self.resultLimit)
      }
    }
    return answer
  }
}
