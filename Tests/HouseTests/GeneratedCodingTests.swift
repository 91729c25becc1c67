// Generated Swift on the wire: expectations with paths, defaults, texts that read back the same.

import GeoProtocol
import JSON
import Testing

private func decode<T: JSONDecodable>(_ type: T.Type, _ text: String) throws -> T {
  try JSONDocument(text).read { json throws in try T(from: json) }
}

private func text(_ value: some JSONEncodable) -> String {
  var writer = JSONWriter()
  value.encode(to: &writer)
  return writer.string
}

/// "path: expected, found" of the decoding error.
private func failure<T: JSONDecodable>(_ type: T.Type, _ text: String) throws -> String {
  try JSONDocument(text).read { json throws in
    do throws(JSONError) {
      _ = try T(from: json)
      return "no error"
    } catch {
      return "\(error.path(from: json)): \(error.expected), \(error.found)"
    }
  }
}

struct GeneratedCodingTests {
  typealias Thing = SampleProtocol.Thing

  @Test func `absent members get their defaults`() throws {
    let thing = try decode(Thing.self, #"{"serial": 1}"#)
    #expect(thing.width == 800 && thing.step == 2 && thing.title == "thing" && thing.isOpen)
    #expect(thing.mode == .default && thing.modes == [.off] && thing.tags.isEmpty)
    #expect(thing.id == nil && thing.scale == nil && thing.parts == nil)
    guard case .idle = thing.status else {
      Issue.record("\(thing.status)")
      return
    }
  }

  @Test(arguments: [
    (#"{"thing": {"serial": 1}, "meta": {"origin": "me"}, "workDoneToken": {"any": 1}}"#, nil),
    (#"{"thnig": {}}"#, "/thnig: thing"), (#"{"copys": 1}"#, "/copys: copies"), (#"{"colour": 1}"#, "/colour: -"),
    (#"{"meta": {"orgin": "me"}}"#, "/meta/orgin: origin"), (#"{"thing": {"Width": 1}}"#, "/thing/Width: width"),
    (#"{"thing": {"tags": {"any": "a"}, "anything": {"any": 1}}}"#, nil),
    (#"{"thing": {"shapes": [{"type": "A", "any": 1}, {"at": [], "any": 1}]}}"#, "/thing/shapes/1/any: -"),
    (#"{"thing": {"parts": [{}, {"parts": [{"seral": 1}]}]}}"#, "/thing/parts/1/parts/0/seral: serial"),
    (
      #"{"thing": {"status": {"type": "waiting", "cause": {"type": "idle", "reason": "a"}}}}"#,
      "/thing/status/cause/reason: -"
    ),
    (#"{"thing": {"status": {"type": "other", "any": 1}}, "copies": {"any": 1}}"#, nil), ("[]", nil),
  ])
  func `unknown members are found at every depth, with the nearest name`(
    input: String, expected: String?
  ) throws {
    let shape = try #require(ParamMembers.params["sample/make"])
    let found: String? = try JSONDocument(input).read { json throws in
      do throws(UnknownMember) { try shape.check(json) } catch {
        return "\(error.value.path(from: json)): \(error.nearest ?? "-")"
      }
      return nil
    }
    #expect(found == expected)
  }

  @Test func `null is the same as absent`() throws {
    let thing = try decode(Thing.self, #"{"serial": 1, "width": null, "id": null, "anything": null}"#)
    #expect(thing.width == 800 && thing.id == nil && thing.anything == nil)
  }

  @Test(arguments: [
    ("{}", "/serial: integer in 0...99999999999999, absent"),
    (#"{"serial": -1}"#, "/serial: integer in 0...99999999999999, -1"),
    (#"{"serial": "a"}"#, "/serial: integer in 0...99999999999999, string"),
    (#"{"serial": 1.5}"#, "/serial: integer in 0...99999999999999, 1.5"),
    (#"{"serial": 1, "width": 0.5}"#, "/width: number in 1...16384, 0.5"),
    (#"{"serial": 1, "step": 0}"#, "/step: integer above 0 and at most 9, 0"),
    (#"{"serial": 1, "scale": 0}"#, "/scale: number above 0, 0"),
    (#"{"serial": 1, "id": "A"}"#, #"/id: string matching [a-z]{1,4}, "A""#),
    (#"{"serial": 1, "title": ""}"#, #"/title: string of 1 to 8 characters, """#),
    (#"{"serial": 1, "mode": "on"}"#, #"/mode: one of "off", "default", "Upper-case", "on""#),
    (#"{"serial": 1, "modes": []}"#, "/modes: array of 1 to 2 elements, array"),
    (#"{"serial": 1, "modes": ["off", "on"]}"#, #"/modes/1: one of "off", "default", "Upper-case", "on""#),
    (#"{"serial": 1, "rows": [[1], [2, "x"]]}"#, "/rows/1/1: number, string"),
    (#"{"serial": 1, "tags": {"a/b": 1}}"#, "/tags/a~1b: string of 1 to 8 characters, integer"),
    (#"{"serial": 1, "parts": [{"serial": 1}, {}]}"#, "/parts/1/serial: integer in 0...99999999999999, absent"),
    (
      #"{"serial": 1, "status": {"type": "lost"}}"#,
      #"/status/type: one of "idle", "failed", "waiting", "done", "lost""#
    ),
    (#"{"serial": 1, "status": {}}"#, #"/status/type: one of "idle", "failed", "waiting", "done", absent"#),
    (#"{"serial": 1, "status": {"type": "failed"}}"#, "/status/reason: string of 1 to 8 characters, absent"),
    (#"{"serial": 1, "status": 3}"#, #"/status: object with a "type", integer"#),
    (#"{"serial": 1, "shapes": [1, null]}"#, "/shapes/1: object, null"),
    ("[1]", ": object with `serial`, array"),
    ("[]", "/serial: integer in 0...99999999999999, absent"),
  ])
  func `an error has path, expected and found`(input: String, expected: String) throws {
    #expect(try failure(Thing.self, input) == expected)
  }

  @Test(arguments: ["null", "[]", "{}"])
  func `params that are null or empty mean none`(input: String) throws {
    #expect(try decode(SampleProtocol.Find.Params.self, input).id == nil)
    #expect(try failure(SampleProtocol.Make.Params.self, input) == "/thing: object with `serial`, absent")
  }

  @Test func `params of a group are read through its protocol`() throws {
    let params: any SampleProtocol.Choice = try decode(SampleProtocol.Work.Params.self, #"{"only": [7]}"#)
    #expect(params.only == [7])
    #expect(params.most == 10)
    #expect(try failure(SampleProtocol.Work.Params.self, #"{"most": 0}"#).hasPrefix("/most: "))
  }

  @Test func `params that are absent mean none`() throws {
    try JSONDocument("{}").read { json throws in
      let params = json["params"]
      #expect(try SampleProtocol.Find.Params(from: params).id == nil)
      do throws(JSONError) {
        _ = try SampleProtocol.Make.Params(from: params)
        Issue.record("thing is missing")
      } catch {
        #expect(error.path(from: params) == "/thing")
      }
    }
  }

  @Test(arguments: ["[1]", "3", #""x""#])
  func `params that are something else are refused`(input: String) throws {
    #expect(try failure(SampleProtocol.Find.Params.self, input).hasPrefix(": object, "))
  }

  @Test(arguments: [
    #"{"serial":1,"width":800.0,"step":2,"title":"thing","isOpen":true,"mode":"default","modes":["off"],"status":{"type":"idle"},"tags":{}}"#,
    #"{"id":"a","serial":1,"width":1.5,"step":9,"title":"ä\"\\","isOpen":false,"mode":"Upper-case","modes":["off","default"],"status":{"type":"waiting","cause":{"type":"failed","reason":"x"}},"scale":0.1,"numbers":[1.0,2.5],"rows":[[1.0],[]],"tags":{"a":"1","b":"2"},"shapes":[{"type":"Point"}],"parts":[],"anything":[1,null]}"#,
    #"{"serial":1,"width":800.0,"step":2,"title":"thing","isOpen":true,"mode":"off","modes":["off"],"status":{"type":"done","count":3,"note":"n"},"tags":{}}"#,
  ])
  func `values read are written again unchanged`(input: String) throws {
    let document = try JSONDocument(input)
    let output = try document.read { json throws in text(try Thing(from: json)) }
    #expect(output == input)
  }

  @Test func `absent optional members are not written`() {
    #expect(text(SampleProtocol.Make.Result(id: "a")) == #"{"id":"a"}"#)
    #expect(text(SampleProtocol.Work.Result()) == "{}")
  }

  @Test func `the tables contain every method and error`() {
    #expect(WireProtocol.methods.map(\.name).contains("sample/make"))
    #expect(WireProtocol.methods.first { $0.name == "sample/make" }?.errors == [.unknownId])
    #expect(WireProtocol.methods.first { $0.name == "sample/work" }?.errors == [.busy])
    #expect(ErrorKind.unknownId.code == -31001)
    #expect(WireProtocol.version == "0.2")
  }

  @Test func `the document for rpc discover is one line of JSON`() throws {
    let text = "\(OpenRPCDocument.text)"
    #expect(!text.contains("\n"))
    let name = try JSONDocument(text).read { json throws in try json["methods"][0]["name"].string() }
    #expect(name == "shutdown")
  }
}

/// GeoProtocol's implementation of the protocol's patterns.
extension StringChecks {
  static func id(_ text: String) -> Bool {
    (1...4).contains(text.utf8.count) && text.utf8.allSatisfy { (0x61...0x7A).contains($0) }
  }
}
