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
  private let places: [Geometry]
  private let limit: Int
  private let radius: Double
  private let isPlanar: Bool
  private let isBounded: Bool
  private let transformer: any CoordinateTransformer
  private let geodesy: any Geodesy

  static let placeLimit = 100_000
  static let resultLimit = 1_000_000

  /// - Parameters:
  ///   - locations: the places in `reference`, which is that of the features if nil: the points of a multipoint, the members of a
  ///     collection, or one geometry; `path` is its JSON Pointer for errors.
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
    places = try Self.places(
      locations, at: path, (reference ?? features.reference, planar ? features.reference : .wgs84), world.transformer)
    try checkLimit(limit)
  }

  private func checkLimit(_ given: Int?) throws {
    guard let given, places.count > Self.resultLimit / given else { return }
    throw QueryError.invalid(
      "At most \(Self.resultLimit) features are returned for all places.", path: "/limit",
      expected: "at most \(Self.resultLimit / max(places.count, 1))")
  }

  private static func places(
    _ locations: Geometry, at path: String, _ reference: (given: SpatialReference, target: SpatialReference),
    _ transformer: any CoordinateTransformer
  ) throws -> [Geometry] {
    let given = locations.places
    guard given.count <= placeLimit else {
      throw QueryError.invalid(
        "There are too many places.", .geometry, path: path, expected: "at most \(placeLimit) places")
    }
    if let index = given.firstIndex(where: { $0.envelope == nil }) {
      throw QueryError.invalid(
        "Place \(index) is empty.", .geometry, path: path, expected: "places that are not empty")
    }
    let places = try transformer.transform(locations, from: reference.given, to: reference.target).places
    if reference.target == .wgs84,
      let index = places.firstIndex(where: { $0.envelope.map { $0.yMin < -90 || $0.yMax > 90 } ?? true })
    {
      throw QueryError.invalid(
        "Place \(index) is beyond a pole.", .range, path: path, expected: "a latitude in -90...90")
    }
    return places
  }

  /// The estimated effort per place, in units of `FeatureQuery.effort`.
  private var effortOfEach: Int { (isPlanar ? 50 : 100) + min(limit, features.store.count) * (isPlanar ? 2 : 40) }
  private var movesFeatures: Bool { !isPlanar && features.reference != .wgs84 }

  package var effort: Int {
    let filtering = features.isAll ? 0 : features.effort
    let moving = movesFeatures ? features.store.count * FeatureQuery.transformCost : 0
    // Distances to lines and polygons take a hundred times as long.
    let isOfPoints = features.store.isOfPoints && places.allSatisfy { if case .point = $0 { true } else { false } }
    let factor = isOfPoints ? 1 : 100
    // Making an index takes several times as long as a look at each row.
    let indexing = features.store.isToBeIndexed ? features.store.count * 8 : 0
    return filtering + moving + indexing + places.count * effortOfEach * factor
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
      checking: shares[2].boundedCheck())
    var answer = Answer()
    for (index, place) in places.enumerated() {
      try shares[2].checkpoint(index, of: places.count)
      let found = try isPlanar ? query.planar(to: place) : query.geodetic(to: place, geodesy)
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

extension Geometry {
  /// The points of a multipoint, the members of a collection, or the geometry itself.
  fileprivate var places: [Geometry] {
    switch self {
    case .multiPoint(let points): points.points.map { .point($0) }
    case .collection(let parts): parts
    case .point, .lineString, .polygon, .multiLineString, .multiPolygon: [self]
    }
  }
}
