// Every format through the real library: descriptions and features.

import Foundation
import Geometry
import Readers
import Reading
import Testing

@Suite struct `Vector formats` {
  @Test(arguments: [
    ("naturalearth_110m.gpkg", FeatureDriver.geoPackage), ("cities.fgb", .flatGeobuf), ("cities.shp", .shapefile),
  ])
  func `each binary format gives the same cities`(name: String, driver: FeatureDriver) throws {
    let source = FeatureSource.file(fixture(name))
    let description = try readers.describe(source)
    #expect(description.driver == driver)
    let cities = try #require(description.layers.first { $0.name == "cities" })
    #expect(cities.featureCount == 243)
    #expect(cities.geometryType == "Point")
    #expect(cities.fields == [Field(name: "name", type: .string)])
    #expect(cities.spatialReference == .wgs84)
    let extent = try #require(cities.extent)
    #expect(abs(extent.xMin + 175.2205645) < 1e-9 && abs(extent.yMax - 64.1434594631703) < 1e-9)
    let found = try features(source, layer: "cities").features
    #expect(found.count == 243)
    let rome = try #require(found.first { $0.attributes == [.string("Rome")] }?.geometry?.point)
    #expect(abs(rome.x - 12.48) < 0.01 && abs(rome.y - 41.9) < 0.01)
    #expect(rome.z == nil)
  }

  @Test func `a GeoPackage's polygons keep their parts and typed attributes`() throws {
    let (layer, countries) = try features(.file(fixture("naturalearth_110m.gpkg")), layer: "countries")
    #expect(layer.fidColumn == "fid")
    #expect(layer.fields.map(\.type) == [.double, .string, .string, .string, .integer])
    #expect(countries.count == 177)
    let fiji = try #require(countries.first { $0.attributes[2] == .string("Fiji") })
    guard case .multiPolygon(let polygons) = fiji.geometry else { throw Unexpected() }
    #expect(polygons.count == 3)
    #expect(polygons.allSatisfy { $0.allSatisfy { $0[0] == $0[$0.count - 1] } })
  }

  @Test func `GeoJSON gives each kind of value, nested ones as their text`() throws {
    let text = #"""
      {"type":"FeatureCollection","features":[
      {"type":"Feature","id":7,"geometry":{"type":"Point","coordinates":[1,2,3]},
       "properties":{"b":true,"i":5000000000,"d":1.5,"s":"é\n","n":null,"o":{"a":[1,2]},"l":["x","y\""],"t":"2024-02-29T12:30:00+05:30","day":"2024-02-29","nums":[1,2]}},
      {"type":"Feature","id":9,"geometry":null,"properties":{"b":false}},
      {"type":"Feature","id":11,"geometry":{"type":"GeometryCollection","geometries":[{"type":"LineString","coordinates":[[0,0],[1,1]]}]},"properties":{}}]}
      """#
    let (layer, found) = try features(.geoJSON(Array(text.utf8)))
    func value(_ name: String, _ row: Int = 0) throws -> AttributeValue {
      found[row].attributes[try #require(layer.fields.firstIndex { $0.name == Text(name) })]
    }
    #expect(layer.spatialReference == .wgs84)
    #expect(found.map(\.fid) == [7, 9, 11])
    #expect(found[0].geometry == .point(Point(x: 1, y: 2, z: 3)))
    #expect(found[1].geometry == nil)
    #expect(found[2].geometry == .collection([.lineString(Positions(values: [0, 0, 1, 1]))]))
    #expect(try value("b") == .bool(true) && value("b", 1) == .bool(false) && value("b", 2) == .null)
    #expect(try value("i") == .integer(5_000_000_000) && value("d") == .double(1.5) && value("s") == .string("é\n"))
    #expect(try value("n") == .null)
    #expect(try value("l") == .json(#"["x","y\""]"#))
    #expect(try value("nums") == .json("[1,2]"))
    guard case .json(let object) = try value("o") else { throw Unexpected() }
    #expect(object.filter { $0 != " " } == #"{"a":[1,2]}"#)
    #expect(try value("t") == .string("2024-02-29T12:30:00+05:30") && value("day") == .string("2024-02-29"))
  }

  @Test func `CSV columns give points, except for words and blanks, and 0, 0 is a position`() throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write("name,lon,lat,n\na,1.5,2.5,1\nb,,,2\nc,0,0,\nd,far,1,4\n", to: "places.csv")
    let options = OpenOptions(points: .init(x: "lon", y: "lat"))
    let (layer, rows) = try features(.file(path), options: options)
    #expect(layer.geometryType == "Point" && layer.name == "places" && layer.spatialReference == nil)
    #expect(layer.fields.map(\.name) == ["name", "lon", "lat", "n"])
    #expect(layer.fields[3].type == .integer)
    #expect(rows.map(\.geometry) == [.point(Point(x: 1.5, y: 2.5)), nil, .point(Point(x: 0, y: 0)), nil])
    #expect(rows.map { $0.attributes[3] } == [.integer(1), .integer(2), .null, .integer(4)])
    #expect(try features(.file(path)).features[0].geometry == nil)
    #expect(throws: ReadError.missingField("x", available: ["name", "lon", "lat", "n"])) {
      try features(.file(path), options: OpenOptions(points: .init(x: "x", y: "lat")))
    }
  }

  @Test func `a CSV column's type comes from all its rows`() throws {
    let directory = try TemporaryDirectory()
    let rows = (0..<200_000).map { "\($0),1.5" }.joined(separator: "\n")
    let path = try directory.write("id,v\n\(rows)\nlast,2.5\n", to: "long.csv")
    #expect(try readers.describe(.file(path)).layers[0].fields.map(\.type) == [.string, .double])
  }

  @Test func `GPX gives its five layers, times in UTC and heights as z`() throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write(
      """
      <?xml version="1.0"?><gpx version="1.1" creator="t" xmlns="http://www.topografix.com/GPX/1/1">
      <wpt lat="46.5" lon="7.5"><ele>1200.5</ele><time>2024-05-01T10:00:00.250Z</time><name>hut</name></wpt>
      <trk><name>up</name><trkseg><trkpt lat="46" lon="7"/><trkpt lat="46.1" lon="7.1"/></trkseg></trk></gpx>
      """, to: "tour.gpx")
    let names = try readers.describe(.file(path)).layers.map(\.name)
    #expect(names == ["waypoints", "routes", "tracks", "route_points", "track_points"])
    let (layer, points) = try features(.file(path), layer: "waypoints")
    let time = try #require(layer.fields.firstIndex { $0.name == "time" })
    #expect(layer.fields[time].type == .dateTime)
    #expect(points[0].attributes[time] == .string("2024-05-01T10:00:00.250Z"))
    let point = try #require(points[0].geometry?.point)
    #expect(point.x == 7.5 && point.y == 46.5)
    let track = try features(.file(path), layer: "tracks").features[0]
    #expect(track.geometry == .multiLineString([Positions(values: [7, 46, 7.1, 46.1])]))
  }

  @Test func `KML gives names and positions with height`() throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write(
      """
      <?xml version="1.0" encoding="UTF-8"?><kml xmlns="http://www.opengis.net/kml/2.2"><Document>
      <Placemark><name>Peak</name><Point><coordinates>7.65,45.97,4478</coordinates></Point></Placemark>
      </Document></kml>
      """, to: "peaks.kml")
    let (layer, found) = try features(.file(path))
    let name = try #require(layer.fields.firstIndex { $0.name == "Name" })
    #expect(found.count == 1 && found[0].attributes[name] == .string("Peak"))
    #expect(found[0].geometry == .point(Point(x: 7.65, y: 45.97, z: 4478)))
  }

  /// GDAL's columns are read where they lose nothing; a boolean makes the second file one that is read feature by feature.
  @Test func `columns and features give the same`() throws {
    let columns = try features(.file(fixture("types.gpkg")))
    let rows = try features(.file(fixture("types_boolean.gpkg")))
    #expect(rows.layer.fields.first?.type == .boolean)
    #expect(columns.layer.fields == Array(rows.layer.fields.dropFirst()))
    #expect(columns.features.count == 50)
    #expect(columns.features.map(\.fid) == rows.features.map(\.fid))
    #expect(columns.features.map(\.geometry) == rows.features.map(\.geometry))
    #expect(columns.features.map(\.attributes) == rows.features.map { Array($0.attributes.dropFirst()) })
    #expect(Set(rows.features.map { $0.attributes[0] }) == [.null, .bool(true), .bool(false)])
  }

  @Test func `a FlatGeobuf's features without geometry are read`() throws {
    let found = try features(.file(fixture("null_geometry.fgb"))).features
    #expect(found.map(\.geometry) == [.point(Point(x: 1, y: 2)), nil, .point(Point(x: 3, y: 4)), nil])
    #expect(found.map(\.attributes) == zip("abcd", 1...4).map { [.string(String($0)), .integer($1)] })
  }

  @Test func `an unknown layer is reported with the available ones`() {
    #expect(throws: ReadError.noSuchLayer("rivers", available: ["cities", "countries"])) {
      try features(.file(fixture("naturalearth_110m.gpkg")), layer: "rivers")
    }
  }
}

struct Unexpected: Error {}
