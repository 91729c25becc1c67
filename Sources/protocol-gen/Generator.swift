// Generates all files from a definition. Pure: writing, comparing and testing use the same texts.

struct Generator {
  let definition: Definition
  /// The modules that generated Swift imports. Tests generate into a module of their own.
  var swiftImports = ["JSON"]

  /// Swift files of the wire types: texts by file name, relative to the folder.
  func swift() -> [String: String] {
    let coding = SwiftCoding(definition: definition)
    let wire = SwiftTypes(coding: coding)
    let tables = SwiftTables(definition: definition)
    var files: [String: String] = [:]
    for domain in definition.domains {
      let name = Names.upperCamel(domain.name)
      files[name + ".swift"] = wire.file(domain, imports: swiftImports)
      if let text = tables.handlers(domain, imports: swiftImports) { files[name + "Handlers.swift"] = text }
    }
    files["OpenRPCDocument.swift"] = OpenRPC(definition: definition).swift
    files["Methods.swift"] = tables.methods()
    files["ParamMembers.swift"] = ParamMembers(definition: definition, imports: swiftImports).file()
    files["StateShapes.swift"] = StateShapes(definition: definition, imports: swiftImports).file()
    files["ErrorKinds.swift"] = tables.errorKinds()
    files["Members.swift"] = MemberPayloads(coding: coding).file(imports: swiftImports)
    return files
  }

  /// Swift files for other rooms: texts by file name, by room.
  func rooms() -> [(room: String, files: [String: String])] {
    let kinds = SwiftKinds(definition: definition)
    return [
      ("GeoProtocol", swift()),
      ("GeoModel", ["Members.swift": ModelMembers(definition: definition).file(), "Kinds.swift": kinds.model()]),
      ("WireCoding", ["Words.swift": ModelWords(definition: definition).file()]),
      ("Links", ["Updates.swift": ModelMembers(definition: definition).updates()]),
      ("Handlers", ["Objects.swift": kinds.handlers()]),
      ("Documents", ["SavedKinds.swift": kinds.documents()]),
      ("Host", ["Services.swift": kinds.services(["Documents", "Handlers", "Links"])]),
    ]
  }

  func openrpc() -> String { OpenRPC(definition: definition).document.text(width: 110) + "\n" }

  /// A JSON Schema for each domain with a file format.
  func schemas() -> [String: String] {
    var files: [String: String] = [:]
    for domain in definition.domains {
      guard let root = domain.file else { continue }
      files[domain.name + ".schema.json"] = FileSchema(definition: definition, root: root).tree.text(width: 110) + "\n"
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
      PROTOCOL_VERSION = "\(definition.version)"

      """,
      "types.py": types.typesFile(),
      "errors.py": types.errorsFile(),
      "methods_async.py": PythonMethods(types: types, flavour: .async).file(),
      "methods_sync.py": PythonMethods(types: types, flavour: .sync).file(),
    ]
  }
}
