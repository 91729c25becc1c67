// What traces that clients see leave out: passwords, and secrets in addresses.

extension String {
  /// The JSON text with `***` for the values of members named `password`, for users and passwords in addresses, and for the values in their
  /// queries.
  var withoutSecrets: String {
    let bytes = Array(utf8)
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count)
    var (at, isSecret) = (0, false)
    while at < bytes.count {
      guard bytes[at] == UInt8(ascii: "\"") else {
        text.append(bytes[at])
        at += 1
        continue
      }
      var end = at + 1
      while end < bytes.count, bytes[end] != UInt8(ascii: "\"") { end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1 }
      end = min(end, bytes.count)
      let string = bytes[(at + 1)..<end]
      let isName = end + 1 < bytes.count && bytes[end + 1] == UInt8(ascii: ":")
      text.append(UInt8(ascii: "\""))
      if isSecret, !isName { text += Array("***".utf8) } else { Self.appendAddress(string, to: &text) }
      if end < bytes.count { text.append(UInt8(ascii: "\"")) }
      isSecret = isName && string.elementsEqual("password".utf8)
      at = end + 1
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func appendAddress(_ string: ArraySlice<UInt8>, to text: inout [UInt8]) {
    let mark = Array("://".utf8)
    guard let start = string.indices.dropLast(2).first(where: { string[$0..<$0 + 3].elementsEqual(mark) }) else {
      return text += string
    }
    text += string[..<(start + 3)]
    let host = string[(start + 3)...].prefix { !"/?#".utf8.contains($0) }
    if let user = host.lastIndex(of: UInt8(ascii: "@")) { text += Array("***".utf8) + host[user...] } else { text += host }
    var isValue = false
    for byte in string[host.endIndex...] {
      if isValue, byte != UInt8(ascii: "&") { continue }
      text.append(byte)
      isValue = byte == UInt8(ascii: "=")
      if isValue { text += Array("***".utf8) }
    }
  }
}
