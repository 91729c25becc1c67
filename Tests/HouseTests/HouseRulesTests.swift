// The house's rules: who imports whom, that every file says why it exists, and what source code does not do.

import Testing

struct HouseRulesTests {
  private static let sources = SourceFile.all(in: ["Sources"], endings: ["swift"])

  /// What each target may import, besides what any may.
  private static let table: [String: Set<String>] = [
    "Platform": [],
    "Files": [],
    "Calendar": [],
    "TextFormatting": ["Calendar"],
    "JSON": ["CJansson"],
    "JSONRPC": ["JSON", "NIOCore", "NIOPosix"],
    "Geometry": [],
    "GeometryEngine": ["Geometry", "CGEOS"],
    "Projection": ["Geometry", "CPROJ"],
    "FeatureFormats": ["Geometry", "Files", "CGDAL"],
    "Elevation": ["Geometry", "Files", "CGDAL"],
    "Query": ["Geometry", "Calendar", "TextFormatting"],
    "GeoModel": ["Geometry", "Query", "Calendar", "TextFormatting"],
    "GeoProtocol": ["JSON"],
    "GeoServices": [
      "JSON", "JSONRPC", "Geometry", "GeometryEngine", "Projection", "FeatureFormats", "Elevation", "Query", "GeoModel",
      "GeoProtocol", "Files", "Calendar", "TextFormatting",
    ],
    "geomodel-server": ["GeoServices", "GeoProtocol", "GeoModel", "Files", "JSONRPC", "Projection"],
    "protocol-gen": ["JSON"],
  ]

  /// The platform's C library by way of Platform, swift-collections, swift-log and what comes with the language.
  private static let anywhere: Set<String> = [
    "Platform", "Synchronization", "Logging", "Collections", "HashTreeCollections", "OrderedCollections",
    "DequeModule", "HeapModule", "BitCollections", "RopeModule",
  ]

  @Test func `imports follow the table`() {
    #expect(!Self.sources.isEmpty)
    for file in Self.sources {
      if file.path == "Sources/Platform/Platform.swift" { continue }
      guard let allowed = Self.table[file.target] else {
        Issue.record("\(file.path): the target \(file.target) is not in the table")
        continue
      }
      for module in file.imports where !allowed.contains(module) && !Self.anywhere.contains(module) {
        Issue.record("\(file.path) imports \(module), which \(file.target) may not")
      }
    }
  }

  @Test func `a target without Swift is one of the C libraries`() {
    let withSwift = Set(Self.sources.map(\.target))
    let all = Set(SourceFile.all(in: ["Sources"], endings: ["swift", "c", "h", "modulemap"]).map(\.target))
    #expect(all.subtracting(withSwift) == ["CJansson", "CGEOS", "CPROJ", "CGDAL"])
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
