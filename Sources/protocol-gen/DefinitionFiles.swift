// Reads the definition's folder: VERSION, domains/*.json in alphabetical order, session first, and errors.json.

import JSON

extension Definition {
  /// Reads and checks the definition. Errors are collected in `problems`.
  static func read(_ folder: String, _ problems: Problems) throws -> Definition {
    let names = Files.list(folder + "/domains").filter { $0.hasSuffix(".json") }
    let ordered = names.filter { $0 == "session.json" } + names.filter { $0 != "session.json" }
    var definition = Definition()
    var hashed: [UInt8] = []

    let text = String(decoding: try Files.read(folder + "/VERSION"), as: UTF8.self)
    definition.productVersion = String(text.prefix { !$0.isNewline })
    if Version(definition.productVersion) == nil {
      problems.report(
        Path(file: "VERSION"), "expected a version such as 0.1.0, found \"\(definition.productVersion)\"")
    }
    for name in ordered {
      guard let domain = try read(folder, "domains/" + name, &hashed, problems, { Domain($0) }) else { continue }
      if domain.name + ".json" != name {
        problems.report(domain.about.path / "domain", "expected \"\(name.dropLast(5))\", the file's name")
      }
      definition.domains.append(domain)
    }
    let errors = try read(folder, "errors.json", &hashed, problems) { reader in
      definition.errors = reader.objects("errors", isRequired: true) { ErrorDefinition($0) }
      definition.commonErrors = reader.strings("common", isRequired: true)
      return Domain(errors: reader)
    }
    if let errors { definition.domains.append(errors) }
    definition.hash = hash(hashed)
    if problems.messages.isEmpty { definition.orderKinds(problems) }
    if problems.messages.isEmpty { definition.expandSavedKinds(problems) }
    if problems.messages.isEmpty { definition.expandGroups(problems) }
    if problems.messages.isEmpty { definition.expandMembers(problems) }
    if problems.messages.isEmpty { Checks(definition: definition, problems: problems).run() }
    if problems.messages.isEmpty { Examples(definition: definition, problems: problems).run() }
    return definition
  }

  /// Reads a file's object with `body`, and appends the file's name and bytes to the hashed content.
  private static func read<T>(
    _ folder: String, _ file: String, _ hashed: inout [UInt8], _ problems: Problems, _ body: (ObjectReader) -> T?
  ) throws -> T? {
    let bytes = try Files.read(folder + "/" + file)
    hashed += Array(file.utf8) + bytes
    do {
      let tree = try JSONDocument(bytes).read { value throws in try Tree(value) }
      return ObjectReader.read(tree, at: Path(file: file), problems, body)
    } catch let error as JSONSyntaxError {
      problems.report(Path(file: file), "at byte \(error.offset): \(error.reason)")
      return nil
    }
  }

  /// 64-bit FNV-1a: sufficient to detect a difference.
  private static func hash(_ bytes: [UInt8]) -> String {
    let hash = bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
