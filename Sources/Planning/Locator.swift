// Finds places by name: takes candidates from the name indexes, applies the filters, and ranks.

import FeatureStore
import GeoModel
import Geometry
import Names

/// A search for places by name.
package struct Locator: Sendable {
  /// A matching place.
  package struct Place {
    package let row: UInt32
    package let id: Int
    package let score: Int
    /// Distance to the preferred place in metres; nil without a preferred place or without a position.
    package let distance: Double?
    let weight: Double

    /// Whether it ranks before another.
    func isBefore(_ other: Place) -> Bool {
      if score != other.score { return score > other.score }
      let (near, far) = (distance ?? .infinity, other.distance ?? .infinity)
      if near != far { return near < far }
      return weight != other.weight ? weight > other.weight : id < other.id
    }
  }

  private let features: FeatureQuery
  private let text: NameQuery?
  package let column: Int
  private let weightColumn: Int?
  private let positions: PlacePositions
  private let minScore: Int

  package init(
    _ features: FeatureQuery, _ text: String, _ field: String, weightField: String?, minScore: Double,
    preferring preferred: PlacePositions
  ) throws {
    self.features = features
    self.text = NameQuery(text)
    column = try features.column(field, at: "/field")
    weightColumn = try weightField.map { try features.column($0, at: "/weightField") }
    self.minScore = Int(minScore.rounded(.up))
    positions = preferred
  }

  /// The effort of the search, in units of `FeatureQuery.effort`.
  package var effort: Int { features.effort + features.store.count }

  /// The best places, and whether there are more.
  package func places(_ count: Int, _ share: WorkShare) throws -> (places: [Place], exceeded: Bool) {
    let shares = share.split(by: features.isAll ? 0 : features.effort, features.store.count * 4, features.store.count)
    guard let text else { return ([], false) }
    let allowed = features.isAll ? nil : RowSet(try features.rows(shares[0]))
    var matches = try features.store.names(
      matching: text, in: column, atLeast: minScore, checking: shares[1].checkpoint)
    if let allowed { matches.removeAll { !allowed.contains($0.row) } }
    var places: [Place] = []
    places.reserveCapacity(matches.count)
    for (index, match) in matches.enumerated() {
      if index & 255 == 0 { try shares[2].checkpoint(index, of: matches.count) }
      guard let feature = features.store[match.row] else { continue }
      places.append(
        Place(
          row: match.row, id: feature.id, score: match.score, distance: positions.distance(to: feature),
          weight: weight(of: feature)))
    }
    try share.work?.checkCancelled()
    places.sort { $0.isBefore($1) }
    return (Array(places.prefix(count)), places.count > count)
  }

  private func weight(of feature: FeatureRow) -> Double {
    guard let weightColumn else { return 0 }
    switch feature.value(weightColumn) {
    case .integer(let number): return Double(number)
    case .double(let number): return number
    case .null, .bool, .string, .json: return -.infinity
    }
  }

  /// The name of a feature as stored.
  package static func label(of feature: FeatureRow, _ column: Int) -> String {
    switch feature.value(column) {
    case .string(let text): text
    case .integer(let number): String(number)
    case .null, .bool, .double, .json: ""
    }
  }
}

/// The positions of places, as points in the features' reference and in others.
package struct PlacePositions: Sendable {
  let reference: SpatialReference
  private let transformer: any CoordinateTransformer
  private let geodesy: any Geodesy
  /// Longitude and latitude of the preferred place.
  private let origin: Point?

  /// - Parameter origin: the preferred place in `originReference`; that is the features' reference if nil.
  package init(
    of features: FeatureQuery, from origin: Point?, in originReference: SpatialReference?, _ world: borrowing World
  ) throws(TransformError) {
    reference = features.reference
    (transformer, geodesy) = (world.transformer, world.geodesy)
    let given = originReference ?? features.reference
    self.origin =
      if let origin { try transformer.transform(origin, from: given, to: .wgs84) } else { nil }
  }

  /// The point of a feature, or the center of its envelope.
  static func point(of feature: FeatureRow) -> Point? {
    feature.point.map { Point(x: $0.x, y: $0.y) } ?? feature.envelope?.center
  }

  /// In metres; nil without an origin, and for a feature without a position.
  func distance(to feature: FeatureRow) -> Double? {
    guard let origin, let point = Self.point(of: feature),
      let place = try? transformer.transform(point, from: reference, to: .wgs84)
    else { return nil }
    return try? geodesy.inverse(from: origin, to: place).distance
  }

  /// A feature's point in another reference; nil if it has no coordinates there.
  package func point(of feature: FeatureRow, in other: SpatialReference) -> Point? {
    Self.point(of: feature).flatMap { try? transformer.transform($0, from: reference, to: other) }
  }
}
