// --allow-dir on the built server: its argument, and that no path leads outside.

import Foundation
import JSON
import Synchronization
import TestSupport
import Testing

@Suite struct AllowDirTests {
  @Test(arguments: ["/no/such/folder", "", "/dev/null"])
  func `an argument that is not a directory is refused at the start`(directory: String) throws {
    let server = try ServerProcess(["--allow-dir", directory])
    #expect(try server.waitForExit() == .code(66))
    #expect(server.errorText().hasPrefix("geomodel-server: --allow-dir \(directory): "))
    #expect(try server.rest() == "")
  }

  @Test func `no path of an outside file is allowed`() throws {
    let directories = try Directories()
    let server = try directories.server()
    for name in [
      "\(directories.outside)/secret.geojson", "\(directories.inside)/../outside/secret.geojson",
      "\(directories.inside)/sub/../../outside/secret.geojson", "../outside/secret.geojson",
      "sub/../../outside/secret.geojson",
      "file://\(directories.outside)/secret.geojson", "file://\(directories.inside)/%2e%2e/outside/secret.geojson",
      "file://localhost\(directories.inside)/%2E%2E%2foutside/secret.geojson",
      "file:\(directories.inside)/..%2Foutside/secret.geojson",
      "/proc/self/root\(directories.outside)/secret.geojson", "/proc/self/cwd/../outside/secret.geojson",
      "/proc/thread-self/root\(directories.outside)/secret.geojson", "//\(directories.outside)/secret.geojson",
      "link.geojson", "chain.geojson", "folder/secret.geojson", "sub/up/outside/secret.geojson",
      // A sibling whose name has the allowed one as a prefix.
      "\(directories.inside)-neighbour/secret.geojson", "../inside-neighbour/secret.geojson",
      "~/secret.geojson/../../outside/secret.geojson", "/etc/passwd",
    ] {
      #expect(try server.opening(name) == (name.hasPrefix("~") ? "fileNotFound" : "pathRefused"), "\(name)")
    }
  }

  @Test func `a sibling whose name differs in normalization only is outside`() throws {
    let directories = try Directories()
    let server = try directories.server(allowed: "\(directories.root)/\u{E9}")
    #expect(try server.opening("\(directories.root)/\u{E9}/fine.geojson") == "result")
    #expect(try server.opening("\(directories.root)/e\u{301}/secret.geojson") == "pathRefused")
  }

  @Test func `the error does not reveal whether an outside file exists`() throws {
    let directories = try Directories()
    let server = try directories.server()
    for name in [
      "\(directories.outside)/none.geojson", "../outside/none.geojson", "/none/at/all.geojson",
      "/proc/self/root/none.geojson",
      "folder/none.geojson", "\(directories.outside)/locked/secret.geojson",
    ] {
      #expect(try server.opening(name) == "pathRefused", "\(name)")
    }
    #expect(try server.opening("none.geojson") == "fileNotFound")
    #expect(try server.opening("sub/none/at/all.geojson") == "fileNotFound")
    #expect(try server.opening("\(directories.inside)/circle.geojson") == "openFailed")
  }

  @Test func `every path of an inside file is allowed`() throws {
    let directories = try Directories()
    let server = try directories.server()
    for name in [
      "\(directories.inside)/fine.geojson", "fine.geojson", "./fine.geojson", "sub/../fine.geojson", "home.geojson",
      "file://\(directories.inside)/fine%2Egeojson", "../inside/fine.geojson",
      "\(directories.outside)/../inside/fine.geojson",
      "\(directories.outside)/back/fine.geojson",
    ] {
      #expect(try server.opening(name) == "result", "\(name)")
    }
  }

  @Test func `the client's root does not widen what is allowed`() throws {
    let directories = try Directories()
    for root in ["../outside", directories.outside, "/", "/proc/self/root\(directories.outside)", "sub/../../outside"] {
      let server = try directories.server(root: root)
      #expect(try server.opening("secret.geojson") != "result", "\(root)")
    }
    // The root is relative to the working directory.
    #expect(try directories.server(root: "sub").opening("deep.geojson") == "result")
    #expect(try directories.server(root: ".").opening("sub/deep.geojson") == "result")
  }

  @Test func `the directory may be a symbolic link or a relative path`() throws {
    let directories = try Directories()
    #expect(try directories.server(allowed: directories.outside + "/back").opening("fine.geojson") == "result")
    #expect(try directories.server(allowed: ".").opening("fine.geojson") == "result")
    #expect(try directories.server(allowed: "sub").opening("fine.geojson") == "pathRefused")
  }

  @Test func `a folder that is exchanged for a link lets no file out, and none in`() throws {
    let directories = try Directories()
    let (sub, link, aside) = ("\(directories.inside)/sub", "\(directories.inside)/away", "\(directories.inside)/aside")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: directories.outside)
    // It has the name of a file inside.
    try #"{"type":"Feature","properties":{"secret":1},"geometry":null}"#.write(
      toFile: "\(directories.outside)/deep.geojson", atomically: true, encoding: .utf8)
    let before = try FileManager.default.contentsOfDirectory(atPath: directories.outside).sorted()
    let server = try directories.server()
    let isEnded = Mutex(false)
    Thread.detachNewThread {
      while !isEnded.withLock({ $0 }) {
        guard rename(sub, aside) == 0, rename(link, sub) == 0, rename(sub, link) == 0, rename(aside, sub) == 0 else {
          return
        }
        sched_yield()
      }
    }
    defer { isEnded.withLock { $0 = true } }
    var saved = 0
    for number in 0..<300 {
      try server.send(request("1", "document/saveAs", #"{"path":"sub/\#(number).json"}"#) + "\n")
      let answer = try server.line()
      if answer.contains(#""result""#) { saved += 1 }
      try server.send(request("2", "source/open", #"{"id":"s","path":"sub/deep.geojson"}"#) + "\n")
      #expect(!(try server.line()).contains("secret"))
      try server.send(request("3", "source/close", #"{"source":"s"}"#) + "\n")
      _ = try server.line()
    }
    #expect(saved > 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directories.outside).sorted() == before)
  }

  @Test func `rasters are confined as well`() throws {
    let directories = try Directories()
    let server = try directories.server()
    let dem = "\(ProjectRoot.path)/Tests/Fixtures/jacksboro_dem.tif"
    try server.send(request("1", "scene/create", #"{"elevationSources":["\#(dem)"]}"#) + "\n")
    #expect(failure(try server.line()) == "1 -31041 pathRefused")
  }
}

// MARK: -

/// Two sibling directories, `inside` and `outside`, with symbolic links between them.
private final class Directories {
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

  /// A server that runs in `inside` and may open files there only.
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
  /// Opens a source.
  ///
  /// - Returns: the kind of the error, or `result`.
  fileprivate func opening(_ name: String) throws -> String {
    try send(request("1", "source/open", #"{"path":"\#(name)"}"#) + "\n")
    return try JSONDocument(try line()).read { answer in
      answer["result"].isPresent ? "result" : try answer["error"]["data"]["kind"].string()
    }
  }
}
