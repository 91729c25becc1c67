// Text helpers shared by several outputs.

enum Prose {
  /// Joins the lines of each paragraph. Lists, tables and code keep their line breaks.
  static func unfolded(_ doc: String) -> String {
    var lines: [String] = []
    var isCode = false
    for line in doc.split(separator: "\n", omittingEmptySubsequences: false) {
      let isFence = line.hasPrefix("```")
      let starts = isCode || isFence || line.isEmpty || "-*|# >0123456789".contains(line.first ?? " ")
      if starts || lines.last?.isEmpty ?? true || lines.last?.hasPrefix("```") ?? false {
        lines.append(String(line))
      } else {
        lines[lines.count - 1] += " " + line
      }
      if isFence { isCode.toggle() }
    }
    return lines.joined(separator: "\n")
  }

  /// The first sentence.
  static func summary(_ doc: String) -> String {
    let paragraph = doc.prefix { $0 != "\n" }
    let end = paragraph.indices.first { paragraph[$0...].hasPrefix(". ") }
    return end.map { String(paragraph[...$0]) } ?? String(paragraph)
  }

  /// The name of a method's result type: `OverlayAddGraphicsResult`, or that of its declared type.
  static func resultName(_ method: Method) -> String {
    if case .type(.named(let name)) = method.result { return name }
    let verb = Names.upperCamel(Names.verb(method.name))
    // Lifecycle methods such as initialize and shutdown have no domain in their name.
    return (method.name.contains("/") ? Names.upperCamel(method.domain) : "") + verb + "Result"
  }

  /// The name of the type of a result's part: `FeatureQueryPart`.
  static func partName(_ method: Method) -> String {
    Names.upperCamel(method.domain) + Names.upperCamel(Names.verb(method.name)) + "Part"
  }
}
