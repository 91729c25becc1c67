// The members of a JSON-RPC message, and the request ids in a text that cannot be parsed.

import JSON
import Platform

/// Whether the bytes equal `word`; the caller has compared the counts.
@inline(__always)
private func same(_ bytes: UnsafePointer<UInt8>, _ word: StaticString) -> Bool {
  memcmp(bytes, word.utf8Start, word.utf8CodeUnitCount) == 0
}

/// The members of one message. Members unknown to JSON-RPC are ignored.
struct Envelope {
  var isVersion2 = false
  var id: JSONValue?
  var method: JSONValue?
  var params: JSONValue?
  var isResponse = false

  @inline(__always)
  init(_ message: JSONValue) {
    message.forEachMember { name, value in
      guard let start = name.baseAddress else { return }
      switch name.count {
      case 2 where start[0] == UInt8(ascii: "i") && start[1] == UInt8(ascii: "d"): id = value
      case 6 where same(start, "method"): method = value
      case 6 where same(start, "params"): params = value
      case 7 where same(start, "jsonrpc"):
        isVersion2 = value.withUTF8 { text in text.count == 3 && text.baseAddress.map { same($0, "2.0") } ?? false }
      case 5 where same(start, "error"): isResponse = true
      case 6 where same(start, "result"): isResponse = true
      default: break
      }
    }
  }
}

/// A text that the parser refuses, with the ids of its requests if it is JSON by RFC 8259.
struct UnreadableText: Error {
  let error: JSONSyntaxError
  private(set) var ids: [RequestID] = []
  private(set) var isBatch = false

  init(_ error: JSONSyntaxError, _ text: UnsafeRawBufferPointer) {
    self.error = error
    let isShallow = error.kind == .tooDeep || error.kind == .tooManyValues
    guard isShallow || error.kind == .malformed || error.kind == .duplicateKey,
      let document = JSONDocument.standIn(for: text, isShallow: isShallow)
    else { return }
    document.read { root in
      isBatch = root.kind == .array
      let written = isBatch ? MessageID.ofBatch(text) : [MessageID(in: text)?.id]
      for (index, id) in written.enumerated() {
        let entry = isBatch ? root[index] : root
        if let id, entry["method"].kind == .string { ids.append(id) }
      }
    }
  }
}
