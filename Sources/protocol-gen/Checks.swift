// Checks of a definition beyond its structure: names, references, ranges, unused elements.

struct Checks {
  let definition: Definition
  let problems: Problems
  var types: [String: TypeDefinition] { definition.typesByName }

  func run() {
    names()
    for about in definition.abouts { sinceAndDoc(about) }
    for type in definition.types { check(type) }
    for method in definition.methods { check(method) }
    for item in definition.notifications { params(item.params, item.about.path / "params") }
    for path in definition.statePaths { check(path) }
    errors()
    unusedTypes()
    recursion()
    if !definition.methods.isEmpty, types["Meta"] == nil {
      problems.report(
        Path(file: "domains/session.json"), "type Meta is missing: the params of every method may carry it as `meta`")
    }
  }

  // MARK: Names

  private func names() {
    for domain in definition.domains {
      if let file = domain.file, types[file] == nil {
        problems.report(domain.about.path / "file", "there is no type \(file)")
      }
      if !Names.isLowerCamel(domain.name) {
        problems.report(domain.about.path, "expected a lowerCamelCase domain, found \"\(domain.name)\"")
      }
      for (name, about) in domain.types.map({ ($0.name, $0.about) }) + domain.groups.map({ ($0.name, $0.about) }) {
        let path = about.path / "name"
        defineOnce("type \(name)", path)
        defineOnce("name \(name) of domain \(domain.name)", path)
        if !Names.isUpperCamel(name) {
          problems.report(path, "expected an UpperCamelCase name, found \"\(name)\"")
        }
        if Names.reservedTypes.contains(name) {
          problems.report(path, "\(name) is a name that generated code needs")
        }
      }
      for (name, about) in domain.methods.map({ ($0.name, $0.about) })
        + domain.notifications.map({ ($0.name, $0.about) })
      {
        let path = about.path / "name"
        let verb = Names.verb(name)
        defineOnce("message \(name)", path)
        defineOnce("name \(Names.upperCamel(verb)) of domain \(domain.name)", path)
        let isOwn = name == domain.name + "/" + verb
        let isSession = domain.name == "session" && (Names.unprefixed.contains(name) || name == "$/" + verb)
        if !Names.isLowerCamel(verb) || !(isOwn || isSession) {
          problems.report(path, "expected \(domain.name)/verbNoun, found \"\(name)\"")
        }
      }
    }
  }

  private func defineOnce(_ name: String, _ path: Path) {
    problems.unique(name, at: path, "\(name) is defined twice")
  }

  private func key(_ name: String, _ path: Path) {
    if !Names.isLowerCamel(name) { problems.report(path, "expected a lowerCamelCase name, found \"\(name)\"") }
    for (language, words) in Names.reserved where words.contains(name) {
      problems.report(path, "\"\(name)\" is a keyword of \(language)")
    }
  }

  // MARK: Elements

  private func sinceAndDoc(_ about: About) {
    if about.doc.isEmpty { problems.report(about.path / "doc", "expected text, found an empty string") }
    guard let since = Version(about.since) else {
      problems.report(about.path / "since", "expected a version such as 0.1.0, found \"\(about.since)\"")
      return
    }
    if let newest = Version(definition.productVersion), since > newest {
      problems.report(
        about.path / "since", "\(about.since) is newer than \(definition.productVersion) in VERSION")
    }
  }

  private func check(_ type: TypeDefinition) {
    switch type.kind {
    case .object(let list):
      properties(list, of: type.about.path)
      for member in list where member.settable != nil && member.saved == nil {
        problems.report(member.about.path, "a command sets it, so \"saved\" says how a document keeps it")
      }
      if type.collection != nil, list.contains(where: { $0.settable != nil }), definition.update(of: type) == nil {
        problems.report(type.about.path, "members of it are settable, and no command has its \"members\"")
      }
      if type.collection != nil { words(list) }
    case .union(let variants):
      distinct(variants.map { ($0.tag, $0.about) }, "tag", at: type.about.path / "variants")
      for variant in variants {
        sinceAndDoc(variant.about)
        if !Names.isLowerCamel(variant.tag) {
          problems.report(
            variant.about.path / "tag", "expected a lowerCamelCase tag, found \"\(variant.tag)\"")
        }
        properties(variant.properties, of: variant.about.path)
        for property in variant.properties where property.name == "type" {
          problems.report(property.about.path, "\"type\" is the union's tag")
        }
      }
    case .enumeration(let values):
      distinct(values.map { ($0.value, $0.about) }, "value", at: type.about.path / "values")
      for value in values {
        sinceAndDoc(value.about)
        if !Names.isEnumValue(value.value) {
          problems.report(
            value.about.path / "value", "expected letters, digits, - and _, found \"\(value.value)\"")
        }
      }
    case .scalar(let base, let constraints):
      bounds(constraints, on: base, at: type.about.path)
      if let pattern = constraints.wholePattern, (try? Regex(pattern)) == nil {
        problems.report(type.about.path / "pattern", "expected a regular expression, found \"\(pattern)\"")
      }
    case .opaque: break
    }
  }

  /// Enumerations used by members need a `model`, since member tables hold their values as texts.
  private func words(_ members: [Property]) {
    for member in members {
      for name in member.type.names + (member.settable?.names ?? []) {
        guard let type = types[name], case .enumeration = type.kind, type.model == nil else { continue }
        problems.report(type.about.path / "model", "objects have \(name), so \"model\" names the model's enumeration")
      }
    }
  }

  /// Checks that there is at least one element, and that no two have the same case name in Swift.
  private func distinct(_ list: [(String, About)], _ what: String, at path: Path) {
    if list.isEmpty { problems.report(path, "expected at least one \(what), found none") }
    for (name, about) in list {
      problems.unique("\(path) \(Names.swiftCase(name))", at: about.path, "\(what) \"\(name)\" occurs twice")
    }
  }

  private func properties(_ list: [Property], of element: Path) {
    for property in list {
      let path = property.about.path
      // Names also have to differ in languages with snake_case.
      problems.unique("\(element) \(Names.snake(property.name))", at: path, "property \(property.name) occurs twice")
      if property.isForeign {
        if !property.isOptional { problems.report(path, "a property that another standard names is optional") }
      } else {
        key(property.name, path / "name")
      }
      sinceAndDoc(property.about)
      reference(property.type, path / "type")
      bounds(property.constraints, on: property.type, at: path)
      if property.constraints.pattern != nil {
        problems.report(path / "pattern", "a pattern needs a type of its own: kind \"string\"")
      }
      guard let value = property.defaultValue else { continue }
      if property.isOptional { problems.report(path, "a default makes it optional already; leave out \"optional\"") }
      if SwiftCoding(definition: definition).defaultLiteral(value, of: property.type) == nil {
        problems.expected(
          "a default of its type (a scalar, an enumeration's value, a union's tag alone, an array of those, {})",
          at: path / "default", found: value)
      }
    }
  }

  private func reference(_ type: TypeExpression, _ path: Path) {
    for name in type.names where types[name] == nil { problems.report(path, "there is no type \(name)") }
    if case .array(_, let bounds) = type { self.bounds(bounds, on: type, at: path) }
  }

  private func bounds(_ constraints: Constraints, on type: TypeExpression, at path: Path) {
    guard !constraints.isEmpty else { return }
    var allowed = Constraints()
    switch type {
    case .integer, .number:
      (allowed.minimum, allowed.maximum) = (constraints.minimum, constraints.maximum)
      (allowed.exclusiveMinimum, allowed.exclusiveMaximum) = (
        constraints.exclusiveMinimum, constraints.exclusiveMaximum
      )
    case .string:
      (allowed.minLength, allowed.maxLength) = (constraints.minLength, constraints.maxLength)
      allowed.pattern = constraints.pattern
    case .array: (allowed.minItems, allowed.maxItems) = (constraints.minItems, constraints.maxItems)
    case .boolean, .json, .named, .map: break
    }
    if allowed != constraints { problems.report(path, "has bounds that its type does not have") }
    let low = constraints.minimum?.number ?? constraints.exclusiveMinimum?.number
    let high = constraints.maximum?.number ?? constraints.exclusiveMaximum?.number
    if let low, let high, low > high { problems.report(path, "its minimum is above its maximum") }
    if (constraints.minLength ?? 0) > (constraints.maxLength ?? .max)
      || (constraints.minItems ?? 0) > (constraints.maxItems ?? .max)
    {
      problems.report(path, "its least count is above its largest")
    }
  }

  // MARK: Messages

  /// Params are always an object type, so that absent params mean an empty object.
  private func params(_ payload: Payload, _ path: Path) {
    switch payload {
    case .properties(let list): properties(list, of: path)
    case .type(.json): break
    case .type: problems.report(path, "expected properties or \"json\"")
    }
  }

  private func result(_ payload: Payload, _ path: Path) {
    switch payload {
    case .properties(let list): properties(list, of: path)
    case .type(.named(let name)):
      switch types[name]?.kind {
      case .object, .union, .opaque: break
      case nil: problems.report(path, "there is no type \(name)")
      default: problems.report(path, "expected an object, a union or an opaque type, found \(name)")
      }
    case .type(.json): break
    case .type: problems.report(path, "expected properties, \"json\" or a type's name")
    }
  }

  private func check(_ method: Method) {
    let path = method.about.path
    params(method.params, path / "params")
    result(method.result, path / "result")
    properties(method.part, of: path / "part")
    if !method.part.isEmpty, method.shape != .task { problems.report(path / "part", "only tasks answer in parts") }
    for (index, kind) in method.errors.enumerated() {
      let path = path / "errors" / index
      if !definition.errors.contains(where: { $0.kind == kind }) { problems.report(path, "there is no error \(kind)") }
      if definition.commonErrors.contains(kind) {
        problems.report(path, "\(kind) is common to all methods; leave it out")
      }
      problems.unique("\(method.about.path) \(kind)", at: path, "\(kind) occurs twice")
    }
  }

  private func check(_ path: StatePath) {
    reference(path.type, path.about.path / "type")
    if !path.path.hasPrefix("/") {
      problems.report(path.about.path / "path", "expected a JSON Pointer, found \"\(path.path)\"")
    }
    problems.unique("path \(path.path)", at: path.about.path / "path", "\(path.path) occurs twice")
  }

  private func errors() {
    let used = Set(definition.commonErrors + definition.methods.flatMap(\.errors))
    for error in definition.errors {
      let path = error.about.path
      key(error.kind, path / "kind")
      defineOnce("error \(error.kind)", path)
      properties(error.data, of: path)
      for name in ["kind", "path", "expected"] where error.data.contains(where: { $0.name == name }) {
        problems.report(path / "data", "every error has \"\(name)\"; leave it out")
      }
      let isOwn = (-31999 ... -31000).contains(error.code)
      if !isOwn && !(-32999 ... -32000).contains(error.code) {
        problems.report(path / "code", "expected JSON-RPC's, LSP's or -31999...-31000, found \(error.code)")
      }
      if isOwn && !used.contains(error.kind) { problems.report(path, "no method answers \(error.kind)") }
    }
    for kind in definition.commonErrors where !definition.errors.contains(where: { $0.kind == kind }) {
      problems.report(Path(file: "errors.json", pointer: "/common"), "there is no error \(kind)")
    }
  }
}
