// Finds the known name that was probably meant by an unknown one, for messages.

package struct Suggestion {
  /// At most three known names, nearest first.
  package let nearest: [String]
  /// The nearest name, if it is similar enough to have been meant.
  package let meant: String?
  private let count: Int

  /// Maximum number of known names that are compared.
  private static let limit = 1_000
  /// Maximum length of compared names: the time grows with the product of the lengths.
  private static let lengthLimit = 256

  package init(for name: String, among known: [String]) {
    count = known.count
    let wanted = Array(name.lowercased().utf8.prefix(Self.lengthLimit))
    let ranked = known.prefix(Self.limit).enumerated().map { index, known in
      (index, known, Self.distance(wanted, Array(known.lowercased().utf8.prefix(Self.lengthLimit))))
    }
    .sorted { ($0.2, $0.0) < ($1.2, $1.0) }
    let similar = ranked.first.flatMap { $0.2 <= (wanted.count + 2) / 3 ? $0.1 : nil }
    meant = Self.reordered(name, among: known) ?? similar ?? Self.part(name.lowercased(), among: known)
    nearest =
      (meant.map { [$0] } ?? []) + ranked.map(\.1).filter { [meant] in $0 != meant }.prefix(meant == nil ? 3 : 2)
  }

  /// The only known name of the same words: `createMap` for `map/create`, `query_features` for `feature/query`.
  private static func reordered(_ name: String, among known: [String]) -> String? {
    let wanted = words(name)
    return wanted.count > 1 ? only(known.prefix(limit).filter { words($0) == wanted }) : nil
  }

  /// The only known name that begins or ends with a name, or with which the name ends: `desc` for `descending`.
  private static func part(_ name: String, among known: [String]) -> String? {
    let candidates = known.prefix(limit).filter { known in
      let known = known.lowercased()
      return name.utf8.count >= 3 && (known.hasPrefix(name) || known.hasSuffix(name))
        || known.utf8.count >= 4 && name.hasSuffix(known)
    }
    return only(candidates)
  }

  private static func only(_ names: [String]) -> String? { names.count == 1 ? names.first : nil }

  /// The words of a name in lower case and singular, sorted.
  private static func words(_ name: String) -> [String] {
    var words: [String] = [""]
    for scalar in name.unicodeScalars.prefix(lengthLimit) {
      if !scalar.properties.isAlphabetic || scalar.properties.isUppercase { words.append("") }
      if scalar.properties.isAlphabetic { words[words.count - 1] += scalar.properties.lowercaseMapping }
    }
    return words.filter { !$0.isEmpty }.map { $0.hasSuffix("s") ? String($0.dropLast()) : $0 }.sorted()
  }

  /// The end of a message about an unknown name: suggestions, if there are any.
  package var end: String {
    guard !nearest.isEmpty else { return "." }
    let more = count > nearest.count ? " and \(count - nearest.count) more" : ""
    let list = "\(nearest.map { "`\($0)`" }.joined(separator: ", "))\(more)."
    guard let meant else { return "; there \(count == 1 ? "is" : "are") \(list)" }
    return ", did you mean `\(meant)`?" + (count > 1 ? " There are \(list)" : "")
  }

  /// The number of insertions, deletions, substitutions and swaps of neighbours from one text to the other (optimal string alignment).
  private static func distance(_ first: [UInt8], _ second: [UInt8]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...second.count)
    for (row, byte) in first.enumerated() {
      var current = [row + 1]
      for (column, other) in second.enumerated() {
        var best = min(last[column] + (byte == other ? 0 : 1), last[column + 1] + 1, current[column] + 1)
        if row > 0, column > 0, byte == second[column - 1], first[row - 1] == other {
          best = min(best, beforeLast[column - 1] + 1)
        }
        current.append(best)
      }
      (beforeLast, last) = (last, current)
    }
    return last[second.count]
  }
}
