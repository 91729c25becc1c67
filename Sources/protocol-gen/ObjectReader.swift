// Reads one object of a definition strictly: unread members are errors.

final class ObjectReader {
  let place: Place
  let problems: Problems
  private let members: [String: Tree]
  private var read: Set<String> = []

  /// Nil, and reported, if it is not an object.
  init?(_ tree: Tree, at place: Place, problems: Problems) {
    guard case .object(let members) = tree else {
      problems.expected("object", at: place, found: tree)
      return nil
    }
    self.place = place
    self.problems = problems
    self.members = Dictionary(members.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
  }

  /// Reports the members that were not read.
  func finish() {
    for name in members.keys.sorted() where !read.contains(name) {
      problems.report(place.appending(name), "unknown member; here may stand: \(read.sorted().joined(separator: ", "))")
    }
  }

  func optional(_ name: String) -> Tree? {
    read.insert(name)
    return members[name]
  }

  func has(_ name: String) -> Bool { members[name] != nil }

  func required(_ name: String, _ expectation: String) -> Tree? {
    let value = optional(name)
    if value == nil { problems.expected(expectation, at: place.appending(name), found: nil) }
    return value
  }

  private func checked<T>(_ name: String, _ expectation: String, _ convert: (Tree) -> T?) -> T? {
    guard let value = optional(name) else { return nil }
    let converted = convert(value)
    if converted == nil { problems.expected(expectation, at: place.appending(name), found: value) }
    return converted
  }

  func string(_ name: String) -> String? { checked(name, "string", \.string) }
  func integer(_ name: String) -> Int? { checked(name, "integer", \.integer) }
  func number(_ name: String) -> Tree? { checked(name, "number") { $0.number == nil ? nil : $0 } }
  func flag(_ name: String) -> Bool {
    checked(name, "boolean") { if case .bool(let flag) = $0 { flag } else { nil } } ?? false
  }

  func requiredString(_ name: String) -> String {
    if !has(name) { problems.expected("string", at: place.appending(name), found: nil) }
    return string(name) ?? ""
  }

  func choice<T: RawRepresentable & CaseIterable>(_ name: String, _ type: T.Type) -> T? where T.RawValue == String {
    let all = T.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
    return checked(name, "one of " + all) { $0.string.flatMap(T.init(rawValue:)) }
  }

  /// The list's elements with their paths; empty if absent.
  func list(_ name: String, isRequired: Bool = false) -> [(Tree, Place)] {
    guard let value = isRequired ? required(name, "array") : optional(name) else { return [] }
    guard case .array(let elements) = value else {
      problems.expected("array", at: place.appending(name), found: value)
      return []
    }
    return elements.enumerated().map { ($1, place.appending(name).appending($0)) }
  }

  func strings(_ name: String, isRequired: Bool = false) -> [String] {
    list(name, isRequired: isRequired).compactMap { element, place in
      if element.string == nil { problems.expected("string", at: place, found: element) }
      return element.string
    }
  }
}
