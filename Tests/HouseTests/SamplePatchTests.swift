// A member of an object touches four files, a kind of object five or six; `make check-samples` builds with both and runs the tests.

import Foundation
import Testing

struct SamplePatchTests {
  private static let patches: [(name: String, files: [String])] = [
    // Definition, stored property, line of the table, case.
    (
      "add-member.patch",
      [
        "Protocol/conformance/layer/sampleText.jsonl", "Protocol/domains/layer.json",
        "Sources/GeoModel/Model/Layer+Members.swift", "Sources/GeoModel/Model/Layer.swift",
      ]
    ),
    // Definition, structure, table of members, service, case; the sixth is what a service needs of its client.
    (
      "add-kind.patch",
      [
        "Protocol/conformance/sampleNote/life.jsonl", "Protocol/domains/sampleNote.json",
        "Sources/GeoModel/Model/SampleNote+Members.swift", "Sources/GeoModel/Model/SampleNote.swift",
        "Sources/Handlers/Services/SampleNoteService.swift",
      ]
    ),
  ]

  @Test(arguments: patches.map(\.name))
  func `a sample touches these files and no others`(name: String) throws {
    let lines = try String(contentsOfFile: ProtocolGen.samples + "/" + name, encoding: .utf8).split(separator: "\n")
    let files = lines.filter { $0.hasPrefix("+++ b/") }.map { String($0.dropFirst(6)) }
    #expect(files == Self.patches.first { $0.name == name }?.files)
  }

  @Test(.enabled(if: hasGit), arguments: patches.map(\.name))
  func `a sample applies`(name: String) throws {
    // Hunks begin with one line that occurs once, and have no line behind: changes of neighbours do not matter.
    let patch = ProtocolGen.samples + "/" + name
    let (status, messages) = try run("/usr/bin/env", ["git", "apply", "--unidiff-zero", "--check", patch])
    #expect(status == 0, "\(messages)")
  }

  private static let hasGit = (try? run("/usr/bin/env", ["git", "--version"]))?.0 == 0
}
