// What a reader taken over by its file can still do: attempts.c tries it, as the administrator and as a user without rights.

import Foundation
import Glibc
import TestSupport
import Testing

@Suite struct ConfinementTests {
  @Test(arguments: ["files", "network", "forked"], [false, true])
  func `a confined process reaches no other process, program, network or file`(access: String, isNobody: Bool) throws {
    guard !isNobody || getuid() == 0 else { return }
    let directory = try TemporaryDirectory()
    let program = directory.file("attempts")
    let source = fixture("../Confinement/attempts.c")
    let headers = fixture("../../Sources/CReader/include")
    _ = try shell("cc -w -D_Nonnull= -D_Nullable= -I '\(headers)' -o '\(program)' '\(source)' && chmod 755 '\(directory.path)'")
    // The other process belongs to the same user, so that no right but the filter keeps it alive.
    let user = isNobody ? "setpriv --reuid=65534 --regid=65534 --clear-groups" : ""
    let output = try shell(
      """
      \(user) sleep 100 </dev/null >/dev/null 2>&1 & other=$!
      \(user) '\(program)' $other \(access)
      kill -9 $other && echo alive
      """)
    var lines = output.split(separator: "\n").map(String.init)
    let file = lines.firstIndex { $0.hasPrefix("/tmp/geomodel-attempts-") }.map { lines.remove(at: $0) }
    if let file { unlink(file) }
    #expect(lines == ["done", "alive"])
  }

  private func shell(_ script: String) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", script]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: output, as: UTF8.self)
  }
}
