// Spelling of names in each language, and reserved names.

enum Names {
  static func isLowerCamel(_ name: String) -> Bool { name.wholeMatch(of: /[a-z][A-Za-z0-9]*/) != nil }
  static func isUpperCamel(_ name: String) -> Bool { name.wholeMatch(of: /[A-Z][A-Za-z0-9]*/) != nil }
  /// Whether it is a valid value of an enumeration: `Point`, `off`, `utf-8`.
  static func isEnumValue(_ name: String) -> Bool { name.wholeMatch(of: /[A-Za-z][A-Za-z0-9_-]*/) != nil }

  static func upperCamel(_ name: String) -> String { name.prefix(1).uppercased() + name.dropFirst() }
  static func lowerCamel(_ name: String) -> String { name.prefix(1).lowercased() + name.dropFirst() }

  /// The part after the domain: `overlay/addGraphics` -> `addGraphics`, `$/cancelRequest` -> `cancelRequest`.
  static func verb(_ method: String) -> String {
    String(method.split(whereSeparator: { $0 == "/" || $0 == "." }).last ?? "")
  }

  /// `addGraphics` -> `add_graphics`, `xMin` -> `x_min`, `isNoData` -> `is_no_data`.
  static func snake(_ name: String) -> String {
    var result = ""
    var wasLower = false
    for character in name {
      if character.isUppercase && wasLower { result += "_" }
      wasLower = !character.isUppercase
      result += character.lowercased()
    }
    return result
  }

  /// The Swift case of an enumeration value.
  static func swiftCase(_ value: String) -> String {
    let words = value.split(whereSeparator: { $0 == "-" || $0 == "_" })
    let joined = lowerCamel(String(words.first ?? "")) + words.dropFirst().map { upperCamel(String($0)) }.joined()
    return swiftKeywords.contains(joined) ? "`\(joined)`" : joined
  }

  private static func words(_ text: String) -> Set<String> { Set(text.split(separator: " ").map(String.init)) }

  static let swiftKeywords = words(
    """
    associatedtype borrowing class consuming deinit enum extension fileprivate func import init inout internal let nonisolated \
    open operator precedencegroup private protocol public rethrows static struct subscript typealias var actor any as \
    await break case catch continue default defer do else fallthrough false for guard if in is nil repeat return self \
    some super switch throw throws true try where while
    """)

  /// Names that keys must not have: keywords, and names used in generated code.
  static let reserved: [(language: String, words: Set<String>)] = [
    ("Swift", swiftKeywords),
    (
      "Python",
      words(
        """
        and as assert async await break class continue def del elif else except finally for from global if import in is \
        lambda nonlocal not or pass raise return try while with yield self
        """)
    ),
    (
      "JavaScript",
      words(
        """
        await break case catch class const continue debugger default delete do else enum export extends false finally for \
        function if implements import in instanceof interface let new null package private protected public return static \
        super switch this throw true try typeof var void while with yield arguments eval constructor
        """)
    ),
    (
      "Lua",
      words(
        "and break do else elseif end false for function goto if in local nil not or repeat return then true until while"
      )
    ),
    ("Emacs Lisp", words("nil t")),
    ("generated code", words("json writer meta")),
  ]

  /// Names that types must not have: those used in generated code.
  static let reservedTypes = words(
    """
    Any AnyObject Array Bool Dictionary Double ErrorKind Int JSONDecodable JSONEncodable JSONError JSONOpaque JSONValue JSONWriter \
    Literal NotRequired Optional Params Protocol Result Self Sendable StaticString String Swift Type TypedDict Union WireEnum
    """)

  /// Methods and notifications without a domain prefix, with names from JSON-RPC, LSP and OpenRPC. All belong to the domain session.
  static let unprefixed = words("initialize initialized shutdown exit rpc.discover")
}
