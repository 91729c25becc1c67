// What a definition has to satisfy beyond its shape: names, references, ranges, nothing unused.

struct Checks {
  let definition: Definition
  let problems: Problems
  let types: [String: TypeDefinition]

  init(definition: Definition, problems: Problems) {
    self.definition = definition
    self.problems = problems
    types = Dictionary(definition.types.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  func run() {
    names()
    for about in abouts { sinceAndDoc(about) }
    for type in definition.types { check(type) }
    for method in definition.methods { check(method) }
    for notification in definition.notifications { check(notification) }
    for path in definition.statePaths { check(path) }
    errors()
    unusedTypes()
    recursion()
    if !definition.methods.isEmpty, types["Meta"] == nil {
      problems.report(
        Place(file: "domains/session.json"), "type Meta is missing: the params of every method may carry it as `meta`")
    }
  }

  // MARK: Names

  private func names() {
    var seen: Set<String> = []
    func unique(_ key: String, _ what: String, _ place: Place) {
      if !seen.insert(key).inserted { problems.report(place, "\(what) is defined twice") }
    }
    for domain in definition.domains {
      if let file = domain.file, types[file] == nil {
        problems.report(domain.about.place.appending("file"), "there is no type \(file)")
      }
      if !Names.isLowerCamel(domain.name) {
        problems.report(domain.about.place, "expected a lowerCamelCase domain, found \"\(domain.name)\"")
      }
      for type in domain.types {
        let place = type.about.place.appending("name")
        unique("type " + type.name, "type \(type.name)", place)
        unique(domain.name + "." + type.name, "name \(type.name) of domain \(domain.name)", place)
        if !Names.isUpperCamel(type.name) {
          problems.report(place, "expected an UpperCamelCase name, found \"\(type.name)\"")
        }
        if Names.reservedTypes.contains(type.name) {
          problems.report(place, "\(type.name) is a name that generated code needs")
        }
      }
      for (name, about) in domain.methods.map({ ($0.name, $0.about) })
        + domain.notifications.map({ ($0.name, $0.about) })
      {
        let place = about.place.appending("name")
        let verb = Names.verb(name)
        unique("message " + name, name, place)
        unique(
          domain.name + "." + Names.upperCamel(verb), "name \(Names.upperCamel(verb)) of domain \(domain.name)", place)
        let isOwn = name == domain.name + "/" + verb
        let isSession = domain.name == "session" && (Names.unprefixed.contains(name) || name == "$/" + verb)
        if !Names.isLowerCamel(verb) || !(isOwn || isSession) {
          problems.report(place, "expected \(domain.name)/verbNoun, found \"\(name)\"")
        }
      }
    }
  }

  private func key(_ name: String, _ place: Place) {
    if !Names.isLowerCamel(name) { problems.report(place, "expected a lowerCamelCase name, found \"\(name)\"") }
    for (language, words) in Names.reserved where words.contains(name) {
      problems.report(place, "\"\(name)\" is a keyword of \(language)")
    }
  }

  // MARK: Elements

  private var abouts: [About] {
    definition.domains.map(\.about) + definition.types.map(\.about) + definition.methods.map(\.about)
      + definition.notifications.map(\.about) + definition.statePaths.map(\.about) + definition.errors.map(\.about)
  }

  private func sinceAndDoc(_ about: About) {
    if about.doc.isEmpty { problems.report(about.place.appending("doc"), "expected text, found an empty string") }
    guard let since = Version(about.since) else {
      problems.report(about.place.appending("since"), "expected a version such as 0.1.0, found \"\(about.since)\"")
      return
    }
    if let newest = Version(definition.productVersion), since > newest {
      problems.report(
        about.place.appending("since"), "\(about.since) is newer than \(definition.productVersion) in VERSION")
    }
  }

  private func check(_ type: TypeDefinition) {
    switch type.kind {
    case .object(let list):
      properties(list)
      for member in list where member.settable != nil && member.saved == nil {
        problems.report(member.about.place, "a command sets it, so \"saved\" says how a document keeps it")
      }
    case .union(let variants):
      distinct(variants.map { ($0.tag, $0.about) }, "tag", at: type.about.place.appending("variants"))
      for variant in variants {
        sinceAndDoc(variant.about)
        if !Names.isLowerCamel(variant.tag) {
          problems.report(
            variant.about.place.appending("tag"), "expected a lowerCamelCase tag, found \"\(variant.tag)\"")
        }
        properties(variant.properties)
        for property in variant.properties where property.name == "type" {
          problems.report(property.about.place, "\"type\" is the union's tag")
        }
      }
    case .enumeration(let values):
      distinct(values.map { ($0.value, $0.about) }, "value", at: type.about.place.appending("values"))
      for value in values {
        sinceAndDoc(value.about)
        if !Names.isEnumValue(value.value) {
          problems.report(
            value.about.place.appending("value"), "expected letters, digits, - and _, found \"\(value.value)\"")
        }
      }
    case .scalar(let base, let constraints):
      bounds(constraints, on: base, at: type.about.place)
      if let pattern = constraints.wholePattern, (try? Regex(pattern)) == nil {
        problems.report(type.about.place.appending("pattern"), "expected a regular expression, found \"\(pattern)\"")
      }
    case .opaque: break
    }
  }

  /// At least one, and no two that would be the same case in Swift.
  private func distinct(_ list: [(String, About)], _ what: String, at place: Place) {
    var seen: Set<String> = []
    if list.isEmpty { problems.report(place, "expected at least one \(what), found none") }
    for (name, about) in list where !seen.insert(Names.swiftCase(name)).inserted {
      problems.report(about.place, "\(what) \"\(name)\" stands twice")
    }
  }

  private func properties(_ list: [Property]) {
    distinctProperties(list)
    for property in list {
      let place = property.about.place
      if property.isForeign {
        if !property.isOptional { problems.report(place, "a property that another standard names is optional") }
      } else {
        key(property.name, place.appending("name"))
      }
      sinceAndDoc(property.about)
      reference(property.type, place.appending("type"))
      bounds(property.constraints, on: property.type, at: place)
      if property.constraints.pattern != nil {
        problems.report(place.appending("pattern"), "a pattern needs a type of its own: kind \"string\"")
      }
      guard let value = property.defaultValue else { continue }
      if property.isOptional { problems.report(place, "a default makes it optional already; leave out \"optional\"") }
      if SwiftCoding(types: types).defaultLiteral(value, of: property.type) == nil {
        problems.expected(
          "a default of its type (a scalar, an enumeration's value, a union's tag alone, an array of those, {})",
          at: place.appending("default"), found: value)
      }
    }
  }

  private func distinctProperties(_ list: [Property]) {
    var seen: Set<String> = []
    for property in list {
      if !seen.insert(property.name).inserted || !seen.insert("snake " + Names.snake(property.name)).inserted {
        problems.report(property.about.place, "property \(property.name) stands twice")
      }
    }
  }

  private func reference(_ type: TypeExpression, _ place: Place) {
    for name in type.names where types[name] == nil { problems.report(place, "there is no type \(name)") }
    if case .array(_, let bounds) = type { self.bounds(bounds, on: type, at: place) }
  }

  private func bounds(_ constraints: Constraints, on type: TypeExpression, at place: Place) {
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
    default: break
    }
    if allowed != constraints { problems.report(place, "has bounds that its type does not have") }
    let low = constraints.minimum?.number ?? constraints.exclusiveMinimum?.number
    let high = constraints.maximum?.number ?? constraints.exclusiveMaximum?.number
    if let low, let high, low > high { problems.report(place, "its minimum is above its maximum") }
    if (constraints.minLength ?? 0) > (constraints.maxLength ?? .max)
      || (constraints.minItems ?? 0) > (constraints.maxItems ?? .max)
    {
      problems.report(place, "its least count is above its largest")
    }
  }

  // MARK: Messages

  /// Params are always an object of the message's own, so that absent ones can mean none.
  private func params(_ payload: Payload, _ place: Place) {
    switch payload {
    case .properties(let list): properties(list)
    case .type(.json): break
    case .type: problems.report(place, "expected properties or \"json\"")
    }
  }

  private func result(_ payload: Payload, _ place: Place) {
    switch payload {
    case .properties(let list): properties(list)
    case .type(.named(let name)):
      switch types[name]?.kind {
      case .object, .union, .opaque: break
      case nil: problems.report(place, "there is no type \(name)")
      default: problems.report(place, "expected an object, a union or an opaque type, found \(name)")
      }
    case .type(.json): break
    case .type: problems.report(place, "expected properties, \"json\" or a type's name")
    }
  }

  private func check(_ method: Method) {
    let place = method.about.place
    params(method.params, place.appending("params"))
    result(method.result, place.appending("result"))
    var seen: Set<String> = []
    for (index, kind) in method.errors.enumerated() {
      let place = place.appending("errors").appending(index)
      if !definition.errors.contains(where: { $0.kind == kind }) { problems.report(place, "there is no error \(kind)") }
      if definition.commonErrors.contains(kind) {
        problems.report(place, "\(kind) is common to all methods; leave it out")
      }
      if !seen.insert(kind).inserted { problems.report(place, "\(kind) stands twice") }
    }
  }

  private func check(_ notification: Notification) {
    params(notification.params, notification.about.place.appending("params"))
  }

  private func check(_ path: StatePath) {
    reference(path.type, path.about.place.appending("type"))
    if !path.path.hasPrefix("/") {
      problems.report(path.about.place.appending("path"), "expected a JSON Pointer, found \"\(path.path)\"")
    }
    if definition.statePaths.filter({ $0.path == path.path }).count > 1 {
      problems.report(path.about.place.appending("path"), "\(path.path) stands twice")
    }
  }

  private func errors() {
    var seen: Set<String> = []
    let used = Set(definition.commonErrors + definition.methods.flatMap(\.errors))
    for error in definition.errors {
      let place = error.about.place
      key(error.kind, place.appending("kind"))
      if !seen.insert(error.kind).inserted { problems.report(place, "error \(error.kind) is defined twice") }
      properties(error.data)
      for name in ["kind", "path", "expected"] where error.data.contains(where: { $0.name == name }) {
        problems.report(place.appending("data"), "every error has \"\(name)\"; leave it out")
      }
      let isOwn = (-31999 ... -31000).contains(error.code)
      if !isOwn && !(-32999 ... -32000).contains(error.code) {
        problems.report(place.appending("code"), "expected JSON-RPC's, LSP's or -31999...-31000, found \(error.code)")
      }
      if isOwn && !used.contains(error.kind) { problems.report(place, "no method answers \(error.kind)") }
    }
    for kind in definition.commonErrors where !seen.contains(kind) {
      problems.report(Place(file: "errors.json", pointer: "/common"), "there is no error \(kind)")
    }
  }
}
