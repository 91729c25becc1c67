// Failing saves on the built server leave the old file intact. A file size limit stands for a full disk.

import CPlatform
import Foundation
import TestSupport
import Testing

struct DocumentTests {
  private static let add = request(
    "2", "overlay/addColumns",
    #"{"overlay":"o","x":[\#(Array(repeating: "1", count: 2000).joined(separator: ","))],"#
      + #""y":[\#(Array(repeating: "2", count: 2000).joined(separator: ","))]}"#)

  private func folder() throws -> URL {
    let url = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
      .appending(path: "save-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    return url
  }

  /// A server started by a shell's command, with a map, a view and an overlay.
  private func server(_ command: String) throws -> ServerProcess {
    let server = try ServerProcess(command: ["/bin/sh", "-c", command, ServerProcess.path])
    try server.send(initialize + "\n")
    _ = try server.line()
    for (method, params) in [
      ("map/create", #"{"id":"m"}"#), ("view/create", #"{"id":"v","map":"m"}"#),
      ("overlay/create", #"{"id":"o","view":"v"}"#),
    ] {
      try server.send(request("1", method, params) + "\n")
      _ = try server.line()
    }
    return server
  }

  private func save(_ server: ServerProcess, to path: String) throws -> String {
    try server.send(request("3", "document/saveAs", #"{"path":"\#(path)"}"#) + "\n")
    return try server.line()
  }

  @Test func `a full disk leaves the old document intact, and no temporary file`() throws {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "a.json").path
    // 32 blocks of 512 bytes or 1 KiB, depending on the shell.
    let server = try server(#"ulimit -f 32; exec "$0""#)
    #expect(try save(server, to: path).contains(#""isModified":false"#))
    let old = try String(contentsOfFile: path, encoding: .utf8)
    try server.send(Self.add + "\n")
    _ = try server.line()
    #expect(failure(try save(server, to: path)) == "3 -31082 saveFailed")
    #expect(try String(contentsOfFile: path, encoding: .utf8) == old)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.json"])
    // The server keeps running, and the document is still modified.
    try server.send(request("4", "document/get") + "\n")
    #expect(try server.line().contains(#""isModified":true"#))
  }

  @Test(arguments: 0..<6)
  func `a server that ends during a save leaves one intact document, and no temporary file`(turn: Int) throws {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "a.json").path
    let server = try server(#"exec "$0""#)
    #expect(try save(server, to: path).contains(#""isModified":false"#))
    let old = try String(contentsOfFile: path, encoding: .utf8)
    for _ in 0..<10 {
      try server.send(Self.add + "\n")
      _ = try server.line()
    }
    let end = turn.isMultiple(of: 2) ? exitMessage : request("4", "shutdown") + "\n" + exitMessage
    try server.send(request("3", "document/save") + "\n" + end + "\n")
    #expect(try server.waitForExit() == .code(turn.isMultiple(of: 2) ? 1 : 0))
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text == old || text.hasSuffix("}\n") && text.count > 20_000 * 20)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.json"])
  }

  private static let attribute = "user.geomodel.test"

  @Test func `owner, group, mode and extended attributes of a replaced file are kept`() throws {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "a.json").path
    let server = try server(#"exec "$0""#)
    #expect(try !save(server, to: path).contains("lost"))
    #expect(chmod(path, 0o640) == 0)
    let isRoot = getuid() == 0
    if isRoot { #expect(chown(path, 12_345, 23_456) == 0) }
    let hasAttributes = setxattr(path, Self.attribute, "value", 5, 0) == 0
    #expect(try !save(server, to: path).contains("lost"))
    var status = stat()
    #expect(stat(path, &status) == 0)
    #expect(status.st_mode & 0o7777 == 0o640)
    if isRoot { #expect(status.st_uid == 12_345 && status.st_gid == 23_456) }
    var value = [UInt8](repeating: 0, count: 16)
    if hasAttributes { #expect(getxattr(path, Self.attribute, &value, value.count) == 5) }
  }

  @Test(.enabled(if: getuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0))
  func `what a user may not keep of a file is named`() throws {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "a.json").path
    #expect(chmod(folder.path, 0o777) == 0)
    try Data("{}".utf8).write(to: URL(fileURLWithPath: path))
    #expect(chown(path, 12_345, 23_456) == 0 && chmod(path, 0o676) == 0)
    // Opened by root, as the build may be where others have no access.
    let server = try server(#"exec setpriv --reuid=34567 --regid=34567 --clear-groups /proc/self/fd/9 9<"$0""#)
    #expect(try save(server, to: path).contains(#""lost":["group","owner","mode"]"#))
    var status = stat()
    #expect(stat(path, &status) == 0)
    #expect(status.st_mode & 0o7777 == 0o666 && status.st_uid == 34_567)
  }

  @Test func `saving to a read-only directory changes nothing in it`() throws {
    let folder = try folder()
    defer {
      chmod(folder.path, 0o755)
      try? FileManager.default.removeItem(at: folder)
    }
    let path = folder.appending(path: "a.json").path
    // Root may write anywhere: the server then runs as another user.
    let server = try server(
      geteuid() == 0 ? #"exec setpriv --reuid 65534 --regid 65534 --clear-groups "$0""# : #"exec "$0""#)
    chmod(folder.path, 0o777)
    #expect(try save(server, to: path).contains(#""isModified":false"#))
    let old = try String(contentsOfFile: path, encoding: .utf8)
    chmod(folder.path, 0o555)
    try server.send(Self.add + "\n")
    _ = try server.line()
    #expect(failure(try save(server, to: path)) == "3 -31082 saveFailed")
    #expect(failure(try save(server, to: folder.appending(path: "b.json").path)) == "3 -31082 saveFailed")
    #expect(try String(contentsOfFile: path, encoding: .utf8) == old)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.json"])
  }
}
