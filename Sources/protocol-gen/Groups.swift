// Params and errors that several methods share: declared once in a group, which methods include.

/// A group of params. In Swift it is a protocol, to which the params of all including methods conform.
struct ParamGroup {
  var name: String
  var domain: String
  var about: About
  var params: [Property]
  var errors: [String]
}

extension ParamGroup {
  init(_ reader: ObjectReader, domain: String) {
    self.init(
      name: reader.requiredString("name"), domain: domain, about: reader.about,
      params: reader.objects("params", isRequired: true) { Property($0) }, errors: reader.strings("errors"))
  }
}

extension Definition {
  var groups: [ParamGroup] { domains.flatMap(\.groups) }

  /// Adds included params before those of a method, and included errors after its own. Only generated Swift shows that a param
  /// comes from a group.
  mutating func expandGroups(_ problems: Problems) {
    let groups = Dictionary(groups.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    var unused = Set(groups.keys)
    for domain in domains.indices {
      for number in domains[domain].methods.indices {
        let method = domains[domain].methods[number]
        // In reverse order, since each group's params are inserted at the front.
        for (index, name) in method.includes.enumerated().reversed() {
          let path = method.about.path / "include" / index
          guard let group = groups[name] else {
            problems.report(path, "there is no group \(name)")
            continue
          }
          unused.remove(name)
          guard case .properties(let own) = domains[domain].methods[number].params else {
            problems.report(path, "params of any form include nothing")
            continue
          }
          domains[domain].methods[number].params = .properties(group.params + own)
          // A method may itself declare an error that the group has.
          let known = domains[domain].methods[number].errors
          domains[domain].methods[number].errors += group.errors.filter { !known.contains($0) }
        }
      }
    }
    for group in self.groups where unused.contains(group.name) {
      problems.report(group.about.path, "no method includes group \(group.name)")
    }
  }
}

extension SwiftTypes {
  func emit(_ group: ParamGroup, _ lines: inout Lines) {
    doc(group.about, nil, &lines)
    lines.block("public protocol \(group.name): Sendable {") { lines in
      for param in group.params {
        doc(param.about, param, &lines)
        lines.add("var \(param.name): \(coding.swiftType(param)) { get }")
      }
    }
  }

  /// The protocols of the groups that a method includes, qualified by their domains.
  func conformances(of method: Method) -> [String] {
    method.includes.compactMap { name in
      definition.groups.first { $0.name == name }.map { SwiftCoding.namespace($0.domain) + "." + $0.name }
    }
  }
}
