// Adding a member to an object touches four files; `make check-member` builds with the patch and runs its case.

import Foundation
import Testing

struct MemberPatchTests {
  private static let patch = ProtocolGen.samples + "/add-member.patch"

  @Test func `a sample member takes four files: schema, stored property, table line, conformance case`() throws {
    let lines = try String(contentsOfFile: Self.patch, encoding: .utf8).split(separator: "\n")
    let files = lines.filter { $0.hasPrefix("+++ b/") }.map { $0.dropFirst(6) }
    #expect(
      files == [
        "Protocol/conformance/layer/sampleText.jsonl", "Protocol/domains/layer.json",
        "Sources/GeoModel/Model/Layer+Members.swift", "Sources/GeoModel/Model/Layer.swift",
      ])
  }

  @Test(.enabled(if: hasGit)) func `the sample member's patch applies`() throws {
    let (status, messages) = try run("/usr/bin/env", ["git", "apply", "--check", Self.patch])
    #expect(status == 0, "\(messages)")
  }

  private static let hasGit = (try? run("/usr/bin/env", ["git", "--version"]))?.0 == 0
}
