// The built server without GDAL or PROJ: methods that need them fail, everything else works.

import Glibc
import JSON
import TestSupport
import Testing

@Suite struct LibraryTests {
  @Test func `without GDAL files and rasters are refused, and the rest works`() throws {
    let server = try ServerProcess.without("libgdal")
    let root = ProjectRoot.path
    for message in [
      request("1", "source/open", #"{"path":"\#(root)/Tests/Fixtures/naturalearth_110m.gpkg"}"#),
      // A field whose values have several types is left to GDAL.
      request(
        "1", "source/openInline",
        #"{"data":{"type":"FeatureCollection","features":[{"type":"Feature","geometry":null,"properties":{"a":1}},"#
          + #"{"type":"Feature","geometry":null,"properties":{"a":[1]}}]}}"#),
      request("1", "scene/create", #"{"elevationSources":["\#(root)/Tests/Fixtures/jacksboro_dem.tif"]}"#),
    ] { try server.refuses(message, for: "GDAL") }
    try server.send(request("2", "map/create", #"{"id":"m1","spatialReference":"EPSG:25832"}"#) + "\n")
    #expect(try server.line().contains(#""result""#))
    try server.send(request("3", "state/get", #"{"path":"/sources"}"#) + "\n")
    #expect(try server.line().hasSuffix(#""values":[{"path":"/sources","value":{}}]}}"#))
    try server.send(request("4", "source/openInline", #"{"data":{"type":"FeatureCollection","features":[]}}"#) + "\n")
    #expect(try server.line().contains(#""driver":"inline""#))
  }

  @Test func `without PROJ spatial references are refused, and files can be looked at`() throws {
    let server = try ServerProcess.without("libproj")
    try server.refuses(request("1", "map/create", #"{"id":"m1","spatialReference":"EPSG:25832"}"#), for: "PROJ")
    // Web Mercator and WGS 84 need no PROJ.
    try server.send(request("4", "map/create", #"{"id":"m1"}"#) + "\n")
    #expect(try server.line().contains(#""result""#))
    let viewpoint = #"{"type":"centerAndScale","center":{"type":"Point","coordinates":[2,48]},"targetScale":1e6,"spatialReference":"EPSG:4326"}"#
    try server.send(request("5", "view/create", #"{"id":"v1","map":"m1","width":8,"height":6,"viewpoint":\#(viewpoint)}"#) + "\n")
    #expect(try server.line().contains(#""result""#))
    try server.send(request("6", "view/getVisibleArea", #"{"view":"v1","spatialReference":"EPSG:4326"}"#) + "\n")
    #expect(try server.line().contains(#""result""#))
    let path = "\(ProjectRoot.path)/Tests/Fixtures/naturalearth_110m.gpkg"
    try server.send(request("2", "source/open", #"{"path":"\#(path)"}"#) + "\n")
    #expect(try server.line().contains(#""driver":"GPKG""#))
    try server.send(request("3", "session/echo") + "\n")
    #expect(try server.line() == echoed("3"))
  }
}

// MARK: -

/// A preloaded library whose `dlopen` fails for one name.
private enum Mask {
  static let path: String = {
    let source = """
      #define _GNU_SOURCE
      #include <dlfcn.h>
      #include <stdlib.h>
      #include <string.h>
      void *dlopen(const char *name, int flags) {
        void *(*next)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
        const char *masked = getenv("MASKED_LIBRARY");
        return next(name && masked && strstr(name, masked) ? "/masked/library.so" : name, flags);
      }
      """
    let file = makeTemporaryFile(source)
    defer { unlink(file) }
    let library = file + ".so"
    // Swift's toolchain contains clang.
    let compiler = try? ServerProcess(command: [
      "clang", "-x", "c", "-shared", "-fPIC", "-o", library, file, "-ldl",
    ])
    #expect((try? compiler?.waitForExit(seconds: 60)) == .code(0), "\(compiler?.errorText() ?? "no clang")")
    atexit { unlink(Mask.path) }
    return library
  }()
}

extension ServerProcess {
  /// An initialized server that cannot load the library.
  fileprivate static func without(_ library: String) throws -> ServerProcess {
    let server = try ServerProcess(command: [
      "env", "LD_PRELOAD=\(Mask.path)", "MASKED_LIBRARY=\(library)", ServerProcess.path,
    ])
    try server.send(initialize + "\n")
    _ = try server.line()
    return server
  }

  fileprivate func refuses(_ message: String, for library: String) throws {
    try send(message + "\n")
    let answer = try line()
    #expect(failure(answer) == "1 -31034 libraryMissing")
    #expect(answer.contains(#""library":"\#(library)""#))
    #expect(answer.contains("/masked/library.so"), "it names what the system said: \(answer)")
  }
}
