// Builds documents from values, without text and parser.

import CJansson

/// Makes the nodes of a document. For values that come as text see ``JSONDocument/init(_:maximum:)``.
///
/// ```swift
/// let document = JSONDocument { tree in tree.object([("scale", tree.number(1000))]) }
/// ```
public struct JSONTree {
  /// A node, which belongs to the array, object or document that it is handed to. Used exactly once.
  public struct Node { let pointer: UnsafeMutablePointer<json_t>? }

  init() {}

  public func null() -> Node { Node(pointer: json_null()) }
  public func bool(_ flag: Bool) -> Node { Node(pointer: flag ? json_true() : json_false()) }
  public func integer(_ number: Int64) -> Node { Node(pointer: json_integer(json_int_t(number))) }

  /// Null for NaN and infinities, as in text.
  public func number(_ number: Double) -> Node { number.isFinite ? Node(pointer: json_real(number)) : null() }

  public func string(_ text: String) -> Node {
    var text = text
    return Node(
      pointer: text.withUTF8 { bytes in Self.withCharacters(bytes) { json_stringn_nocheck($0, bytes.count) } })
  }

  public func array(_ elements: some Sequence<Node>) -> Node {
    let array = json_array()
    for element in elements { json_array_append_new(array, element.pointer) }
    return Node(pointer: array)
  }

  /// - Parameter members: in order, no name twice.
  public func object(_ members: some Sequence<(name: String, value: Node)>) -> Node {
    let object = json_object()
    for (name, value) in members {
      var name = name
      name.withUTF8 { bytes in
        _ = Self.withCharacters(bytes) { json_object_setn_new_nocheck(object, $0, bytes.count, value.pointer) }
      }
    }
    return Node(pointer: object)
  }

  /// jansson refuses a null pointer, which an empty text may have.
  private static func withCharacters<R>(
    _ bytes: UnsafeBufferPointer<UInt8>, _ body: (UnsafePointer<CChar>) -> R
  ) -> R {
    let empty: StaticString = ""
    return UnsafeRawPointer(bytes.baseAddress ?? empty.utf8Start).withMemoryRebound(
      to: CChar.self, capacity: bytes.count, body)
  }
}
