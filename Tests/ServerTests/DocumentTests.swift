// Failing saves on the built server leave the old file intact. A file size limit stands for a full disk.

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
