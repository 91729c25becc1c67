// Refusals, detection of changes, and prompt cancellation of reads.

import Files
import Foundation
import Geometry
import Platform
import Readers
import Testing

@testable import Reading

@Suite struct `Access to vector files` {
  @Test(arguments: [
    "/vsicurl/http://localhost/x.geojson", "/vsizip/tmp/x.zip", "/vsimem/x.geojson", "http://localhost/x.geojson",
    "PG:host=localhost", "GPKG:/tmp/x.gpkg:layer", "<OGRVRTDataSource></OGRVRTDataSource>",
    #"{"type":"Point","coordinates":[1,2]}"#, "relative.geojson", "/tmp/a\0b.geojson",
  ])
  func `names other than absolute paths are refused`(name: String) throws {
    let error = try #require(throws: ReadError.self) { try readers.describe(.file(name)) }
    guard case .file(.refused(let path, _)) = error else { throw error }
    #expect(path == name)
  }

  @Test func `missing files, directories and unknown formats have separate errors`() throws {
    let directory = try TemporaryDirectory()
    let missing = directory.file("none.geojson")
    let text = try directory.write("hello", to: "notes.txt")
    let empty = try directory.write("", to: "empty.geojson")
    #expect(throws: ReadError.file(.notFound(path: missing))) { try readers.describe(.file(missing)) }
    #expect(throws: ReadError.file(.isDirectory(path: directory.path))) {
      try readers.describe(.file(directory.path))
    }
    #expect(throws: ReadError.unrecognized(path: text)) { try readers.describe(.file(text)) }
    #expect(throws: ReadError.unrecognized(path: empty)) { try readers.describe(.file(empty)) }
    #expect(throws: ReadError.file(.notReadable(path: "/dev/null", reason: "not a regular file"))) {
      try readers.describe(.file("/dev/null"))
    }
    // A format of GDAL that is not allowed.
    let vrt = try directory.write(
      "<OGRVRTDataSource><OGRVRTLayer name=\"x\"><SrcDataSource>/etc/passwd</SrcDataSource></OGRVRTLayer></OGRVRTDataSource>",
      to: "x.vrt")
    #expect(throws: ReadError.unrecognized(path: vrt)) { try readers.describe(.file(vrt)) }
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
      #expect(throws: ReadError.file(.refused(path: path, reason: "outside the allowed directories"))) {
        try features(.file(path), policy: policy)
      }
    }
    #expect(try features(.file(fine), policy: policy).features.count == 1)
    // A file beside it with the same beginning of the name.
    let beside = FilePolicy(allowedDirectories: [String(inside.path.dropLast(2))])
    #expect(throws: ReadError.self) { try features(.file(fine), policy: beside) }
  }

  @Test func `a Shapefile's sidecar that leads outside is not read`() throws {
    let inside = try TemporaryDirectory()
    let outside = try TemporaryDirectory()
    for part in ["shp", "shx", "prj"] { _ = try inside.copy(fixture("cities.\(part)"), to: "c.\(part)") }
    let attributes = try outside.copy(fixture("cities.dbf"), to: "c.dbf")
    try FileManager.default.createSymbolicLink(atPath: inside.file("c.dbf"), withDestinationPath: attributes)
    let all = try features(.file(inside.file("c.shp")))
    let policy = FilePolicy(allowedDirectories: [inside.path])
    let confined = try features(.file(inside.file("c.shp")), policy: policy)
    #expect(all.layer.fields.map(\.name) == ["name"])
    #expect(!confined.layer.fields.map(\.name).contains("name"))
    let description = try readers.describe(.file(inside.file("c.shp")), policy: policy)
    #expect(description.warnings == ["c.dbf is left out: it leads outside the allowed directories."])
  }

  @Test(arguments: [
    #"{"type":"FeatureCollection","features":[],"crs":{"type":"link","properties":{"href":"file:///etc/passwd"}}}"#,
    "/etc/passwd", "<kml></kml>", "",
  ])
  func `inline bytes are GeoJSON or nothing`(text: String) throws {
    if let result = try? readers.describe(.geoJSON(Array(text.utf8))) { #expect(result.driver == .geoJSON) }
  }

  @Test(arguments: [0.3, 0.6, 0.9], ["cities.fgb", "cities.shp", "naturalearth_110m.gpkg"])
  func `a truncated file is an error, never fewer features`(fraction: Double, name: String) throws {
    let directory = try TemporaryDirectory()
    let path = try directory.copy(fixture(name), to: name, fraction: fraction)
    if name.hasSuffix("shp") {
      for part in ["shx", "dbf", "prj"] { _ = try directory.copy(fixture("cities.\(part)"), to: "cities.\(part)") }
    }
    #expect(throws: ReadError.self) { try features(.file(path), layer: "cities") }
  }

  @Test func `a truncated text file is an error too`() throws {
    let directory = try TemporaryDirectory()
    let whole = pointsGeoJSON(2000)
    for cut in [100, whole.utf8.count / 2, whole.utf8.count - 4] {
      let path = try directory.write(String(whole.prefix(cut)), to: "cut\(cut).geojson")
      #expect(throws: ReadError.self) { try features(.file(path)) }
      #expect(throws: ReadError.self) { try features(.geoJSON(Array(whole.utf8.prefix(cut)))) }
    }
    let gpx = try directory.write(
      #"<?xml version="1.0"?><gpx version="1.1"><wpt lat="1" lon="2"><name>a"#, to: "cut.gpx")
    #expect(throws: ReadError.self) { try features(.file(gpx)) }
    let kml = try directory.write(
      #"<?xml version="1.0"?><kml xmlns="http://www.opengis.net/kml/2.2"><Document><Placemark><name>a"#, to: "cut.kml")
    #expect(throws: ReadError.self) { try features(.file(kml)) }
  }

  @Test func `an error names the file as the client does`() throws {
    let directory = try TemporaryDirectory()
    let path = try directory.copy(fixture("naturalearth_110m.gpkg"), to: "half.gpkg", fraction: 0.5)
    let error = try #require(throws: ReadError.self) { try features(.file(path), layer: "countries") }
    #expect(!"\(error)".contains("vsigeomodel"))
  }

  // A member that resembles `features` leaves a file to GDAL.
  @Test(arguments: ["", #""Features":0,"#])
  func `a cancel stops a reader inside its parse, GDAL too`(member: String) throws {
    _ = try cancelledParse(member)
  }

  @Test func `a cancel between blocks stops the read`() throws {
    let canceller = Canceller()
    var count = 0
    #expect(throws: ReadError.cancelled) {
      try readers.read(.geoJSON(Array(pointsGeoJSON(60_000).utf8)), isCancelled: { canceller.isCancelled }) { block in
        count += block.count
        canceller.cancel()
      }
    }
    #expect(count == FeatureBlockBuilder.rowLimit)
  }

  @Test(arguments: ["cities.fgb", "cities.shp", "naturalearth_110m.gpkg", "points"])
  func `progress rises to 1`(name: String) throws {
    var reported: [Double] = []
    let source: FeatureSource =
      name == "points" ? .geoJSON(Array(pointsGeoJSON(20_000).utf8)) : .file(fixture(name))
    try readers.read(source, progress: { reported.append($0) }) { _ in }
    #expect(reported.last == 1)
    #expect(reported.allSatisfy { (0...1).contains($0) })
    #expect(zip(reported, reported.dropFirst()).allSatisfy { $0 < $1 })
    #expect(reported.count > 5)
  }

  @Test func `progress of describing a text file rises with the bytes read`() throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write(pointsGeoJSON(60_000), to: "large.geojson")
    var reported: [Double] = []
    let description = try readers.describe(.file(path), progress: { reported.append($0) })
    #expect(description.layers.map(\.featureCount) == [60_000])
    #expect(reported.last == 1)
    #expect(zip(reported, reported.dropFirst()).allSatisfy { $0 < $1 })
    #expect(reported.count > 50, "reported in small steps: \(reported.count)")
  }

  @Test(arguments: ["appended", "replaced", "touched", "rewritten"])
  func `a change of a file while it is read is detected`(how: String) throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write(pointsGeoJSON(5000), to: "live.geojson")
    var done = false
    #expect(throws: ReadError.changedWhileRead(path: path)) {
      try readers.read(.file(path)) { _ in
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
          case "rewritten":
            // With the time of modification that it had.
            var status = stat()
            try #require(stat(path, &status) == 0)
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            try handle.write(contentsOf: Data(" ".utf8))
            try handle.close()
            try #require(utimensat(AT_FDCWD, path, [status.modified, status.modified], 0) == 0)
          default:
            try FileManager.default.setAttributes(
              [.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: path)
          }
        } catch { Issue.record(error) }
      }
    }
  }

  @Test func `a GeoPackage with a log shows its committed rows, or fails by name`() throws {
    let directory = try TemporaryDirectory()
    let outside = try TemporaryDirectory()
    let policy = FilePolicy(allowedDirectories: [directory.path])
    let path = try directory.copy(fixture("naturalearth_110m.gpkg"), to: "live.gpkg")
    // SQLite takes a log with an invalid header for empty. Without the index beside it, it would ignore any log.
    _ = try directory.write("not a log", to: "live.gpkg-wal")
    let error = try #require(throws: ReadError.self) { try features(.file(path), policy: policy) }
    guard case .openFailed(_, path, let reason) = error, reason.contains("write-ahead log") else { throw error }
    let log = try outside.write("not a log", to: "log")
    try FileManager.default.removeItem(atPath: path + "-wal")
    try FileManager.default.createSymbolicLink(atPath: path + "-wal", withDestinationPath: log)
    #expect(throws: ReadError.file(.refused(path: path, reason: "its journal lies outside the allowed directories"))) {
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
