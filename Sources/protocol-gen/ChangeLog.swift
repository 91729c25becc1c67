// The generated lists in the change log: elements that are new since a version, each with name and doc.

struct ChangeLog {
  let definition: Definition
  private static let (begin, end) = ("<!-- in the definition since ", "<!-- end of the list -->")

  /// The text with its lists generated again. Each list is between a line `<!-- in the definition since 0.2 -->` and a line that
  /// ends it.
  ///
  /// - Returns: nil if there is no list for the newest version.
  func updated(_ text: String) -> String? {
    var lines: [String] = []
    var isInList = false
    var versions: [String] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
      if line == Self.end { isInList = false }
      if !isInList { lines.append(line) }
      guard line.hasPrefix(Self.begin), let version = line.dropFirst(Self.begin.count).split(separator: " ").first
      else { continue }
      isInList = true
      versions.append(String(version))
      lines += list(since: String(version))
    }
    return versions.contains(definition.version) ? lines.joined(separator: "\n") : nil
  }

  private func list(since version: String) -> [String] {
    var listed: Set<String> = []
    func isNew(_ about: About) -> Bool { about.since.hasPrefix(version + ".") }
    func line(_ name: String, _ about: About) -> String? {
      // A method's params may be an object's members, which are already listed with its type.
      guard isNew(about), listed.insert("\(about.path)").inserted else { return nil }
      return "- `\(name)`: \(Prose.summary(about.doc))"
    }
    func parts(_ owner: String, _ about: About, _ properties: [Property]) -> [String] {
      isNew(about) ? [] : properties.compactMap { line("\(owner).\($0.name)", $0.about) }
    }
    let objects = definition.types.filter { $0.collection != nil }
    let types = (objects + definition.types.filter { $0.collection == nil }).flatMap { type in
      switch type.kind {
      case .enumeration(let values):
        isNew(type.about) ? [] : values.compactMap { line("\(type.name).\($0.value)", $0.about) }
      case .union(let variants):
        isNew(type.about)
          ? []
          : variants.flatMap { variant in
            (line("\(type.name).\(variant.tag)", variant.about).map { [$0] } ?? [])
              + parts("\(type.name).\(variant.tag)", variant.about, variant.properties)
          }
      case .object, .scalar, .opaque: parts(type.name, type.about, type.properties)
      }
    }
    let messages = definition.methods.flatMap { method in
      (line(method.name, method.about).map { [$0] } ?? [])
        + parts(method.name, method.about, method.params.properties + method.result.properties + method.part)
    }
    let notifications = definition.notifications.flatMap { item in
      (line(item.name, item.about).map { [$0] } ?? []) + parts(item.name, item.about, item.params.properties)
    }
    let errors = definition.errors.flatMap { error in
      (line(error.kind, error.about).map { [$0] } ?? []) + parts(error.kind, error.about, error.data)
    }
    return messages + notifications + types + errors
  }
}
