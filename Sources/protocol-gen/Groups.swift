// Params and errors that several methods share: a group declares them once, and methods include it.

/// In Swift a protocol of the params, to which those of every including method conform.
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

  /// Adds what methods include: params before their own, errors behind them. In generated files but Swift nothing shows that a
  /// param comes from a group.
  mutating func expandGroups(_ problems: Problems) {
    let groups = Dictionary(groups.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    var unused = Set(groups.keys)
    for domain in domains.indices {
      for number in domains[domain].methods.indices {
        let method = domains[domain].methods[number]
        // From the last, as each comes before what is there.
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
          // A method may have an error for reasons of its own.
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

  /// The protocols of the groups that a method includes, with their domains.
  func conformances(of method: Method) -> [String] {
    method.includes.compactMap { name in
      definition.groups.first { $0.name == name }.map { SwiftCoding.namespace($0.domain) + "." + $0.name }
    }
  }
}
