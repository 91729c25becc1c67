// All files that follow from a definition: pure, so that writing, comparing and testing see the same texts.

struct Generator {
  let definition: Definition
  /// The modules that generated Swift imports; tests generate into a module of their own.
  var swiftImports = ["JSON"]

  /// File names below the folder, and texts.
  func swift() -> [String: String] {
    let types = Dictionary(definition.types.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let coding = SwiftCoding(types: types)
    let wire = SwiftTypes(coding: coding, definition: definition, indirect: Checks.indirectUnions(definition))
    let tables = SwiftTables(coding: coding, definition: definition)
    var files: [String: String] = [:]
    for domain in definition.domains {
      let name = Names.upperCamel(domain.name)
      files[name + ".swift"] = wire.file(domain, imports: swiftImports)
      if let text = tables.handlers(domain, imports: swiftImports) { files[name + "Handlers.swift"] = text }
    }
    files["OpenRPCDocument.swift"] = OpenRPC(definition: definition).swift
    files["Methods.swift"] = tables.methods()
    files["ParamMembers.swift"] = ParamMembers(definition: definition, coding: coding, imports: swiftImports).file()
    files["ErrorKinds.swift"] = tables.errorKinds()
    files["Members.swift"] = MemberPayloads(coding: coding, definition: definition).file(imports: swiftImports)
    return files
  }

  /// What the model knows of the protocol: the members of its objects.
  func model() -> [String: String] { ["Members.swift": ModelMembers(definition: definition).file()] }

  func openrpc() -> String { OpenRPC(definition: definition).document.pretty() + "\n" }

  /// A JSON Schema for each domain that has files.
  func schemas() -> [String: String] {
    var files: [String: String] = [:]
    for domain in definition.domains {
      guard let root = domain.file else { continue }
      files[domain.name + ".schema.json"] = FileSchema(definition: definition, root: root).tree.pretty() + "\n"
    }
    return files
  }

  func reference() -> [String: String] { Reference(definition: definition).files() }

  func python() -> [String: String] {
    let types = PythonTypes(definition: definition)
    return [
      "__init__.py": """
      \(PythonTypes.header)
      \"""What follows from the protocol's definition.\"""

      __version__ = "\(definition.productVersion)"

      """,
      "types.py": types.typesFile(),
      "errors.py": types.errorsFile(),
      "methods_async.py": PythonMethods(types: types, flavour: .async).file(),
      "methods_sync.py": PythonMethods(types: types, flavour: .sync).file(),
    ]
  }
}
