// Reads the definition's folder: VERSION, domains/*.json in the order of their names, session first, and errors.json.

import JSON

extension Definition {
  /// Reads and checks; whatever is wrong is in `problems`.
  init(folder: String, problems: Problems) throws {
    let names = Files.list(folder + "/domains").filter { $0.hasSuffix(".json") }
    let ordered = names.filter { $0 == "session.json" } + names.filter { $0 != "session.json" }
    let loader = Loader(problems: problems)
    var hash = FNV()

    let text = String(decoding: try Files.read(folder + "/VERSION"), as: UTF8.self)
    productVersion = String(text.prefix { !$0.isNewline })
    if Version(productVersion) == nil {
      problems.report(Place(file: "VERSION"), "expected a version such as 0.1.0, found \"\(productVersion)\"")
    }
    for name in ordered {
      let file = "domains/" + name
      guard let tree = try Self.parse(folder, file, &hash, problems),
        let domain = loader.domain(tree, at: Place(file: file))
      else { continue }
      if domain.name + ".json" != name {
        problems.report(domain.about.place.appending("domain"), "expected \"\(name.dropLast(5))\", the file's name")
      }
      domains.append(domain)
    }
    if let tree = try Self.parse(folder, "errors.json", &hash, problems),
      let read = loader.errors(tree, at: Place(file: "errors.json"))
    {
      domains.append(read.domain)
      (errors, commonErrors) = (read.errors, read.common)
    }
    self.hash = hash.text
    if problems.messages.isEmpty { expandMembers(problems) }
    if problems.messages.isEmpty { Checks(definition: self, problems: problems).run() }
    if problems.messages.isEmpty { Examples(definition: self, problems: problems).run() }
  }

  private static func parse(
    _ folder: String, _ file: String, _ hash: inout FNV, _ problems: Problems
  ) throws -> Tree? {
    let bytes = try Files.read(folder + "/" + file)
    hash.add(Array(file.utf8))
    hash.add(bytes)
    do {
      return try JSONDocument(bytes).read { value throws in try Tree(value) }
    } catch let error as JSONSyntaxError {
      problems.report(Place(file: file), "at byte \(error.offset): \(error.reason)")
      return nil
    }
  }
}

/// FNV-1a of 64 bits: enough to notice a difference.
struct FNV {
  private var state: UInt64 = 0xcbf2_9ce4_8422_2325

  mutating func add(_ bytes: [UInt8]) {
    for byte in bytes { state = (state ^ UInt64(byte)) &* 0x100_0000_01b3 }
  }

  var text: String {
    let digits = String(state, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
