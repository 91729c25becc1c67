// What is probably meant by a member that the definition does not have: agents bring the names of other systems.

import JSON

/// A member that the definition does not have.
package struct UnknownMember: Error {
  package let name: String
  package let known: [String]
  package let value: JSONValue

  /// The known name that may have been meant: what other systems call so, or the most similar.
  package var nearest: String? {
    let meanings = Self.meanings[name.lowercased()] ?? []
    return meanings.lazy.flatMap(\.members).first { known.contains($0) }
      ?? (meanings.contains { $0.members.isEmpty } ? nil : Suggestion(for: name, among: known).meant)
  }

  /// How to write what was meant, where that takes more than the name.
  package var hint: String? {
    let meaning = (Self.meanings[name.lowercased()] ?? []).first {
      $0.members.isEmpty || $0.members.contains { known.contains($0) }
    }
    return meaning?.hint?.replacing("$", with: nearest ?? "")
  }

  private struct Meaning {
    let members: [String]
    let hint: String?
  }

  private static let meanings: [String: [Meaning]] = {
    var result: [String: [Meaning]] = [:]
    for (names, members, hint) in table {
      for name in names.split(separator: " ") {
        result[name.lowercased(), default: []].append(
          Meaning(members: members.split(separator: " ").map(String.init), hint: hint))
      }
    }
    return result
  }()

  private static let point = #"a point as `$`: {"type": "Point", "coordinates": [x, y]}, the longitude first"#
  private static let envelope = #"`$`: {"xMin": ..., "yMin": ..., "xMax": ..., "yMax": ...}"#

  /// Names of other systems, and of a member's neighbours; the members that they stand for, the first that exists counts; how to
  /// write what was meant, where `$` is the member. Without members it is none of the params.
  private static let table: [(names: String, members: String, hint: String?)] = [
    (
      "where filter cql query sql predicate expression definitionExpression condition", "whereClause filter expression",
      nil
    ),
    ("bbox extent envelope bounds rect boundingBox", "envelope", envelope),
    (
      "bbox extent envelope bounds boundingBox", "geometry",
      #"an envelope as `$`: {"type": "Envelope", "xMin": ..., "yMin": ..., "xMax": ..., "yMax": ...}"#
    ),
    ("bbox envelope bounds", "extent", nil),
    ("outFields fields attributes columns select propertyName propertyNames", "properties resultAttributeNames", nil),
    ("properties props", "attributes", nil),
    ("geometryType", "geometry", #"the `type` in `$`"#),
    ("outSR outCRS outSRS outSrid toCrs targetCrs", "outSpatialReference", nil),
    ("crs srs srid epsg wkid sr inSR bboxSR projection", "spatialReference", nil),
    ("orderByFields sort sortBy order", "orderBy", nil),
    ("property attribute column name onStatisticField", "field", nil),
    ("descending desc ascending direction", "order", #"`$`: "ascending" or "descending""#),
    (
      "count maxFeatures resultRecordCount pageSize first top max size rows maxResults maximumResults",
      "limit maxResults", nil
    ),
    ("resultOffset startIndex skip start", "offset", nil),
    ("objectIds featureIds fids oids fid featureId objectId", "ids", nil),
    ("spatialRel relation op", "spatialRelationship", nil),
    ("predicate spatialRel spatialRelationship", "relationship", nil),
    (
      "lat lng lon long latitude longitude x y latLng lngLat point coordinates location",
      "center location geometry locations points", point
    ),
    ("geom the_geom shape wkt geojson", "geometry", nil),
    ("west left minX", "xMin", nil), ("south bottom minY", "yMin", nil), ("east right maxX", "xMax", nil),
    ("north top maxY", "yMax", nil),
    ("returnCountOnly resultType hits", "", "the method `feature/queryCount`"),
    ("returnIdsOnly", "", "the method `feature/queryIds`"),
    ("returnExtentOnly", "", "the method `feature/queryExtent`"),
    ("returnDistinctValues", "", "the method `feature/queryDistinctValues`"),
    ("outStatistics groupByFieldsForStatistics", "", "the method `feature/queryStatistics`"),
    ("name displayName caption", "title id", nil), ("title label displayName caption", "name", nil),
    ("visible visibility", "isVisible", nil), ("alpha transparency", "opacity", nil),
    ("url file filename uri filePath src", "path", nil), ("table layerName", "sourceLayer", nil),
    ("scale zoom zoomLevel level", "targetScale", nil), ("bearing heading", "rotation", nil),
    ("radius diameter", "size", nil), ("weight strokeWidth lineWidth thickness", "width", nil),
    ("fill fillColor stroke strokeColor colour", "color", nil), ("border", "outline", nil),
    ("origin", "meta", #"`meta`: {"origin": ...}"#), ("ifRevision", "meta", #"`meta`: {"ifRevision": ...}"#),
    ("undo", "meta", #"`meta`: {"undo": ...}"#), ("progressToken", "meta", #"`meta`: {"progressToken": ...}"#),
    ("timeout", "meta", #"`meta`: {"task": {"timeout": ...}}"#),
    ("priority", "meta", #"`meta`: {"task": {"priority": ...}}"#),
  ]
}
