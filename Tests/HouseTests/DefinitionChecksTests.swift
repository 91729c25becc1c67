// Each error in a definition is refused with its path and the expectation.

import Foundation
import Testing

struct Mistake: CustomTestStringConvertible, Sendable {
  let file: String
  let change: String
  let to: String
  let message: String
  var testDescription: String { message }

  init(_ change: String, _ to: String, _ message: String, in file: String = "domains/sample.json") {
    (self.file, self.change, self.to, self.message) = (file, change, to, message)
  }
}

private let mistakes = [
  Mistake(#""domain": "sample", "#, #""domain": "simple", "#, #"domains/sample.json: /domain: expected "sample""#),
  Mistake(#""shape": "task""#, #""shape": "chore""#, #"/methods/3/shape: expected one of "query""#),
  Mistake(#""shape": "task""#, #""form": "task""#, "/methods/3/form: unknown member"),
  Mistake(#""doc": "Works.", "#, "", "/methods/3/doc: expected string, found nothing"),
  Mistake(#""type": "Scale", "optional""#, #""type": "Sclae", "optional""#, "there is no type Sclae"),
  Mistake(#""type": "Scale", "optional": true"#, #""type": "number", "optional": true"#, "type Scale is never used"),
  Mistake(#""errors": ["unknownId"]"#, #""errors": ["unknown"]"#, "/methods/0/errors/0: there is no error unknown"),
  Mistake(#""errors": ["unknownId"]"#, #""errors": []"#, "no method answers unknownId"),
  Mistake(#""name": "step""#, #""name": "default""#, #""default" is a keyword of Swift"#),
  Mistake(#""name": "step""#, #""name": "end""#, #""end" is a keyword of Lua"#),
  Mistake(#""name": "step""#, #""name": "a_b""#, "expected a lowerCamelCase name"),
  Mistake(#""name": "step""#, #""name": "serial""#, "property serial occurs twice"),
  Mistake(#""name": "Scale""#, #""name": "String""#, "String is a name that generated code needs"),
  Mistake(#""name": "sample/work""#, #""name": "other/work""#, "expected sample/verbNoun"),
  Mistake(#""name": "sample/work""#, #""name": "sample/thing""#, "name Thing of domain sample is defined twice"),
  Mistake(#""default": 800"#, #""default": 0"#, "default: expected number in 1...16384, found 0"),
  Mistake(#""default": "default""#, #""default": "on""#, "expected a default of its type"),
  Mistake(#""default": 800"#, #""default": 800, "optional": true"#, "a default makes it optional already"),
  Mistake(#""minimum": 1, "maximum": 16384"#, #""minimum": 1, "maximum": 0"#, "its minimum is above its maximum"),
  Mistake(#""type": "boolean""#, #""type": "boolean", "minimum": 0"#, "has bounds that its type does not have"),
  Mistake(
    #"{"thing": {"serial": 1}, "meta""#, #"{"thing": {}, "meta""#, "/methods/0/example/params/thing: serial is missing"),
  Mistake(
    #"{"thing": {"serial": 1}, "meta""#, #"{"thing": {"serial": -1}, "meta""#,
    "serial: expected integer in 0...99999999999999, found -1"),
  Mistake(
    #""result": {"id": "a"}"#, #""result": {"id": "A"}"#,
    "/methods/0/example/result/id: expected string matching [a-z]{1,4}"),
  Mistake(
    #""result": {"id": "a"}"#, #""result": {"id": "a", "x": 1}"#,
    "/methods/0/example/result/x: the definition has no such member"),
  Mistake(
    #""result": {"type": "idle"}"#, #""result": {"type": "lost"}"#,
    #"/methods/2/example/result/type: expected one of "idle""#),
  Mistake(#"{"value": "default""#, #"{"value": "Off""#, #"/types/4/values/1: value "Off" occurs twice"#),
  Mistake(#"{"tag": "failed""#, #"{"tag": "idle""#, #"/types/7/variants/1: tag "idle" occurs twice"#),
  Mistake(#""params": "json""#, #""params": "Thing""#, #"/methods/4/params: expected properties or "json""#),
  Mistake(#""result": "Thing""#, #""result": "Mode""#, "expected an object, a union or an opaque type, found Mode"),
  Mistake(#""since": "0.2.0""#, #""since": "soon""#, "expected a version such as 0.1.0"),
  Mistake(#""since": "0.2.0""#, #""since": "0.10.0""#, "0.10.0 is newer than 0.2.0 in VERSION"),
  Mistake("0.2.0", "two", #"VERSION: /: expected a version such as 0.1.0, found "two""#, in: "VERSION"),
  Mistake(#""type": {"array": "Thing"}"#, #""type": "Thing""#, "Thing contains itself"),
  Mistake(
    #""code": -31001"#, #""code": 7"#, "expected JSON-RPC's, LSP's or -31999...-31000, found 7", in: "errors.json"),
  Mistake(#""doc": "The sample's errors.","#, "", "errors.json: /doc: expected string", in: "errors.json"),
  Mistake(#", "example": {"kind": "internalError"}"#, "", "/errors/1/example: expected object", in: "errors.json"),
  Mistake(#", "example": "a""#, "", "/types/0/example: expected a value of the type, found nothing"),
  Mistake(#""example": "off""#, #""example": "on""#, #"/types/4/example: expected one of "off""#),
  Mistake(#""model": "Sample.Mode""#, #""model": "Mode""#, "/types/4/model: expected an enumeration after its module"),
  Mistake(#""strict": "untagged""#, #""strict": "no""#, #"/types/5/strict: expected one of "always""#),
  Mistake(#""include": ["Choice"]"#, #""include": ["Choose"]"#, "/methods/3/include/0: there is no group Choose"),
  Mistake(#""errors": ["busy"]"#, #""errors": []"#, "no method answers busy"),
  Mistake(#""include": ["Choice"], "#, "", "/groups/0: no method includes group Choice"),
  Mistake(
    #""include": ["Choice"], "params": []"#, #""include": ["Choice"], "params": "json""#,
    "/methods/3/include/0: params of any form include nothing"),
  Mistake(
    #""include": ["Choice"], "params": []"#,
    #""include": ["Choice"], "params": [{"name": "most", "type": "string", "doc": "Another."}]"#,
    "property most occurs twice"),
  Mistake(#""shape": "task""#, #""shape": "query""#, "/methods/3/part: only tasks answer in parts"),
  Mistake(#""name": "Title", "kind""#, #""name": "Choice", "kind""#, "/groups/0/name: type Choice is defined twice"),
  Mistake(
    #""doc": "All kinds of members.", "since": "0.2.0",\#n      "properties": ["#,
    #""doc": "All kinds of members.", "since": "0.2.0", "collection": "sampleThings", "properties": [\#n"#
      + #"{"name": "hue", "type": "string", "settable": true, "saved": "written", "doc": "Its color."},"#,
    #"members of it are settable, and no command has its "members""#),
  Mistake(#""undo": true, "document": "none""#, #""undo": true"#, "/kinds/0/document: expected one of"),
  Mistake(#""undo": true"#, #""undo": true, "after": "things""#, "no order of collections has sampleThings behind things"),
  Mistake(
    #""doc": "All kinds of members.", "since": "0.2.0","#,
    #""doc": "All kinds of members.", "since": "0.2.0", "collection": "things","#,
    "there is no kind with the collection things"),
  Mistake(#""common""#, #""common" 1"#, "errors.json: /: at byte", in: "errors.json"),
]

struct DefinitionChecksTests {
  @Test(arguments: mistakes)
  func `an error is reported with its path`(mistake: Mistake) throws {
    try withTemporaryFolder { folder in
      let copy = folder.appending(path: "Protocol")
      try FileManager.default.copyItem(at: URL(filePath: ProtocolGen.samples), to: copy)
      let file = copy.appending(path: mistake.file)
      let text = try String(contentsOf: file, encoding: .utf8)
      let range = try #require(text.range(of: mistake.change))
      try text.replacingCharacters(in: range, with: mistake.to).write(to: file, atomically: true, encoding: .utf8)

      let output = folder.appending(path: "swift").path
      let result = try ProtocolGen(copy.path, "--swift", output)
      #expect(result.status == 1)
      #expect(result.messages.contains(mistake.message), "\(result.messages)")
      #expect(!FileManager.default.fileExists(atPath: output))
    }
  }
}
