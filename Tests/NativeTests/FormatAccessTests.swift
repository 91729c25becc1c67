// Refusals, detection of changes, and prompt cancellation of reads.

import FeatureFormats
import Files
import Foundation
import Geometry
import Testing

@Suite struct `Access to vector files` {
  @Test(arguments: [
    "/vsicurl/http://localhost/x.geojson", "/vsizip/tmp/x.zip", "/vsimem/x.geojson", "http://localhost/x.geojson",
    "PG:host=localhost", "GPKG:/tmp/x.gpkg:layer", "<OGRVRTDataSource></OGRVRTDataSource>",
    #"{"type":"Point","coordinates":[1,2]}"#, "relative.geojson", "/tmp/a\0b.geojson",
  ])
  func `names other than absolute paths are refused`(name: String) throws {
    let error = try #require(throws: FormatError.self) { try FeatureFormats.describe(.file(name)) }
    guard case .file(.refused(let path, _)) = error else { throw error }
    #expect(path == name)
  }

  @Test func `missing files, directories and unknown formats have separate errors`() throws {
    let directory = try TemporaryDirectory()
    let missing = directory.file("none.geojson")
    let text = try directory.write("hello", to: "notes.txt")
    let empty = try directory.write("", to: "empty.geojson")
    #expect(throws: FormatError.file(.notFound(path: missing))) { try FeatureFormats.describe(.file(missing)) }
    #expect(throws: FormatError.file(.isDirectory(path: directory.path))) {
      try FeatureFormats.describe(.file(directory.path))
    }
    #expect(throws: FormatError.unrecognized(path: text)) { try FeatureFormats.describe(.file(text)) }
    #expect(throws: FormatError.unrecognized(path: empty)) { try FeatureFormats.describe(.file(empty)) }
    #expect(throws: FormatError.file(.notReadable(path: "/dev/null", reason: "not a regular file"))) {
      try FeatureFormats.describe(.file("/dev/null"))
    }
    // A format of GDAL that is not allowed.
    let vrt = try directory.write(
      "<OGRVRTDataSource><OGRVRTLayer name=\"x\"><SrcDataSource>/etc/passwd</SrcDataSource></OGRVRTLayer></OGRVRTDataSource>",
      to: "x.vrt")
    #expect(throws: FormatError.unrecognized(path: vrt)) { try FeatureFormats.describe(.file(vrt)) }
    #expect(FeatureDriver(rawValue: "VRT") == nil)
  }

  @Test func `a file outside the allowed directories is refused, also through a link`() throws {
    let inside = try TemporaryDirectory()
    let outside = try TemporaryDirectory()
    let policy = FilePolicy(allowedDirectories: [inside.path])
    let secret = try outside.write(pointsGeoJSON(1), to: "secret.geojson")
    let link = inside.file("link.geojson")
    let fine = try inside.write(pointsGeoJSON(1), to: "fine.geojson")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: secret)
    for path in [secret, link, "\(inside.path)/../\(outside.path.split(separator: "/").last ?? "")/secret.geojson"] {
      #expect(throws: FormatError.file(.refused(path: path, reason: "outside the allowed directories"))) {
        try features(.file(path), policy: policy)
      }
    }
    #expect(try features(.file(fine), policy: policy).features.count == 1)
    // A file beside it with the same beginning of the name.
    let beside = FilePolicy(allowedDirectories: [String(inside.path.dropLast(2))])
    #expect(throws: FormatError.self) { try features(.file(fine), policy: beside) }
  }

  @Test func `a Shapefile's sidecar that leads outside is not read`() throws {
    let inside = try TemporaryDirectory()
    let outside = try TemporaryDirectory()
    for part in ["shp", "shx", "prj"] { _ = try inside.copy(fixture("cities.\(part)"), to: "c.\(part)") }
    let attributes = try outside.copy(fixture("cities.dbf"), to: "c.dbf")
    try FileManager.default.createSymbolicLink(atPath: inside.file("c.dbf"), withDestinationPath: attributes)
    let all = try features(.file(inside.file("c.shp")))
    let confined = try features(
      .file(inside.file("c.shp")), policy: FilePolicy(allowedDirectories: [inside.path]))
    #expect(all.layer.fields.map(\.name) == ["name"])
    #expect(!confined.layer.fields.map(\.name).contains("name"))
  }

  @Test(arguments: [
    #"{"type":"FeatureCollection","features":[],"crs":{"type":"link","properties":{"href":"file:///etc/passwd"}}}"#,
    "/etc/passwd", "<kml></kml>", "",
  ])
  func `inline bytes are GeoJSON or nothing`(text: String) throws {
    if let result = try? FeatureFormats.describe(.geoJSON(Array(text.utf8))) { #expect(result.driver == .geoJSON) }
  }

  @Test(arguments: [0.3, 0.6, 0.9], ["cities.fgb", "cities.shp", "naturalearth_110m.gpkg"])
  func `a truncated file is an error, never fewer features`(fraction: Double, name: String) throws {
    let directory = try TemporaryDirectory()
    let path = try directory.copy(fixture(name), to: name, fraction: fraction)
    if name.hasSuffix("shp") {
      for part in ["shx", "dbf", "prj"] { _ = try directory.copy(fixture("cities.\(part)"), to: "cities.\(part)") }
    }
    #expect(throws: FormatError.self) { try features(.file(path), layer: "cities") }
  }

  @Test func `a truncated text file is an error too`() throws {
    let directory = try TemporaryDirectory()
    let whole = pointsGeoJSON(2000)
    for cut in [100, whole.utf8.count / 2, whole.utf8.count - 4] {
      let path = try directory.write(String(whole.prefix(cut)), to: "cut\(cut).geojson")
      #expect(throws: FormatError.self) { try features(.file(path)) }
      #expect(throws: FormatError.self) { try features(.geoJSON(Array(whole.utf8.prefix(cut)))) }
    }
    let gpx = try directory.write(
      #"<?xml version="1.0"?><gpx version="1.1"><wpt lat="1" lon="2"><name>a"#, to: "cut.gpx")
    #expect(throws: FormatError.self) { try features(.file(gpx)) }
    let kml = try directory.write(
      #"<?xml version="1.0"?><kml xmlns="http://www.opengis.net/kml/2.2"><Document><Placemark><name>a"#, to: "cut.kml")
    #expect(throws: FormatError.self) { try features(.file(kml)) }
  }

  @Test func `an error names the file as the client does`() throws {
    let directory = try TemporaryDirectory()
    let path = try directory.copy(fixture("naturalearth_110m.gpkg"), to: "half.gpkg", fraction: 0.5)
    let error = try #require(throws: FormatError.self) { try features(.file(path), layer: "countries") }
    #expect(!"\(error)".contains("vsigeomodel"))
  }

  @Test func `a cancel stops GDAL inside its own parse`() throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write(pointsGeoJSON(60_000), to: "large.geojson")
    let canceller = Canceller()
    var told: [Double] = []
    var began = false
    #expect(throws: FormatError.cancelled) {
      try FeatureFormats.read(
        .file(path), isCancelled: { canceller.isCancelled },
        progress: {
          told.append($0)
          if $0 > 0.1 { canceller.cancel() }
        }, begin: { _ in began = true }
      ) { _ in }
    }
    #expect(!began)
    #expect(try #require(told.last) < 0.2)
    #expect(try #require(canceller.since) < .milliseconds(50))
  }

  @Test func `a cancel between features stops the read`() throws {
    let canceller = Canceller()
    var count = 0
    #expect(throws: FormatError.cancelled) {
      try FeatureFormats.read(
        .file(fixture("naturalearth_110m.gpkg")), layer: "countries", isCancelled: { canceller.isCancelled }
      ) { _ in
        count += 1
        if count == 20 { canceller.cancel() }
      }
    }
    #expect(count < 40)
  }

  @Test(arguments: ["cities.fgb", "cities.shp", "naturalearth_110m.gpkg", "points"])
  func `progress rises to 1`(name: String) throws {
    var told: [Double] = []
    let source: FeatureSource =
      name == "points" ? .geoJSON(Array(pointsGeoJSON(20_000).utf8)) : .file(fixture(name))
    try FeatureFormats.read(source, progress: { told.append($0) }) { _ in }
    #expect(told.last == 1)
    #expect(told.allSatisfy { (0...1).contains($0) })
    #expect(zip(told, told.dropFirst()).allSatisfy { $0 < $1 })
    #expect(told.count > 5)
  }

  @Test func `progress of describing a text file rises with the bytes read`() throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write(pointsGeoJSON(60_000), to: "large.geojson")
    var told: [Double] = []
    let description = try FeatureFormats.describe(.file(path), progress: { told.append($0) })
    #expect(description.layers.map(\.featureCount) == [60_000])
    #expect(told.last == 1)
    #expect(zip(told, told.dropFirst()).allSatisfy { $0 < $1 })
    #expect(told.count > 50, "told in small steps: \(told.count)")
  }

  @Test(arguments: ["appended", "replaced", "touched"])
  func `a change of a file while it is read is detected`(how: String) throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write(pointsGeoJSON(5000), to: "live.geojson")
    var done = false
    #expect(throws: FormatError.changedWhileRead(path: path)) {
      try FeatureFormats.read(.file(path)) { _ in
        guard !done else { return }
        done = true
        do {
          switch how {
          case "appended":
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data(" ".utf8))
            try handle.close()
          case "replaced":
            let other = try directory.write(pointsGeoJSON(5000), to: "other.geojson")
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.moveItem(atPath: other, toPath: path)
          default:
            try FileManager.default.setAttributes(
              [.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: path)
          }
        } catch { Issue.record(error) }
      }
    }
  }

  @Test func `a GeoPackage with a journal is left to SQLite, if the journal is allowed`() throws {
    let directory = try TemporaryDirectory()
    let outside = try TemporaryDirectory()
    let policy = FilePolicy(allowedDirectories: [directory.path])
    let path = try directory.copy(fixture("naturalearth_110m.gpkg"), to: "live.gpkg")
    // SQLite takes a log with an invalid header for empty.
    _ = try directory.write("not a log", to: "live.gpkg-wal")
    #expect(try features(.file(path), layer: "cities", policy: policy).features.count == 243)
    let log = try outside.write("not a log", to: "log")
    // SQLite may have removed the useless log.
    try? FileManager.default.removeItem(atPath: path + "-wal")
    try FileManager.default.createSymbolicLink(atPath: path + "-wal", withDestinationPath: log)
    #expect(throws: FormatError.file(.refused(path: path, reason: "its journal lies outside the allowed directories"))) {
      try features(.file(path), policy: policy)
    }
  }

  @Test func `calls on several threads are independent`() async throws {
    try await withThrowingTaskGroup(of: Int.self) { group in
      for index in 0..<12 {
        group.addTask {
          try features(
            .file(fixture(["cities.fgb", "cities.shp", "naturalearth_110m.gpkg"][index % 3])), layer: "cities"
          ).features.count
        }
      }
      for try await count in group { #expect(count == 243) }
    }
  }
}
