// What `rpc.discover` and `session/describe` answer about the methods that a client asks for.

import GeoModel
import GeoProtocol
import JSON
import JSONRPC
import WireCoding

extension SessionProtocol.MethodChoice {
  /// Whether nothing is left out.
  var isEverything: Bool { methods == nil && domain == nil && detail == .full }

  /// - Throws: `invalidParams` with the nearest names, for a method or a domain that does not exist.
  func chosen() throws(RPCError) -> [MethodInfo] {
    let known = WireProtocol.methods
    let names = Set(known.map(\.name))
    for (index, name) in (methods ?? []).enumerated() where !names.contains(name) {
      throw RPCError(.invalidParams, no: "method", name, among: known.map(\.name), at: "/params/methods/\(index)", lists: false)
    }
    if let domain, !WireProtocol.domains.contains(domain) {
      throw RPCError(.invalidParams, no: "domain", domain, among: WireProtocol.domains, at: "/params/domain", lists: false)
    }
    let wanted = methods.map(Set.init)
    return known.filter { (wanted?.contains($0.name) ?? true) && (domain == nil || domain == $0.domain) }
  }
}

extension SessionService {
  package static func discover(_ params: Discover.Params, in world: World) throws -> Discover.Result {
    guard !params.isEverything else { return .written { $0.append(OpenRPCDocument.text) } }
    let names = Set(try params.chosen().map(\.name))
    guard let document else { throw RPCError.internalError("the OpenRPC document cannot be read") }
    return document.read { document in
      let excerpt = OpenRPCExcerpt(document: document, names: names, detail: params.detail)
      return JSONOpaque.made { excerpt.write(to: &$0) }
    }
  }

  /// Kept once a client has asked for a part of it: parsing it takes 13 ms.
  private static let document: JSONDocument? = {
    let text = OpenRPCDocument.text
    return try? JSONDocument(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }()
}

/// A part of the OpenRPC document, which is a document itself: some methods, with the schemas that they refer to.
private struct OpenRPCExcerpt {
  let document: JSONValue
  let names: Set<String>
  let detail: SessionProtocol.DescriptionDetail

  func write(to writer: inout JSONWriter) {
    let all = document["methods"]
    let methods = (0..<all.count).map { all[$0] }.filter { names.contains(Self.text($0["name"])) }
    writer.beginObject()
    copy(["openrpc", "info"], of: document, to: &writer)
    writer.key("methods")
    writer.array(methods) { method, writer in
      if detail == .full { method.encode(to: &writer) } else { writeShort(method, to: &writer) }
    }
    if detail == .full {
      writer.key("components")
      writer.beginObject()
      writer.key("schemas")
      writeSchemas(of: methods, to: &writer)
      writer.endObject()
    }
    writer.endObject()
  }

  private func writeShort(_ method: JSONValue, to writer: inout JSONWriter) {
    let hasParams = detail == .summary
    let params = hasParams ? method["params"] : JSONDocument.emptyObject.unownedRoot
    writer.beginObject()
    copy(hasParams ? ["name", "summary"] : ["name"], of: method, to: &writer)
    writer.key("params")
    writer.array((0..<params.count).map { params[$0] }) { param, writer in
      writer.beginObject()
      copy(["name", "required"], of: param, to: &writer)
      writer.key("schema")
      writer.beginObject()
      let schema = param["schema"]
      if schema["$ref"].isPresent { writer.member("title", Self.name(ofReference: schema["$ref"])) }
      copy(["type"], of: schema, to: &writer)
      writer.endObject()
      writer.endObject()
    }
    writer.key("result")
    writer.beginObject()
    copy(["name"], of: method["result"], to: &writer)
    writer.key("schema")
    writer.beginObject()
    writer.endObject()
    writer.endObject()
    writer.endObject()
  }

  /// Writes the schemas to which values refer, and those to which these refer, in the document's order.
  private func writeSchemas(of values: [JSONValue], to writer: inout JSONWriter) {
    let schemas = document["components"]["schemas"]
    var found: Set<String> = []
    var open = values
    while let value = open.popLast() {
      Self.forEachReference(in: value) { name in
        if found.insert(name).inserted { open.append(schemas.member(name)) }
      }
    }
    writer.object(schemas.members.filter { found.contains($0.name) })
  }

  private static func forEachReference(in value: JSONValue, _ body: (String) -> Void) {
    if value.kind == .array { for index in 0..<value.count { forEachReference(in: value[index], body) } }
    value.forEachMember { name, member in
      let isReference = name.elementsEqual("$ref".utf8) && member.kind == .string
      if isReference { body(Self.name(ofReference: member)) } else { forEachReference(in: member, body) }
    }
  }

  /// The name of the schema at the end of a reference: `#/components/schemas/Meta`.
  private static func name(ofReference value: JSONValue) -> String {
    text(value).split(separator: "/").last.map(String.init) ?? ""
  }

  private static func text(_ value: JSONValue) -> String { (try? value.string()) ?? "" }

  private func copy(_ members: [String], of value: JSONValue, to writer: inout JSONWriter) {
    for name in members where value.member(name).isPresent {
      writer.key(name)
      value.member(name).encode(to: &writer)
    }
  }
}
