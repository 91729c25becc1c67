// The command line: which definition, which outputs, write or compare.

struct Command {
  static let usage = """
    usage: protocol-gen PROTOCOL_DIR [--check] [--swift DIR] [--swift-import MODULE] [--model DIR] [--python DIR]
                        [--reference DIR] [--openrpc FILE] [--schemas DIR]

    Checks the definition in PROTOCOL_DIR (domains/*.json, errors.json) and writes what is asked for.
    With --check it writes nothing and exits 1 naming the files that differ.
    """

  var folder = ""
  var isCheck = false
  var swift: String?
  var swiftImports = ["JSON"]
  var model: String?
  var python: String?
  var reference: String?
  var openrpc: String?
  var schemas: String?

  /// Nil for a command line that makes no sense.
  init?(_ arguments: [String]) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--check": isCheck = true
      case "--swift", "--swift-import", "--model", "--python", "--reference", "--openrpc", "--schemas":
        guard let value = rest.popFirst() else { return nil }
        switch argument {
        case "--swift": swift = value
        case "--swift-import": swiftImports = (swiftImports + [value]).sorted()
        case "--model": model = value
        case "--python": python = value
        case "--reference": reference = value
        case "--schemas": schemas = value
        default: openrpc = value
        }
      default:
        guard folder.isEmpty, !argument.hasPrefix("-") else { return nil }
        folder = argument
      }
    }
    if folder.isEmpty { return nil }
  }

  /// The exit code.
  func run() throws -> Int32 {
    let problems = Problems()
    let definition = try Definition(folder: folder, problems: problems)
    guard problems.messages.isEmpty else {
      for message in problems.messages { Files.say(message) }
      Files.say("\(problems.messages.count) problems; nothing was generated")
      return 1
    }
    let generator = Generator(definition: definition, swiftImports: swiftImports)
    var differing: [String] = []
    if let swift { differing += try update(swift, generator.swift()) }
    if let model { differing += try update(model, generator.model()) }
    if let python { differing += try update(python, generator.python()) }
    if let reference { differing += try update(reference, generator.reference()) }
    if let openrpc { differing += try update(file: openrpc, generator.openrpc()) }
    if let schemas {
      // The folder may be the definition's own: what else is in it stays.
      for (name, text) in generator.schemas().sorted(by: { $0.key < $1.key }) {
        differing += try update(file: schemas + "/" + name, text)
      }
    }
    if isCheck, !differing.isEmpty {
      for path in differing { Files.say("\(path) is not what Protocol/ says; run `make generate`") }
      return 1
    }
    return 0
  }

  /// Brings a folder that is all generated up to date; the paths that differed.
  private func update(_ folder: String, _ files: [String: String]) throws -> [String] {
    var differing: [String] = []
    for name in files.keys.sorted() {
      differing += try update(file: folder + "/" + name, files[name] ?? "")
    }
    let suffixes = Set(files.keys.compactMap { $0.split(separator: ".").last.map { "." + $0 } })
    for name in Files.list(folder) where files[name] == nil && suffixes.contains(where: { name.hasSuffix($0) }) {
      differing.append(folder + "/" + name)
      if !isCheck { try Files.remove(folder + "/" + name) }
    }
    return differing
  }

  private func update(file path: String, _ text: String) throws -> [String] {
    if let present = try? Files.read(path), present == Array(text.utf8) { return [] }
    if !isCheck { try Files.write(text, to: path) }
    return [path]
  }
}
