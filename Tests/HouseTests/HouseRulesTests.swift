// The house's rules: who imports the C library, that every file says why it exists, and what source code does not do.

import Foundation
import Testing

struct HouseRulesTests {
  private static let sources = SourceFile.all(in: ["Sources"], endings: ["swift"])

  // Which target may import which is checked by the build: `--explicit-target-dependency-import-check error` in .ci.
  @Test func `only Platform imports the system's C library`() {
    #expect(!Self.sources.isEmpty)
    for file in Self.sources where file.target != "Platform" {
      for module in file.imports where ["Glibc", "Musl", "Darwin", "Foundation"].contains(module) {
        Issue.record("\(file.path) imports \(module)")
      }
    }
  }

  @Test func `the top level has only what the owner fixed`() throws {
    let entries = try FileManager.default.contentsOfDirectory(atPath: ProtocolGen.root.path)
    let expected: Set = [
      "Package.swift", "Package.resolved", "Sources", "Tests", "Protocol", "Clients", "README.md", "Makefile",
      // Not in the repository: what `make wheel` and `make deb` make.
      "dist",
    ]
    #expect(entries.filter { !$0.hasPrefix(".") && !$0.hasPrefix("LICEN") && !expected.contains($0) } == [])
  }

  @Test func `a target without Swift is one of the C libraries`() {
    let withSwift = Set(Self.sources.map(\.target))
    let all = Set(SourceFile.all(in: ["Sources"], endings: ["swift", "c", "h", "modulemap"]).map(\.target))
    #expect(all.subtracting(withSwift) == ["CJansson", "CLibraries", "CGEOS", "CPROJ", "CGDAL", "CCairo", "CReader", "CPlatform"])
  }

  @Test func `every file begins with its purpose`() {
    let swift = SourceFile.all(in: ["Sources", "Tests"], endings: ["swift"])
    for file in swift where !file.isGenerated {
      let first = file.lines.first ?? ""
      if !first.hasPrefix("// ") || first.count < 12 { Issue.record("\(file.path) does not say why it exists") }
    }
    for file in SourceFile.all(in: ["Clients"], endings: ["py"]) where !file.isGenerated && !file.text.isEmpty {
      let first = file.lines.first { !$0.hasPrefix("#!") } ?? ""
      if !["# ", "\"\"\"", "r\"\"\"", "'''"].contains(where: first.hasPrefix) {
        Issue.record("\(file.path) does not say why it exists")
      }
    }
  }

  @Test(arguments: ["try!", "as!", "fatalError("])
  func `sources throw instead of trapping`(phrase: String) {
    for file in Self.sources where !file.isGenerated {
      for (index, line) in file.lines.enumerated() {
        let code = line.range(of: "//").map { line[..<$0.lowerBound] } ?? line
        if code.contains(phrase) { Issue.record("\(file.path):\(index + 1): \(phrase)") }
      }
    }
  }
}
