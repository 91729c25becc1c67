// PROJ against published values, and its errors.

import Geodetics
import Geometry
import Projection
import Testing

@Suite struct `Projection by PROJ` {
  let transformer = PROJTransformer()

  private func moved(_ x: Double, _ y: Double, _ from: String, _ to: String) throws -> Point {
    try transformer.transform(Point(x: x, y: y), from: SpatialReference(from), to: SpatialReference(to))
  }

  /// The worked examples of IOGP Guidance Note 7-2 (here x is easting and y northing), and pyproj's for UTM.
  @Test(arguments: [
    ("EPSG:4326", "EPSG:3857", 180.0, 0.0, 20037508.342789244, 0.0, 1e-8),
    ("EPSG:4326", "EPSG:3857", -180.0, 0.0, -20037508.342789244, 0.0, 1e-8),
    ("EPSG:4277", "EPSG:27700", 0.5, 50.5, 577274.99, 69740.50, 0.02),
    ("EPSG:4289", "EPSG:28992", 6, 53, 196105.283, 557057.739, 0.002),
    ("EPSG:4242", "EPSG:24200", -76.943683333333, 17.932166666667, 255966.58, 142493.51, 0.01),
    ("EPSG:4326", "EPSG:32661", 44, 73, 3320416.75, 632668.43, 0.01),
    ("EPSG:4326", "EPSG:32610", -120.108, 34.36116666, 765975.641, 3805993.134, 0.001),
    ("EPSG:4326", "EPSG:32631", 3, 0, 500000, 0, 1e-6),
  ])
  func `known values come out`(
    from: String, to: String, x: Double, y: Double, easting: Double, northing: Double, tolerance: Double
  ) throws {
    let forward = try moved(x, y, from, to)
    #expect(abs(forward.x - easting) <= tolerance && abs(forward.y - northing) <= tolerance)
    let back = try moved(forward.x, forward.y, to, from)
    #expect(abs(back.x - x) < 1e-8 && abs(back.y - y) < 1e-8)
  }

  @Test(arguments: [
    "EPSG:4326", "epsg:4326", " EPSG:4326\n", "urn:ogc:def:crs:EPSG::4326", "urn:ogc:def:crs:EPSG:9.9.1:4326",
    "OGC:CRS84",
    "urn:ogc:def:crs:OGC:1.3:CRS84", "urn:ogc:def:crs:OGC::CRS84", "http://www.opengis.net/def/crs/EPSG/0/4326",
    "https://www.opengis.net/def/crs/OGC/1.3/CRS84",
    // As written by GDAL, and by Esri in .prj files.
    #"GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563,AUTHORITY["EPSG","7030"]],AUTHORITY["EPSG","6326"]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433],AUTHORITY["EPSG","4326"]]"#,
    #"GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]"#,
    #"{"type":"GeographicCRS","name":"WGS 84","datum":{"type":"GeodeticReferenceFrame","name":"World Geodetic System 1984","ellipsoid":{"name":"WGS 84","semi_major_axis":6378137,"inverse_flattening":298.257223563}},"coordinate_system":{"subtype":"ellipsoidal","axis":[{"name":"Geodetic latitude","abbreviation":"Lat","direction":"north","unit":"degree"},{"name":"Geodetic longitude","abbreviation":"Lon","direction":"east","unit":"degree"}]},"id":{"authority":"EPSG","code":4326}}"#,
  ])
  func `every way to write longitude and latitude is EPSG 4326`(definition: String) throws {
    let info = try transformer.describe(SpatialReference(definition))
    #expect(info.reference == .wgs84)
    #expect(info.kind == .geographic && info.unitName == "degree" && info.metersPerUnit == nil)
  }

  @Test(arguments: [
    ("+proj=utm +zone=32 +datum=WGS84", "PROJCS["), ("+proj=longlat +R=6371000", "GEOGCS["), ("IGNF:LAMB93", "PROJCS["),
    (#"{"type":"GeographicCRS","name":"sphere","datum":{"type":"GeodeticReferenceFrame","name":"sphere","ellipsoid":{"name":"sphere","radius":6371000}},"coordinate_system":{"subtype":"ellipsoidal","axis":[{"name":"Longitude","abbreviation":"lon","direction":"east","unit":"degree"},{"name":"Latitude","abbreviation":"lat","direction":"north","unit":"degree"}]}}"#, "GEOGCS["),
    // What Esri's dialect does not have: a projection, a shift of the datum, a pole elsewhere.
    ("+proj=airy +datum=WGS84", "PROJCRS["), ("+proj=tmerc +lon_0=9 +ellps=bessel +towgs84=598,73,418,0,0,0,0", "BOUNDCRS["),
    ("+proj=ob_tran +o_proj=longlat +o_lon_p=0 +o_lat_p=39 +lon_0=0 +R=6370000", "GEOGCRS["),
  ])
  func `a reference without a code is written as WKT, in Esri's dialect where that has it`(definition: String, keyword: String) throws {
    let text = try #require(try transformer.esriWKT(of: SpatialReference(definition)))
    #expect(text.hasPrefix(keyword) && !text.contains("\n"))
    let (given, read) = (try moved(9.5, 50, "EPSG:4326", definition), try moved(9.5, 50, "EPSG:4326", text))
    #expect(abs(read.x - given.x) < 1e-6 && abs(read.y - given.y) < 1e-6)
  }

  @Test func `a reference is described`() throws {
    let mercator = try transformer.describe(.webMercator)
    #expect(mercator.name == "WGS 84 / Pseudo-Mercator" && mercator.kind == .projected)
    #expect(mercator.unitName == "metre" && mercator.metersPerUnit == 1)
    #expect(try transformer.describe(.wgs84).areaOfUse == Envelope(xMin: -180, yMin: -90, xMax: 180, yMax: 90))
    let feet = try transformer.describe(SpatialReference("EPSG:2263"))
    #expect(feet.unitName == "US survey foot" && feet.metersPerUnit.map { abs($0 - 1200.0 / 3937) < 1e-12 } == true)
    #expect(try transformer.describe(SpatialReference("EPSG:4978")).kind == .geocentric)
    #expect(try transformer.describe(SpatialReference("EPSG:5773")).kind == .vertical)
    let compound = try transformer.describe(SpatialReference("EPSG:7415"))
    #expect(compound.kind == .projected && compound.metersPerUnit == 1 && compound.reference.definition == "EPSG:7415")
    let esri =
      #"PROJCS["WGS_1984_UTM_Zone_32N",GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",500000.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",9.0],PARAMETER["Scale_Factor",0.9996],PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]"#
    #expect(try transformer.describe(SpatialReference(esri)).reference.definition == "EPSG:32632")
    let local = #"LOCAL_CS["site",UNIT["metre",1]]"#
    #expect(try transformer.describe(SpatialReference(local)).kind == .local)
  }

  @Test(arguments: [
    "", "EPSG:", "EPSG:99999999", "nowhere:1", "WGS 84", "+proj=longlat +nadgrids=x.gsb", "+init=epsg:4326", "/etc/passwd",
    "EPSG:4326:1", "PROJCS[", "+proj=longlat +title=[x] +type=crs", "[", "{", "{}",
    "http://www.opengis.net/def/crs/EPSG/4326", "urn:ogc:def:crs:EPSG:4326",
    "http://localhost/def/crs/EPSG/0/4326", #"ELLIPSOID["x",6378137,298]"#, "EPSG:4326\0",
  ])
  func `an invalid reference is refused with a reason`(definition: String) throws {
    let error = try #require(throws: TransformError.self) {
      try transformer.describe(SpatialReference(definition))
    }
    guard case .unknownReference(_, let reason) = error else { throw error }
    #expect(!reason.isEmpty)
  }

  @Test func `a position outside the domain is reported with both references`() throws {
    var positions = Positions(values: [10, 50, 11, 51, 12, 95, 13, 96])
    #expect(throws: TransformError.outsideDomain(index: 2, from: "EPSG:4326", to: "EPSG:3857", latitude: 95)) {
      try positions.withMutableValues { (buffer) throws(TransformError) in
        try transformer.transform(buffer, stride: 2, hasZ: false, from: .wgs84, to: .webMercator)
      }
    }
    #expect(throws: TransformError.outsideDomain(index: 0, from: "EPSG:4326", to: "EPSG:3857")) {
      try moved(.nan, 0, "EPSG:4326", "EPSG:3857")
    }
  }

  @Test func `unrelated references have no operation`() {
    let site = #"LOCAL_CS["site",UNIT["metre",1]]"#
    #expect(throws: TransformError.noOperation(from: site, to: "EPSG:3857")) { try moved(0, 0, site, "EPSG:3857") }
  }

  @Test func `the poles have positions in a polar projection and none in Mercator`() throws {
    let pole = try moved(0, 90, "EPSG:4326", "EPSG:32661")
    #expect(abs(pole.x - 2_000_000) < 1e-6 && abs(pole.y - 2_000_000) < 1e-6)
    // Every longitude is at the pole.
    let again = try moved(123, 90, "EPSG:4326", "EPSG:32661")
    #expect(abs(again.x - pole.x) < 1e-6 && abs(again.y - pole.y) < 1e-6)
    let south = try moved(0, -90, "EPSG:4326", "EPSG:32761")
    #expect(abs(south.x - 2_000_000) < 1e-6 && abs(south.y - 2_000_000) < 1e-6)
  }

  @Test func `both sides of the antimeridian are at the two ends of Mercator, and adjacent in Fiji's projection`()
    throws
  {
    let west = try moved(179.999, -17, "EPSG:4326", "EPSG:3857")
    let east = try moved(-179.999, -17, "EPSG:4326", "EPSG:3857")
    #expect(west.x > 2.0037e7 && east.x < -2.0037e7)
    // WGS 84 / UTM zone 60S extends across it.
    let left = try moved(179.999, -17, "EPSG:4326", "EPSG:32760")
    let right = try moved(-179.999, -17, "EPSG:4326", "EPSG:32760")
    #expect(right.x > left.x && right.x - left.x < 300)
    let back = try moved(right.x, right.y, "EPSG:32760", "EPSG:4326")
    #expect(abs(abs(back.x) - 179.999) < 1e-9 && abs(back.y + 17) < 1e-9)
  }

  @Test func `z is transformed where given, and m is kept`() throws {
    let point = Geometry.point(Point(x: 0, y: 0, z: 100, m: 7))
    let moved = try transformer.transform(point, from: SpatialReference("EPSG:4979"), to: SpatialReference("EPSG:4978"))
    guard case .point(let result?) = moved else { throw Unexpected() }
    #expect(abs(result.x - 6_378_237) < 1e-6 && abs(result.y) < 1e-6 && result.z.map(abs).map { $0 < 1e-6 } == true)
    #expect(result.m == 7)
    let flat = try transformer.transform(point, from: .wgs84, to: .webMercator)
    guard case .point(let plane?) = flat else { throw Unexpected() }
    #expect(plane.z == 100 && plane.m == 7)
  }

  @Test func `threads share one transformer and agree`() async throws {
    let expected = try moved(9, 48, "EPSG:4326", "EPSG:25832")
    let transformer = transformer
    try await withThrowingTaskGroup(of: Point.self) { group in
      for _ in 0..<32 {
        group.addTask {
          var last = Point(x: 0, y: 0)
          for _ in 0..<50 {
            last = try transformer.transform(
              Point(x: 9, y: 48), from: SpatialReference("EPSG:4326"), to: SpatialReference("EPSG:25832"))
          }
          return last
        }
      }
      for try await point in group { #expect(point == expected) }
    }
  }

  @Test func `a box is transformed by its edges, not its corners`() throws {
    let box = Envelope(xMin: -10, yMin: 40, xMax: 30, yMax: 60)
    let moved = try transformer.bounds(of: box, from: .wgs84, to: SpatialReference("EPSG:3035"))
    let top = try self.moved(10, 60, "EPSG:4326", "EPSG:3035")
    let corner = try self.moved(-10, 40, "EPSG:4326", "EPSG:3035")
    #expect(moved.yMin < corner.y && moved.yMax > top.y - 1)
  }
}

@Suite struct `Geodesics by PROJ` {
  let geodesy: any Geodesy = PROJTransformer()

  /// The example of GeographicLib's GeodSolve: New York to London.
  @Test func `a known line comes out`() throws {
    let line = try geodesy.inverse(from: Point(x: -73.8, y: 40.6), to: Point(x: -0.5, y: 51.6))
    #expect(abs(line.distance - 5_551_759.400) < 0.001)
    #expect(abs(line.startAzimuth - 51.198882845579) < 1e-9)
    #expect(abs(line.endAzimuth - 107.821776735514) < 1e-9)
  }

  @Test(arguments: [
    (Point(x: 179.5, y: -17), Point(x: -179.5, y: -16)), (Point(x: 0, y: 89.9), Point(x: 170, y: 89.5)),
    (Point(x: 7, y: 46), Point(x: 7, y: 46)), (Point(x: 0, y: 0), Point(x: 179.9, y: 0.3)),
    (Point(x: 20, y: -90), Point(x: 20, y: 90)), (Point(x: 0, y: 10), Point(x: -1, y: 10)),
  ])
  func `direct after inverse gives the same position`(start: Point, end: Point) throws {
    let line = try geodesy.inverse(from: start, to: end)
    #expect((0..<360).contains(line.startAzimuth) && (0..<360).contains(line.endAzimuth))
    let (reached, azimuth) = try geodesy.direct(from: start, azimuth: line.startAzimuth, distance: line.distance)
    let rest = try geodesy.inverse(from: reached, to: end)
    #expect(rest.distance < 1e-6)
    #expect((0..<360).contains(azimuth))
    #expect((-180...180).contains(reached.x))
  }

  @Test(arguments: [-84.9, -47.3, 0, 12, 60], [0.0, 30, 90, 200, 315])
  func `a plane that touches the ellipsoid has what is near`(latitude: Double, azimuth: Double) throws {
    let center = Point(x: 179.99, y: latitude)
    let plane = TangentPlane(at: center)
    for distance in [1.0, 500, 7_000] {
      let place = plane.place(azimuth: azimuth, distance: distance)
      let (reached, _) = try geodesy.direct(from: center, azimuth: azimuth, distance: distance)
      #expect(try geodesy.inverse(from: Point(x: place.x, y: place.y), to: reached).distance < 2e-5)
      let position = plane.position(longitude: place.x, latitude: place.y)
      #expect(abs((position * position).sum().squareRoot() - distance) <= TangentPlane.error(distance) / 2 + 1e-8)
      let back = plane.place(east: position.x, north: position.y)
      #expect(abs(back.x - place.x) < 1e-12 && abs(back.y - place.y) < 1e-12)
    }
  }

  @Test func `the antimeridian is no edge and the meridian from pole to pole is half of it`() throws {
    let over = try geodesy.inverse(from: Point(x: 179.5, y: 0), to: Point(x: -179.5, y: 0))
    #expect(abs(over.distance - 111_319.4907932264) < 1e-6)
    let meridian = try geodesy.inverse(from: Point(x: 0, y: -90), to: Point(x: 0, y: 90))
    #expect(abs(meridian.distance - 20_003_931.4586) < 0.001)
  }

  @Test func `a latitude beyond a pole is refused with its index`() {
    #expect(throws: TransformError.outsideDomain(index: 1, from: "EPSG:4326", to: "geodesic")) {
      try geodesy.inverse(from: Point(x: 0, y: 0), to: Point(x: 0, y: 90.5))
    }
    #expect(throws: TransformError.self) { try geodesy.direct(from: Point(x: 0, y: 0), azimuth: .nan, distance: 1) }
  }
}

/// `ESRI:102100` is Web Mercator by another name, which PROJ computes.
@Suite struct `Web Mercator without PROJ` {
  private let transformer = PROJTransformer()
  private let proj = SpatialReference("ESRI:102100")

  @Test func `positions are PROJ's, bit by bit, and so are those that have none`() throws {
    var random = SystemRandomNumberGenerator()
    var positions: [(Double, Double)] = [
      (0, 0), (180, 90), (-180, -90), (180, -90), (180.0000000000001, 0), (190, 10), (-540, 10), (360, 5), (572, 1), (574, 1),
      (0, 90.00000000000001), (0, 91), (.nan, 1), (1, .nan), (.infinity, 0), (0, -.infinity), (-0.0, -0.0), (1e9, 1e9),
      (2.1e7, 2.1e7), (-6e7, 5), (20037508.342789244, 20037508.342789244), (1e300, 1e300), (.leastNonzeroMagnitude, .leastNormalMagnitude),
    ]
    for scale in [1.0, 1e5] {
      for _ in 0..<5_000 {
        positions.append(
          (Double.random(in: -200...200, using: &random) * scale, Double.random(in: -90...90, using: &random) * scale))
      }
    }
    func outcome(_ x: Double, _ y: Double, _ from: SpatialReference, _ to: SpatialReference) -> Result<Point, TransformError> {
      Result { () throws(TransformError) in try transformer.transform(Point(x: x, y: y, z: 7), from: from, to: to) }
    }
    for (x, y) in positions {
      for isForward in [true, false] {
        let own = isForward ? outcome(x, y, .wgs84, .webMercator) : outcome(x, y, .webMercator, .wgs84)
        let theirs = isForward ? outcome(x, y, .wgs84, proj) : outcome(x, y, proj, .wgs84)
        switch (own, theirs) {
        case (.success(let own), .success(let theirs)): #expect(own == theirs, "\(x) \(y) \(isForward)")
        case (.failure(.outsideDomain(_, _, _, let own)), .failure(.outsideDomain(_, _, _, let theirs))): #expect(own == theirs)
        default: Issue.record("\(x) \(y) \(isForward): \(own), \(theirs)")
        }
      }
    }
  }

  @Test func `bounds are PROJ's`() throws {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<500 {
      let (a, b) = (Double.random(in: -180...180, using: &random), Double.random(in: -180...180, using: &random))
      let (c, d) = (Double.random(in: -90...90, using: &random), Double.random(in: -90...90, using: &random))
      let box = Envelope(xMin: min(a, b), yMin: min(c, d), xMax: max(a, b), yMax: max(c, d))
      #expect(try transformer.bounds(of: box, from: .wgs84, to: .webMercator) == transformer.bounds(of: box, from: .wgs84, to: proj))
      let far = Envelope(xMin: box.xMin * 1.2e5, yMin: box.yMin * 3e5, xMax: box.xMax * 1.1e5, yMax: box.yMax * 3e5)
      #expect(try transformer.bounds(of: far, from: .webMercator, to: .wgs84) == transformer.bounds(of: far, from: proj, to: .wgs84))
    }
  }

  @Test(arguments: [
    ("EPSG:4326", #"GEOGCRS["x",DATUM["World Geodetic System 1984",ELLIPSOID["WGS 84",6378137,298.257223563]],CS[ellipsoidal,2],AXIS["latitude",north],AXIS["longitude",east],ANGLEUNIT["degree",0.0174532925199433],ID["EPSG",4326]]"#),
    ("EPSG:3857", #"PROJCRS["x",BASEGEOGCRS["WGS 84",DATUM["World Geodetic System 1984",ELLIPSOID["WGS 84",6378137,298.257223563]]],CONVERSION["y",METHOD["Popular Visualisation Pseudo Mercator",ID["EPSG",1024]]],CS[Cartesian,2],AXIS["x",east],AXIS["y",north],LENGTHUNIT["metre",1],ID["EPSG",3857]]"#),
  ])
  func `descriptions are PROJ's`(code: String, asText: String) throws {
    #expect(try transformer.describe(SpatialReference(code)) == PROJTransformer().describe(SpatialReference(asText)))
  }
}
