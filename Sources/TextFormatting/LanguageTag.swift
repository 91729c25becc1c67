// Language and region of a BCP 47 tag.

/// A tag such as `de`, `de-CH` or `zh-Hant-TW`, in parts.
struct LanguageTag {
  /// In lower case.
  let language: String
  /// Two letters in upper case, or three digits; nil without one.
  let region: String?

  init(_ tag: String) {
    let parts = tag.split { $0 == "-" || $0 == "_" }
    language = parts.first?.lowercased() ?? ""
    // A single letter begins an extension, which contains no region.
    let subtags = parts.dropFirst().prefix { $0.utf8.count > 1 }
    region = subtags.first { part in
      part.utf8.count == 2 && part.allSatisfy(\.isLetter) || part.utf8.count == 3 && part.allSatisfy(\.isNumber)
    }?.uppercased()
  }
}
