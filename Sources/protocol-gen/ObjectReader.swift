// Reads one object of a definition strictly: unread members are errors.

final class ObjectReader {
  let path: Path
  private let problems: Problems
  private let members: [String: Tree]
  private var read: Set<String> = []
  /// `since` of the containing element, which applies if the object has none.
  private let inheritedSince: String

  /// Reads the object with `body`, then reports the members that were not read. Reports a value that is not an object, and returns nil.
  static func read<T>(
    _ tree: Tree, at path: Path, since: String = "", _ problems: Problems, _ body: (ObjectReader) -> T?
  ) -> T? {
    guard case .object(let members) = tree else {
      problems.expected("object", at: path, found: tree)
      return nil
    }
    let reader = ObjectReader(members, at: path, since: since, problems)
    defer { reader.finish() }
    return body(reader)
  }

  private init(_ members: [Tree.Member], at path: Path, since: String, _ problems: Problems) {
    self.path = path
    self.problems = problems
    inheritedSince = since
    self.members = Dictionary(members.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
  }

  private func finish() {
    for name in members.keys.sorted() where !read.contains(name) {
      problems.report(path / name, "unknown member; allowed are: \(read.sorted().joined(separator: ", "))")
    }
  }

  /// The members common to all elements.
  lazy var about: About = {
    let doc = Prose.unfolded(requiredString("doc"))
    let since = string("since") ?? inheritedSince
    if since.isEmpty { problems.expected("version", at: path / "since", found: nil) }
    return About(
      path: path, doc: doc, since: since, isExperimental: flag("experimental"), deprecated: string("deprecated"))
  }()

  func optional(_ name: String) -> Tree? {
    read.insert(name)
    return members[name]
  }

  func has(_ name: String) -> Bool { members[name] != nil }

  func required(_ name: String, _ expectation: String) -> Tree? {
    let value = optional(name)
    if value == nil { problems.expected(expectation, at: path / name, found: nil) }
    return value
  }

  private func value<T>(
    _ name: String, _ expectation: String, isRequired: Bool = false, _ convert: (Tree) -> T?
  ) -> T? {
    guard let value = isRequired ? required(name, expectation) : optional(name) else { return nil }
    let converted = convert(value)
    if converted == nil { problems.expected(expectation, at: path / name, found: value) }
    return converted
  }

  func string(_ name: String) -> String? { value(name, "string", \.string) }
  func requiredString(_ name: String) -> String { value(name, "string", isRequired: true, \.string) ?? "" }
  func model(_ name: String) -> ModelType? {
    value(name, "an enumeration after its module: GeoModel.Layer.Kind") { $0.string.flatMap { ModelType($0) } }
  }
  func integer(_ name: String) -> Int? { value(name, "integer", \.integer) }
  func requiredInteger(_ name: String) -> Int { value(name, "integer", isRequired: true, \.integer) ?? 0 }
  func number(_ name: String) -> Tree? { value(name, "number") { $0.number == nil ? nil : $0 } }
  func flag(_ name: String, isRequired: Bool = false) -> Bool {
    value(name, "boolean", isRequired: isRequired) { if case .bool(let flag) = $0 { flag } else { nil } } ?? false
  }

  func choice<T: RawRepresentable & CaseIterable>(_ name: String, _ type: T.Type, isRequired: Bool = false) -> T?
  where T.RawValue == String {
    let all = T.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
    return value(name, "one of " + all, isRequired: isRequired) { $0.string.flatMap(T.init(rawValue:)) }
  }

  /// The elements of a list, each read by `body` with its path; empty if absent.
  func list<T>(_ name: String, isRequired: Bool = false, _ body: (Tree, Path) -> T?) -> [T] {
    let elements = value(name, "array", isRequired: isRequired) { tree -> [Tree]? in
      if case .array(let elements) = tree { elements } else { nil }
    }
    return (elements ?? []).enumerated().compactMap { body($1, path / name / $0) }
  }

  func strings(_ name: String, isRequired: Bool = false) -> [String] {
    list(name, isRequired: isRequired) { element, path in
      if element.string == nil { problems.expected("string", at: path, found: element) }
      return element.string
    }
  }

  /// The elements of a list of objects.
  func objects<T>(_ name: String, isRequired: Bool = false, _ body: (ObjectReader) -> T?) -> [T] {
    list(name, isRequired: isRequired) { Self.read($0, at: $1, since: about.since, problems, body) }
  }

  func object<T>(_ name: String, _ body: (ObjectReader) -> T?) -> T? {
    required(name, "object").flatMap { Self.read($0, at: path / name, problems, body) }
  }

  /// A type: a name, `{"array": type}` or `{"map": type}`.
  func type(_ name: String) -> TypeExpression {
    guard let tree = required(name, "type") else { return .json }
    if let text = tree.string { return TypeExpression(named: text) }
    let type = Self.read(tree, at: path / name, problems) { reader -> TypeExpression in
      if reader.has("map") { return .map(reader.type("map")) }
      let bounds = Constraints(minItems: reader.integer("minItems"), maxItems: reader.integer("maxItems"))
      return .array(reader.type("array"), bounds)
    }
    return type ?? .json
  }
}
