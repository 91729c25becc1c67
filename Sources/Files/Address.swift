// Addresses of data in the network, and the secrets in them, which are shown nowhere.

/// A user name and a password, held in memory alone.
public struct Credentials: Hashable, Sendable {
  public let user: String?
  public let password: String

  public init(user: String?, password: String) { (self.user, self.password) = (user, password) }
}

/// An address, cut where its secrets are.
///
/// ```swift
/// Address("https://me:secret@host/a?token=abc").shown  // "https://me:***@host/a?token=***"
/// ```
public struct Address {
  /// Stands for a secret that is not shown.
  private static let mask = "***"
  /// Parameters whose values are secrets, in lower case and without `-` and `_`.
  private static let secretNames: Set<String> = [
    "token", "accesstoken", "authtoken", "auth", "authkey", "authorization", "apikey", "key", "accesskey", "subscriptionkey",
    "sig", "signature", "secret", "clientsecret", "password", "passwd", "pwd", "pass", "session", "sessiontoken", "jwt",
    "xamzsignature", "xamzsecuritytoken", "xamzcredential", "xgoogsignature", "xgoogcredential",
  ]

  private enum Part {
    case plain(String)
    case user(String)
    case secret(String)
  }
  private var parts: [Part] = []
  /// Host and port, as the address has them.
  private var place = ""
  private let isSecure: Bool

  /// Any text; a path, but for one of GDAL's virtual files, and one without `://`, has no secrets.
  public init(_ text: String) {
    isSecure = text.prefix { $0 != ":" }.lowercased() == "https"
    let bytes = Array(text.utf8)
    func string(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
    let marks = Array("://".utf8)
    guard bytes.first != UInt8(ascii: "/") || text.utf8.starts(with: "/vsi".utf8), let start = bytes.indices.first(where: { bytes[$0...].starts(with: marks) }).map({ $0 + 3 }) else {
      parts = [.plain(text)]
      return
    }
    func end(_ marks: String) -> Int { bytes[start...].firstIndex { marks.utf8.contains($0) } ?? bytes.count }
    var authority = start..<end("/?#")
    let at = UInt8(ascii: "@")
    // A password with a slash that is not encoded: what follows the colon is no port.
    if !bytes[authority].contains(at), let last = bytes[start...].lastIndex(of: at),
      let colon = bytes[authority].firstIndex(of: UInt8(ascii: ":")), bytes[start] != UInt8(ascii: "["),
      !bytes[(colon + 1)..<authority.upperBound].allSatisfy({ (48...57).contains($0) })
    {
      authority = start..<(bytes[last...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.count)
    }
    parts.append(.plain(string(0..<start)))
    var host = authority
    if let last = bytes[authority].lastIndex(of: at) {
      let colon = bytes[start..<last].firstIndex(of: UInt8(ascii: ":"))
      parts.append(.user(string(start..<(colon ?? last))))
      if let colon { parts += [.plain(":"), .secret(string((colon + 1)..<last))] }
      parts.append(.plain("@"))
      host = (last + 1)..<authority.upperBound
    }
    place = string(host)
    // The query, and what follows `#`, where some services have their tokens.
    var next = host.lowerBound
    for separator in bytes[host.upperBound...].indices where "?&#;".utf8.contains(bytes[separator]) {
      guard let equal = bytes[separator...].firstIndex(of: UInt8(ascii: "=")) else { break }
      let name = Self.decoded(bytes[(separator + 1)..<equal]).lowercased().filter { $0 != "-" && $0 != "_" }
      guard Self.secretNames.contains(name) else { continue }
      let valueEnd = bytes[(equal + 1)...].firstIndex { "&#;".utf8.contains($0) } ?? bytes.count
      parts += [.plain(string(next..<(equal + 1))), .secret(string((equal + 1)..<valueEnd))]
      next = valueEnd
    }
    parts.append(.plain(string(next..<bytes.count)))
  }

  private func text(_ secret: (String) -> String) -> String {
    parts.map {
      switch $0 {
      case .plain(let text), .user(let text): text
      case .secret(let value): secret(value)
      }
    }.joined()
  }

  /// The address without its secrets.
  public var shown: String { text { $0.isEmpty ? "" : Self.mask } }

  /// Whether a secret is missing, as in an address that was shown.
  public var lacksSecret: Bool { secrets.contains(Self.mask) }

  /// The secrets, as they stand there.
  public var secrets: [String] { parts.compactMap { if case .secret(let value) = $0, !value.isEmpty { value } else { nil } } }

  /// The host, and the port that is connected to.
  public var host: (name: String, port: String) {
    let isNumeric = place.utf8.first == UInt8(ascii: "[")
    let cut = place.utf8.lastIndex(of: UInt8(ascii: ":"))
    let bracket = place.utf8.lastIndex(of: UInt8(ascii: "]"))
    let own = isSecure ? "443" : "80"
    guard let cut, bracket.map({ $0 < cut }) ?? true else { return (isNumeric ? String(place.dropFirst().dropLast()) : place, own) }
    let name = String(place[..<cut])
    return (isNumeric ? String(name.dropFirst().dropLast()) : name, String(place[place.utf8.index(after: cut)...]))
  }

  /// The address with the password in place of those parameters that lack it; where none does, as that of the user.
  public func with(_ credentials: Credentials) -> String {
    let password = Self.encoded(credentials.password)
    var result = self
    let isParameter = parts.enumerated().contains { index, part in
      if case .secret(Self.mask) = part, index > 0, case .plain(let before) = parts[index - 1] { before != ":" } else { false }
    }
    if !isParameter || credentials.user != nil {
      var user = credentials.user.map(Self.encoded) ?? ""
      if case .user(let own)? = parts.dropFirst().first {
        if credentials.user == nil { user = own }
        let end = parts.firstIndex { if case .plain("@") = $0 { true } else { false } } ?? 1
        result.parts.removeSubrange(1...end)
      }
      result.parts.insert(contentsOf: [.user(user), .plain(":"), .secret(password), .plain("@")], at: 1)
    }
    return result.text { $0 == Self.mask ? password : $0 }
  }

  /// Without percent encoding.
  private static func decoded(_ text: ArraySlice<UInt8>) -> String {
    var result: [UInt8] = []
    var rest = text
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) {
        result.append(code)
        rest = rest.dropFirst(2)
      } else {
        result.append(byte)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func encoded(_ text: String) -> String {
    text.utf8.map { byte in
      let isPlain = (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || "-._~".utf8.contains(byte)
      let digits = String(byte, radix: 16, uppercase: true)
      return isPlain ? String(UnicodeScalar(byte)) : "%" + (digits.utf8.count == 1 ? "0" : "") + digits
    }.joined()
  }
}
