// Handlers of `locator/*`: places by name, and names by place.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Query
import WireCoding

package enum LocatorService: LocatorHandlers {
  package static func geocode(_ params: Geocode.Params, in world: inout World) throws -> Plan<Geocode.Result> {
    let features = try FeatureQuery(params, in: world)
    let preferred = try params.preferredSearchLocation.map { try Wire.point($0) }
    let positions = try PlacePositions(of: features, from: preferred, in: params.spatialReference, world)
    let locator = try Locator(
      features, params.searchText, params.field, weightField: params.weightField, minScore: params.minScore,
      preferring: positions)
    let reference = try world.canonical(params.outSpatialReference) ?? features.reference
    let columns = try (params.resultAttributeNames ?? []).enumerated().map { index, name in
      (name, try features.column(name, at: "/resultAttributeNames/\(index)"))
    }
    let (revision, limit) = (world.revision, params.maxResults)
    return try FeatureService.plan(effort: locator.effort) { share in
      let found = try locator.places(limit, share)
      let results = found.places.compactMap { place -> LocatorProtocol.GeocodeResult? in
        guard let feature = features.store[place.row] else { return nil }
        return LocatorProtocol.GeocodeResult(
          id: place.id, label: locator.label(of: feature), score: Double(place.score),
          displayLocation: positions.point(of: feature, in: reference).map { Wire.opaque(.point($0)) },
          distance: place.distance, attributes: attributes(columns, of: feature))
      }
      return .init(
        revision: revision, spatialReference: reference.definition, results: results, exceededLimit: found.exceeded)
    }
  }

  package static func suggest(_ params: Suggest.Params, in world: inout World) throws -> Plan<Suggest.Result> {
    let features = try FeatureQuery(params, in: world)
    let preferred = try params.preferredSearchLocation.map { try Wire.point($0) }
    let positions = try PlacePositions(of: features, from: preferred, in: params.spatialReference, world)
    let locator = try Locator(
      features, params.searchText, params.field, weightField: params.weightField, minScore: 0, preferring: positions)
    let (revision, limit) = (world.revision, params.maxResults)
    return try FeatureService.plan(effort: locator.effort) { share in
      // Several features of one name make one suggestion.
      let found = try locator.places(limit * 8, share)
      var results: [LocatorProtocol.SuggestResult] = []
      var numbers: [Text: Int] = [:]
      for place in found.places {
        guard let feature = features.store[place.row] else { continue }
        let label = locator.label(of: feature)
        if let number = numbers[Text(label)] {
          results[number].ids.append(place.id)
        } else if results.count < limit {
          numbers[Text(label)] = results.count
          results.append(.init(label: label, score: Double(place.score), ids: [place.id]))
        }
      }
      return .init(revision: revision, results: results)
    }
  }

  /// The attributes of a feature that have a value, as JSON.
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
