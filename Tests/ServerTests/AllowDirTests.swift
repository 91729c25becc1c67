// --allow-dir on the built server: what it takes at the start, and the ways out of it that do not lead out.

import Foundation
import JSON
import TestSupport
import Testing

@Suite struct AllowDirTests {
  @Test(arguments: ["/no/such/folder", "", "/dev/null"])
  func `a directory that is none is refused at the start`(directory: String) throws {
    let server = try ServerProcess(["--allow-dir", directory])
    #expect(try server.waitForExit() == .code(66))
    #expect(server.errorText().hasPrefix("geomodel-server: --allow-dir \(directory): "))
    #expect(try server.rest() == "")
  }

  @Test func `no name of an outside file leads out`() throws {
    let place = try Place()
    let server = try place.server()
    for name in [
      "\(place.outside)/secret.geojson", "\(place.inside)/../outside/secret.geojson",
      "\(place.inside)/sub/../../outside/secret.geojson", "../outside/secret.geojson",
      "sub/../../outside/secret.geojson",
      "file://\(place.outside)/secret.geojson", "file://\(place.inside)/%2e%2e/outside/secret.geojson",
      "file://localhost\(place.inside)/%2E%2E%2foutside/secret.geojson",
      "file:\(place.inside)/..%2Foutside/secret.geojson",
      "/proc/self/root\(place.outside)/secret.geojson", "/proc/self/cwd/../outside/secret.geojson",
      "/proc/thread-self/root\(place.outside)/secret.geojson", "//\(place.outside)/secret.geojson",
      "link.geojson", "chain.geojson", "folder/secret.geojson", "sub/up/outside/secret.geojson",
      // A neighbour whose name only begins alike.
      "\(place.inside)-neighbour/secret.geojson", "../inside-neighbour/secret.geojson",
      "~/secret.geojson/../../outside/secret.geojson", "/etc/passwd",
    ] {
      #expect(try server.opening(name) == (name.hasPrefix("~") ? "fileNotFound" : "pathRefused"), "\(name)")
    }
  }

  @Test func `a neighbour whose name only reads alike is outside`() throws {
    let place = try Place()
    let server = try place.server(allowed: "\(place.root)/\u{E9}")
    #expect(try server.opening("\(place.root)/\u{E9}/fine.geojson") == "result")
    #expect(try server.opening("\(place.root)/e\u{301}/secret.geojson") == "pathRefused")
  }

  @Test func `whether an outside file exists is not told`() throws {
    let place = try Place()
    let server = try place.server()
    for name in [
      "\(place.outside)/none.geojson", "../outside/none.geojson", "/none/at/all.geojson",
      "/proc/self/root/none.geojson",
      "folder/none.geojson", "\(place.outside)/locked/secret.geojson",
    ] {
      #expect(try server.opening(name) == "pathRefused", "\(name)")
    }
    #expect(try server.opening("none.geojson") == "fileNotFound")
    #expect(try server.opening("sub/none/at/all.geojson") == "fileNotFound")
    #expect(try server.opening("\(place.inside)/circle.geojson") == "openFailed")
  }

  @Test func `what is inside opens by every name that leads there`() throws {
    let place = try Place()
    let server = try place.server()
    for name in [
      "\(place.inside)/fine.geojson", "fine.geojson", "./fine.geojson", "sub/../fine.geojson", "home.geojson",
      "file://\(place.inside)/fine%2Egeojson", "../inside/fine.geojson", "\(place.outside)/../inside/fine.geojson",
      "\(place.outside)/back/fine.geojson",
    ] {
      #expect(try server.opening(name) == "result", "\(name)")
    }
  }

  @Test func `a root of the client's choice does not widen what is allowed`() throws {
    let place = try Place()
    for root in ["../outside", place.outside, "/", "/proc/self/root\(place.outside)", "sub/../../outside"] {
      let server = try place.server(root: root)
      #expect(try server.opening("secret.geojson") != "result", "\(root)")
    }
    // Relative to the working directory.
    #expect(try place.server(root: "sub").opening("deep.geojson") == "result")
    #expect(try place.server(root: ".").opening("sub/deep.geojson") == "result")
  }

  @Test func `the directory itself may be a link, or relative`() throws {
    let place = try Place()
    #expect(try place.server(allowed: place.outside + "/back").opening("fine.geojson") == "result")
    #expect(try place.server(allowed: ".").opening("fine.geojson") == "result")
    #expect(try place.server(allowed: "sub").opening("fine.geojson") == "pathRefused")
  }

  @Test func `rasters are confined as well`() throws {
    let place = try Place()
    let server = try place.server()
    let dem = "\(ProjectRoot.path)/Tests/Fixtures/jacksboro_dem.tif"
    try server.send(request("1", "scene/create", #"{"elevationSources":["\#(dem)"]}"#) + "\n")
    #expect(failure(try server.line()) == "1 -31041 pathRefused")
  }
}

// MARK: -

/// Two folders side by side, and links across.
private final class Place {
  let root: String
  var inside: String { root + "/inside" }
  var outside: String { root + "/outside" }

  init() throws {
    let files = FileManager.default
    let folder = files.temporaryDirectory.appending(path: "geomodel-\(UUID().uuidString)")
    root = folder.resolvingSymlinksInPath().path
    for name in ["inside/sub", "outside", "inside-neighbour", "\u{E9}", "e\u{301}"] {
      try files.createDirectory(atPath: "\(root)/\(name)", withIntermediateDirectories: true)
    }
    let text = #"{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":[1,2]}}"#
    for name in [
      "inside/fine", "inside/sub/deep", "outside/secret", "inside-neighbour/secret", "\u{E9}/fine", "e\u{301}/secret",
    ] {
      try text.write(toFile: "\(root)/\(name).geojson", atomically: true, encoding: .utf8)
    }
    for (name, target) in [
      ("inside/link.geojson", "../outside/secret.geojson"), ("inside/chain.geojson", "sub/chain.geojson"),
      ("inside/sub/chain.geojson", "\(root)/inside/link.geojson"), ("inside/folder", "../outside"),
      ("inside/sub/up", "../.."), ("inside/home.geojson", "../outside/back/fine.geojson"),
      ("outside/back", "../inside"),
      ("inside/circle.geojson", "circle.geojson"),
    ] { try files.createSymbolicLink(atPath: "\(root)/\(name)", withDestinationPath: target) }
  }

  deinit { try? FileManager.default.removeItem(atPath: root) }

  /// A server that works in the inner folder and is confined to it.
  func server(root: String? = nil, allowed: String? = nil) throws -> ServerProcess {
    let server = try ServerProcess(command: [
      "sh", "-c", #"cd "$1" && exec "$2" --allow-dir "$3""#, "sh", inside, ServerProcess.path, allowed ?? inside,
    ])
    try server.send(request("0", "initialize", root.map { #"{"rootPath":"\#($0)"}"# } ?? "{}") + "\n")
    #expect(try server.line().contains(#""result""#))
    return server
  }
}

extension ServerProcess {
  /// The kind of the error that opening ends with, or `result`.
  fileprivate func opening(_ name: String) throws -> String {
    try send(request("1", "source/open", #"{"path":"\#(name)"}"#) + "\n")
    return try JSONDocument(try line()).read { answer in
      answer["result"].isPresent ? "result" : try answer["error"]["data"]["kind"].string()
    }
  }
}
