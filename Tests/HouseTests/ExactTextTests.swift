// Texts of the model are told apart by how they are written. What the compiler makes of `Equatable` does not do so, so that a member
// with a text has to be wrapped; this finds those that are not.

import Testing

struct ExactTextTests {
  /// Types in which a plain text does no harm.
  private static let others: [String: String] = [
    "Dependent": "names of properties are ASCII", "RecordedMember": "names of properties are ASCII",
    "ViewpointTarget": "ids are ASCII", "AttributeValue": "compares its texts itself",
    "ExpressionToken": "keywords and symbols are compared, names are not", "Piece": "lies in an expression",
    "LanguageTag": "letters and digits", "FilePolicy": "a setting of the server", "Head": "collections and ids",
    "Offset": "abbreviations in files of time zones", "NumberStyle": "the server's own table",
    "Reason": "lies in an error", "SimpleStyle": "is made and used at once",
  ]

  @Test func `members with texts are compared by how they are written`() throws {
    var found = 0
    for file in SourceFile.all(in: ["Sources"], endings: ["swift"]) where Self.targets.contains(file.target) {
      for member in EquatableMembers.of(file) {
        found += 1
        guard !member.isExact, Self.others[member.type] == nil else { continue }
        Issue.record("\(file.path):\(member.line): wrap \(member.type)'s text in @Exact, or carry an ExactText")
      }
    }
    #expect(found > 40)
  }

  private static let targets: Set<String> = ["Geometry", "Query", "GeoModel", "GeoServices"]

  @Test(arguments: [
    ("struct A: Hashable {\n  let name: String?\n}", 1), ("struct A: Sendable {\n  let name: String\n}", 0),
    ("enum A: Sendable, Equatable {\n  case one(Int, name: String)\n  case two\n}", 1),
    ("struct A: Equatable {\n  @Exact var name: String\n}", 0),
    ("struct A: Equatable {\n  var name: String { \"\" }\n  static let title = \"\"\n}", 0),
    ("struct A: Equatable {\n  var text = \"\"\n}", 1), ("struct A: Equatable {\n  var names: [String: Int]\n}", 1),
    ("struct A: Equatable {\n  func f() {\n    let name: String\n  }\n}", 0),
    ("struct A: Hashable, Error {\n  let name: String\n}", 0),
    ("struct A {\n  struct B: Hashable {\n    let name: String\n  }\n  let title: String\n}", 1),
    ("struct A: Hashable {\n  let name: String\n  static func == (left: A, right: A) -> Bool { true }\n}", 0),
    ("struct A {\n  let name: String\n}\nextension A: Equatable {}\n", 1),
  ])
  func `a plain text in a type that the compiler compares is found`(text: String, count: Int) {
    let file = SourceFile(path: "Sources/GeoModel/A.swift", text: text)
    #expect(EquatableMembers.of(file).count { !$0.isExact } == count)
  }
}

/// A member with a text of a type whose `==` the compiler makes.
struct EquatableMembers {
  let type: String
  let line: Int
  let isExact: Bool

  private struct Scope {
    let name: String
    let isEquatable: Bool
    let isType: Bool
  }

  /// By lines, as the formatter leaves them: a type's members are those one brace deeper.
  static func of(_ file: SourceFile) -> [EquatableMembers] {
    let lines = file.lines.map { line in
      line.range(of: "//").map { String(line[..<$0.lowerBound]) } ?? String(line)
    }
    // What a type says of itself elsewhere in the file.
    var added: Set<String> = []
    var own: Set<String> = []
    for line in lines {
      if let match = line.firstMatch(of: /extension (\w+): (.*)\{/), isEquatable(match.2) {
        added.insert(String(match.1))
      }
      if let match = line.firstMatch(of: /func == \(left: (\w+)/) { own.insert(String(match.1)) }
    }
    var scopes: [Scope] = []
    var found: [EquatableMembers] = []
    for (index, line) in lines.enumerated() {
      if let scope = scopes.last, scope.isType, scope.isEquatable, let isExact = text(in: line) {
        found.append(EquatableMembers(type: scope.name, line: index + 1, isExact: isExact))
      }
      let braces = line.filter { $0 == "{" || $0 == "}" }
      for (place, brace) in braces.enumerated() {
        if brace == "}" {
          _ = scopes.popLast()
        } else if place == 0, let match = line.firstMatch(of: /(?:struct|enum|class) (\w+)(?:<.*>)?(:.*)? *\{/) {
          let name = String(match.1)
          let says = match.2.map { isEquatable($0) && !$0.contains("Error") } ?? false
          scopes.append(
            Scope(name: name, isEquatable: (says || added.contains(name)) && !own.contains(name), isType: true))
        } else {
          scopes.append(Scope(name: "", isEquatable: false, isType: false))
        }
      }
    }
    return found
  }

  private static func isEquatable(_ list: Substring) -> Bool {
    list.contains("Equatable") || list.contains("Hashable")
  }

  /// Whether the text that a line declares is compared exactly; nil where it declares none.
  private static func text(in line: String) -> Bool? {
    guard line.firstMatch(of: /\bstatic\b/) == nil else { return nil }
    if line.firstMatch(of: /^ *(indirect )?case .*\(.*\bString\b/) != nil { return false }
    let stored = /\b(?:let|var) \w+(?:: [^={]*\bString\b[^={]*| = ".*")(?:=.*)?$/
    guard line.firstMatch(of: stored) != nil else {
      return line.firstMatch(of: /\b(?:let|var) \w+: .*\bExactText\b/) == nil ? nil : true
    }
    return line.contains("@Exact ")
  }
}
