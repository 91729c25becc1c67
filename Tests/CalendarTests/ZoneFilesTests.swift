// Zones are read from files, and no name leads out of their folder.

import Calendar
import Foundation
import TestSupport
import Testing

@Suite struct ZoneFilesTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      at: folder.url.appending(path: "zones/Moon"), withIntermediateDirectories: true)
  }

  private var files: ZoneFiles { ZoneFiles(folder: folder.path("zones")) }

  /// The shortest valid file: one type of local time, and the rule.
  private func file(_ rule: String) -> Data {
    let block = [UInt8]("TZif2".utf8) + [UInt8](repeating: 0, count: 15 + 19) + [1, 0, 0, 0, 4]
    let kind: [UInt8] = [0, 0, 14, 16, 0, 0] + "LMT\0".utf8
    return Data(block + kind + block + kind + Array("\n\(rule)\n".utf8))
  }

  @Test func `a zone is read from its file, and kept when the file goes`() throws {
    try file("CET-1CEST,M3.5.0,M10.5.0/3").write(to: folder.url.appending(path: "zones/Moon/Tycho"))
    let files = files
    #expect(try #require(files.zone(named: "Moon/Tycho")).offset(at: 1_782_864_000).abbreviation == "CEST")
    try FileManager.default.removeItem(at: folder.url.appending(path: "zones/Moon/Tycho"))
    #expect(files.zone(named: "Moon/Tycho") != nil && self.files.zone(named: "Moon/Tycho") == nil)
  }

  @Test(
    .enabled(if: FileManager.default.fileExists(atPath: "/usr/share/zoneinfo/Europe/Berlin")),
    arguments: [
      // Local mean time before zones, a year in the table, and one after it.
      ("Europe/Berlin", "1890-01-01T00:00:00Z", 3208), ("Europe/Berlin", "1980-07-01T00:00:00Z", 7200),
      ("Europe/Berlin", "2050-07-01T00:00:00Z", 7200), ("America/New_York", "2026-11-01T05:59:59Z", -14_400),
      ("America/New_York", "2026-11-01T06:00:00Z", -18_000), ("Australia/Sydney", "2060-01-01T00:00:00Z", 39_600),
      ("Asia/Kolkata", "2026-01-01T00:00:00Z", 19_800), ("America/St_Johns", "2026-07-01T00:00:00Z", -9000),
    ])
  func `the system's zones say what holds there`(name: String, time: String, seconds: Int64) throws {
    let zone = try #require(ZoneFiles(folder: "/usr/share/zoneinfo").zone(named: name))
    #expect(zone.offset(at: try #require(CivilTime(time)).seconds).seconds == seconds)
  }

  @Test func `what was not there is looked for again`() throws {
    let files = files
    #expect(files.zone(named: "Moon/Copernicus") == nil)
    try file("<+01>-1").write(to: folder.url.appending(path: "zones/Moon/Copernicus"))
    #expect(files.zone(named: "Moon/Copernicus") != nil)
  }

  @Test(arguments: [
    "../outside", "Moon/../../outside", "/etc/outside", "Moon//Tycho", "Moon/", "/", "", ".", "..", "Moon/.",
    "Moon/Ty\0cho",
    "Moon/Tÿcho", String(repeating: "a/", count: 40) + "a",
  ])
  func `no name leads out of the folder`(name: String) throws {
    try file("<+01>-1").write(to: folder.url.appending(path: "outside"))
    try file("<+01>-1").write(to: folder.url.appending(path: "zones/Moon/Tycho"))
    #expect(files.zone(named: name) == nil)
  }

  @Test func `what is no file of zones is none: a folder, a pipe, text, a file without end`() throws {
    #expect(files.zone(named: "Moon") == nil)
    mkfifo(folder.path("zones/Moon/Pipe"), 0o600)
    #expect(files.zone(named: "Moon/Pipe") == nil)
    try folder.write("zone Moon/Tycho", to: "zones/Moon/Text")
    #expect(files.zone(named: "Moon/Text") == nil)
    try (file("<+01>-1") + Data(count: 1 << 19)).write(to: folder.url.appending(path: "zones/Moon/Large"))
    #expect(files.zone(named: "Moon/Large") == nil)
  }

  @Test func `without any files there are the zones of whole hours`() {
    let none = ZoneFiles(folder: folder.path("nothing"))
    #expect(
      none.zone(named: "UTC") != nil && none.zone(named: "Etc/GMT-1") != nil && none.zone(named: "Moon/Tycho") == nil)
  }
}
