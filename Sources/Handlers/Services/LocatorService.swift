// Handlers of `locator/*`: places by name, and names by place.

import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import JSON
import Planning
import Proximity
import WireCoding

package enum LocatorService: LocatorHandlers {
  package static func geocode(_ params: Geocode.Params, in world: inout World) throws -> Plan<Geocode.Result> {
    let features = try FeatureQuery(params, in: world)
    let preferred = try params.preferredSearchLocation.map { try Wire.point($0) }
    let given = try world.canonical(params.spatialReference)
    let positions = try PlacePositions(of: features, from: preferred, in: given, world)
    let locator = try Locator(
      features, params.searchText, params.field, weightField: params.weightField, minScore: params.minScore,
      preferring: positions)
    let reference = try world.canonical(params.outSpatialReference) ?? features.reference
    let columns = try columns(params.resultAttributeNames, of: features)
    let (revision, offset) = (world.revision, params.offset)
    return try FeatureService.plan(effort: locator.effort) { share in
      let found = try locator.places(offset + params.maxResults, share)
      let results = found.places.dropFirst(offset).compactMap { place -> LocatorProtocol.GeocodeResult? in
        guard let feature = features.store[place.row] else { return nil }
        return LocatorProtocol.GeocodeResult(
          id: place.id, label: Locator.label(of: feature, locator.column), score: Double(place.score),
          displayLocation: positions.point(of: feature, in: reference).map { Wire.opaque(.point($0)) },
          distance: place.distance, attributes: attributes(columns, of: feature))
      }
      return try .cut(params.maxBytes, results.count, after: offset, hasMore: found.exceeded) { count in
        Geocode.Result(
          revision: revision, spatialReference: reference.definition, results: Array(results.prefix(count)),
          exceededLimit: false)
      }
    }
  }

  package static func suggest(_ params: Suggest.Params, in world: inout World) throws -> Plan<Suggest.Result> {
    let features = try FeatureQuery(params, in: world)
    let preferred = try params.preferredSearchLocation.map { try Wire.point($0) }
    let given = try world.canonical(params.spatialReference)
    let positions = try PlacePositions(of: features, from: preferred, in: given, world)
    let locator = try Locator(
      features, params.searchText, params.field, weightField: params.weightField, minScore: 0, preferring: positions)
    let (revision, offset, end) = (world.revision, params.offset, params.offset + params.maxResults)
    return try FeatureService.plan(effort: locator.effort) { share in
      // Features with equal names are merged into one suggestion, so more are requested, and then all up to one name too many.
      let found = try locator.places(.max, share)
      var results: [LocatorProtocol.SuggestResult] = []
      var numbers: [Text: Int] = [:]
      for (index, place) in found.places.enumerated() {
        guard results.count <= end || index < end * 8 else { break }
        if index & 255 == 0 { try share.work?.checkCancelled() }
        guard let feature = features.store[place.row] else { continue }
        let label = Locator.label(of: feature, locator.column)
        if let number = numbers[Text(label)] {
          if index < end * 8 { results[number].ids.append(place.id) }
        } else if results.count <= end {
          numbers[Text(label)] = results.count
          results.append(.init(label: label, score: Double(place.score), ids: [place.id]))
        }
      }
      let shown = results.prefix(end).dropFirst(offset)
      return try .cut(params.maxBytes, shown.count, after: offset, hasMore: results.count > end) { count in
        Suggest.Result(revision: revision, results: Array(shown.prefix(count)), exceededLimit: false)
      }
    }
  }

  package static func reverseGeocode(
    _ params: ReverseGeocode.Params, in world: inout World
  ) throws -> Plan<ReverseGeocode.Result> {
    let features = try FeatureQuery(params, in: world)
    let location = try Wire.point(params.location)
    let given = try world.canonical(params.spatialReference)
    let nearest = try NearestFeatures(
      features, try Wire.geometry(params.location, keepsEmptyPoints: true), at: "/location", in: given,
      limit: params.offset + params.maxResults, maxDistance: params.maxDistance, planar: false, world)
    let positions = try PlacePositions(of: features, from: location, in: given, world)
    let column = try features.column(params.field, at: "/field")
    let reference = try world.canonical(params.outSpatialReference) ?? features.reference
    let columns = try columns(params.resultAttributeNames, of: features)
    let (revision, offset) = (world.revision, params.offset)
    return try FeatureService.plan(effort: nearest.effort) { share in
      let found = try nearest.answer(share)
      let results = found.neighbours.dropFirst(offset).compactMap { place -> LocatorProtocol.GeocodeResult? in
        guard let feature = features.store.feature(id: place.id) else { return nil }
        return LocatorProtocol.GeocodeResult(
          id: place.id, label: Locator.label(of: feature, column), score: 100,
          displayLocation: positions.point(of: feature, in: reference).map { Wire.opaque(.point($0)) },
          distance: place.distance, attributes: attributes(columns, of: feature))
      }
      return try .cut(params.maxBytes, results.count, after: offset, hasMore: found.exceeded) { count in
        ReverseGeocode.Result(
          revision: revision, spatialReference: reference.definition, results: Array(results.prefix(count)),
          exceededLimit: false)
      }
    }
  }

  private static func columns(_ names: [String]?, of features: FeatureQuery) throws -> [(name: String, column: Int)] {
    let names = names ?? []
    return Array(zip(names, try features.columns(names, at: "resultAttributeNames")))
  }

  /// The attributes of a feature that are not null, as JSON.
  static func attributes(_ columns: [(name: String, column: Int)], of feature: FeatureRow) -> JSONOpaque {
    .written { writer in
      writer.beginObject()
      for (name, column) in columns {
        feature.withAttribute(column) { value in
          if case .null = value { return }
          writer.key(name)
          FeatureWriter.write(value, to: &writer)
        }
      }
      writer.endObject()
    }
  }
}
