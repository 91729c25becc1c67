// Generated code is committed: it equals the output of the generator, and is valid.

import Foundation
import Testing

struct GeneratedFilesTests {
  @Test func `generated files equal a fresh generation`() throws {
    let check = try ProtocolGen(
      "Protocol", "--check", "--sources", "Sources", "--python", "Clients/python/src/geomodel/_generated",
      "--reference", "Protocol/reference", "--openrpc", "Protocol/openrpc.json", "--schemas", "Protocol",
      "--changelog", "Protocol/CHANGELOG.md")
    #expect(check.status == 0, "\(check.messages)")
  }

  @Test func `the sample's Swift equals a fresh generation`() throws {
    let check = try ProtocolGen(
      ProtocolGen.samples, "--check", "--swift", "Tests/HouseTests/SampleProtocol", "--swift-import", "GeoProtocol")
    #expect(check.status == 0, "\(check.messages)")
  }

  @Test func `a check writes nothing and lists different, missing and superfluous files`() throws {
    try withTemporaryFolder { folder in
      let swift = folder.appending(path: "swift")
      let first = try ProtocolGen(ProtocolGen.samples, "--swift", swift.path)
      #expect(first.status == 0, "\(first.messages)")
      try FileManager.default.removeItem(at: swift.appending(path: "Session.swift"))
      try Data("edited".utf8).write(to: swift.appending(path: "Sample.swift"))
      try Data("old".utf8).write(to: swift.appending(path: "Gone.swift"))

      let check = try ProtocolGen(ProtocolGen.samples, "--check", "--swift", swift.path)
      #expect(check.status == 1)
      for name in ["Session.swift", "Sample.swift", "Gone.swift"] { #expect(check.messages.contains(name)) }
      #expect(!check.messages.contains("Methods.swift"))
      #expect(!FileManager.default.fileExists(atPath: swift.appending(path: "Session.swift").path))

      _ = try ProtocolGen(ProtocolGen.samples, "--swift", swift.path)
      #expect(try ProtocolGen(ProtocolGen.samples, "--check", "--swift", swift.path).status == 0)
      #expect(!FileManager.default.fileExists(atPath: swift.appending(path: "Gone.swift").path))
    }
  }

  @Test(arguments: ["Protocol", ProtocolGen.samples])
  func `generated Python compiles`(definition: String) throws {
    try withTemporaryFolder { folder in
      #expect(try ProtocolGen(definition, "--python", folder.path).status == 0)
      let (status, messages) = try run("/usr/bin/env", ["python3", "-m", "compileall", "-q", folder.path])
      #expect(status == 0, "\(messages)")
    }
  }

  @Test(.enabled(if: canImport("openrpc")), arguments: ["Protocol", ProtocolGen.samples])
  func `the package openrpc accepts the document`(definition: String) throws {
    try withTemporaryFolder { folder in
      let file = folder.appending(path: "openrpc.json").path
      #expect(try ProtocolGen(definition, "--openrpc", file).status == 0)
      let script = "import json, openrpc, sys; openrpc.OpenRPC.model_validate(json.load(open(sys.argv[1])))"
      let (status, messages) = try run("/usr/bin/env", ["python3", "-c", script, file])
      #expect(status == 0, "\(messages)")
    }
  }

  @Test(.enabled(if: canImport("jsonschema")), arguments: ["Protocol", ProtocolGen.samples])
  func `the metaschema accepts what protocol-gen accepts`(definition: String) throws {
    let script = """
      import glob, json, jsonschema, sys
      schema = json.load(open("Protocol/metaschema.json"))
      jsonschema.Draft202012Validator.check_schema(schema)
      validator = jsonschema.Draft202012Validator(schema)
      for file in glob.glob(sys.argv[1] + "/domains/*.json") + [sys.argv[1] + "/errors.json"]:
          validator.validate(json.load(open(file)))
      """
    let (status, messages) = try run("/usr/bin/env", ["python3", "-c", script, definition])
    #expect(status == 0, "\(messages)")
  }
}

/// Whether the package is installed for this machine's Python.
private func canImport(_ package: String) -> Bool {
  (try? run("/usr/bin/env", ["python3", "-c", "import \(package)"]))?.0 == 0
}
