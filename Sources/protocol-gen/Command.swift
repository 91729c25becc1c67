// The command line: the definition's folder, the outputs, and whether to write or compare.

struct Command {
  static let usage = """
    usage: protocol-gen PROTOCOL_DIR [--check] [--sources DIR] [--swift DIR] [--swift-import MODULE] [--python DIR]
                        [--reference DIR] [--openrpc FILE] [--schemas DIR] [--changelog FILE]

    Checks the definition in PROTOCOL_DIR (domains/*.json, errors.json) and writes what is asked for.
    With --check it writes nothing and exits 1 naming the files that differ.
    """

  private static let outputFlags = ["--sources", "--swift", "--python", "--reference", "--openrpc", "--schemas", "--changelog"]

  private var folder = ""
  private var isCheck = false
  private var swiftImports = ["JSON"]
  /// The output folder or file for each flag.
  private var outputs: [String: String] = [:]

  /// Nil for an invalid command line.
  init?(_ arguments: [String]) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      if argument == "--check" {
        isCheck = true
      } else if argument == "--swift-import" || Self.outputFlags.contains(argument) {
        guard let value = rest.popFirst() else { return nil }
        if argument == "--swift-import" { swiftImports.append(value) } else { outputs[argument] = value }
      } else {
        guard folder.isEmpty, !argument.hasPrefix("-") else { return nil }
        folder = argument
      }
    }
    if folder.isEmpty { return nil }
  }

  /// The exit code.
  func run() throws -> Int32 {
    let problems = Problems()
    let definition = try Definition.read(folder, problems)
    guard problems.messages.isEmpty else {
      for message in problems.messages { Files.say(message) }
      Files.say("\(problems.messages.count) problems; nothing was generated")
      return 1
    }
    let generator = Generator(definition: definition, swiftImports: swiftImports.sorted())
    var differing: [String] = []
    if let path = outputs["--sources"] {
      for (room, files) in generator.rooms() { differing += try update("\(path)/\(room)/Generated", files) }
    }
    if let path = outputs["--swift"] { differing += try update(path, generator.swift()) }
    if let path = outputs["--python"] { differing += try update(path, generator.python()) }
    if let path = outputs["--reference"] { differing += try update(path, generator.reference()) }
    if let path = outputs["--openrpc"] { differing += try update(file: path, generator.openrpc()) }
    if let path = outputs["--schemas"] {
      // The folder may be that of the definition, so other files in it stay.
      for (name, text) in generator.schemas().sorted(by: { $0.key < $1.key }) {
        differing += try update(file: path + "/" + name, text)
      }
    }
    if let path = outputs["--changelog"] {
      guard let text = ChangeLog(definition: definition).updated(String(decoding: try Files.read(path), as: UTF8.self))
      else {
        Files.say("\(path) has no list of what is in the definition since \(definition.version)")
        return 1
      }
      differing += try update(file: path, text)
    }
    if isCheck, !differing.isEmpty {
      for path in differing { Files.say("\(path) is not what Protocol/ says; run `make generate`") }
      return 1
    }
    return 0
  }

  /// Updates a folder of generated files; returns the paths that differed.
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
