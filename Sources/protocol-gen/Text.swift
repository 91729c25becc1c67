// Builds generated text: indented lines, wrapped prose.

struct Lines {
  private(set) var lines: [String] = []
  private var depth = 0
  private let unit: String

  init(indent: Int = 2) { unit = String(repeating: " ", count: indent) }

  /// A Swift file that begins with its imports.
  init(imports: [String]) {
    self.init()
    add(SwiftTypes.header)
    for module in imports { add("import \(module)") }
    if !imports.isEmpty { add() }
  }

  var text: String { lines.joined(separator: "\n") + "\n" }
  var indentation: Int { depth * unit.utf8.count }

  mutating func add(_ line: String = "") {
    lines.append(line.isEmpty ? "" : String(repeating: unit, count: depth) + line)
  }

  mutating func block(_ opening: String, _ closing: String = "}", _ body: (inout Lines) -> Void) {
    add(opening)
    depth += 1
    body(&self)
    depth -= 1
    if !closing.isEmpty { add(closing) }
  }

  /// Writes comma-separated items between an opening and a closing, as many per line as fit.
  mutating func list(_ opening: String, _ items: [String], _ closing: String, width: Int) {
    block(opening, closing) { lines in
      for row in packed(items, width: width) { lines.add(row) }
    }
  }

  /// Writes a statement on one line if it fits, else with each part on its own line.
  mutating func fitting(_ head: String, _ parts: [String], width: Int = 118) {
    let line = ([head] + parts).joined(separator: " ")
    if line.count + indentation <= width {
      add(line)
    } else {
      block(head, "") { lines in
        for part in parts { lines.add(part) }
      }
    }
  }

  /// Writes wrapped prose with a prefix (`/// `).
  mutating func prose(_ text: String, prefix: String, width: Int = 118) {
    let room = width - indentation - prefix.count
    for line in wrapped(text, width: room) {
      add(line.isEmpty ? String(prefix.reversed().drop { $0 == " " }.reversed()) : prefix + line)
    }
  }
}

/// Lines with as many words as fit; words are not broken.
private func filled(_ words: [String], width: Int) -> [String] {
  var lines: [String] = []
  for word in words {
    if let line = lines.last, line.count + 1 + word.count <= width {
      lines[lines.count - 1] += " " + word
    } else {
      lines.append(word)
    }
  }
  return lines
}

/// Wraps at spaces; existing line breaks are kept.
func wrapped(_ text: String, width: Int) -> [String] {
  text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { paragraph -> [String] in
    let lines = filled(paragraph.split(separator: " ").map(String.init), width: width)
    return lines.isEmpty ? [""] : lines
  }
}

/// Comma-separated items, as many per line as fit.
func packed(_ items: [String], width: Int) -> [String] {
  filled(items.dropLast().map { $0 + "," } + items.suffix(1), width: width)
}

extension String {
  /// The text without line breaks, as a description in one paragraph.
  var flat: String { split(separator: "\n").joined(separator: " ") }

  /// "at least 0" in place of "of at least 0", for a separate note.
  var withoutOf: String { hasPrefix("of ") ? String(dropFirst(3)) : self }
}

extension Constraints {
  /// "in 1...16384", "above 0", "of at least 1 and below 5"; empty without bounds.
  var range: String {
    let from = minimum?.compact
    let to = maximum?.compact
    if let from, let to { return "in \(from)...\(to)" }
    let low = from.map { "of at least \($0)" } ?? exclusiveMinimum.map { "above \($0.compact)" }
    let high =
      to.map { (low == nil ? "of at most " : "at most ") + $0 } ?? exclusiveMaximum.map { "below \($0.compact)" }
    return [low, high].compactMap(\.self).joined(separator: " and ")
  }

  private static func counts(_ least: Int?, _ most: Int?, _ one: String, _ many: String) -> String {
    switch (least, most) {
    case (let least?, let most?) where least == most: "of \(least) \(least == 1 ? one : many)"
    case (let least?, let most?) where least > 0: "of \(least) to \(most) \(many)"
    case (_, let most?): "of at most \(most) \(most == 1 ? one : many)"
    case (let least?, nil): "of at least \(least) \(least == 1 ? one : many)"
    case (nil, nil): ""
    }
  }

  var length: String { Self.counts(minLength, maxLength, "character", "characters") }
  var itemCount: String { Self.counts(minItems, maxItems, "element", "elements") }

  /// The pattern without anchors, since it always matches the whole string.
  var wholePattern: String? {
    guard var body = pattern else { return nil }
    if body.hasPrefix("^") { body.removeFirst() }
    if body.hasSuffix("$") { body.removeLast() }
    return body
  }

  /// The expectation in an error: "integer in 0...9", "string matching [a-z]+".
  func expectation(of noun: String) -> String {
    let parts =
      switch noun {
      case "string": [wholePattern.map { "matching " + $0 } ?? length]
      case "array": [itemCount]
      default: [range]
      }
    return ([noun] + parts.filter { !$0.isEmpty }).joined(separator: " ")
  }
}
