// Which values a path in the state tree may lead to: compares its names with generated tables.

import JSON

/// The type of a value of the state tree, as far as the definition states it.
///
///     try StateShapes.root.check(["views", "v1", "viewPoint"])  // did you mean /views/v1/viewpoint?
package indirect enum StateShape: Sendable {
  case boolean, integer, number, string
  /// The id of an object. A path may go on into that object.
  case reference
  /// A value of any type.
  case any
  case object([(name: String, shape: StateShape)])
  /// Elements by index, or by `@` and their id.
  case list(StateShape)
  /// Values under names that are not in the definition, such as ids.
  case map(StateShape)
  /// A type by reference, since it may contain itself.
  case named(@Sendable () -> StateShape)

  /// The shape behind a reference.
  package var resolved: StateShape { if case .named(let shape) = self { shape().resolved } else { self } }

  /// A name in a path that no value can have.
  package struct Fault: Error {
    /// Index of the name in the path.
    package let index: Int
    /// The names there are; empty below a value without parts.
    package let known: [String]
    /// Whether the path goes on below an id.
    var isBelowReference = false
  }

  /// The shapes that values at a path can have, without duplicates of unknown ones; `*` in a path matches any name.
  ///
  /// - Parameter followsReferences: whether the path may go on into the object that an id refers to.
  /// - Throws: when no value can be at the path.
  package func shapes(
    at names: ArraySlice<String>, followsReferences: Bool = true
  ) throws(Fault) -> [StateShape] {
    guard let name = names.first else { return [self] }
    let rest = names.dropFirst()
    switch self {
    case .any: return [.any]
    case .reference where followsReferences: return [.any]
    case .boolean, .integer, .number, .string: throw Fault(index: names.startIndex, known: [])
    case .reference: throw Fault(index: names.startIndex, known: [], isBelowReference: true)
    case .named(let shape): return try shape().shapes(at: names, followsReferences: followsReferences)
    case .map(let element): return try element.shapes(at: rest, followsReferences: followsReferences)
    case .list(let element):
      guard name == "*" || name.hasPrefix("@") || Int(name).map({ String($0) == name && $0 >= 0 }) == true else {
        throw Fault(index: names.startIndex, known: ["*"])
      }
      return try element.shapes(at: rest, followsReferences: followsReferences)
    case .object(let members):
      let matching = members.filter { name == "*" || $0.name == name }
      var deepest = Fault(index: names.startIndex, known: members.map(\.name))
      var found: [StateShape] = []
      for member in matching {
        do throws(Fault) { found += try member.shape.shapes(at: rest, followsReferences: followsReferences) } catch {
          if error.index > deepest.index { deepest = error }
        }
      }
      if found.isEmpty { throw deepest }
      return found
    }
  }
}

extension StateShape.Fault {
  /// The message, and what is expected at the path.
  package func described(_ names: [String]) -> (message: String, expected: String) {
    let above = "/" + names[..<index].joined(separator: "/")
    guard !known.isEmpty else {
      let text = isBelowReference ? "is the id of an object" : "has no parts"
      return ("The value at \(above) \(text).", isBelowReference ? "the path of that object, or \(above)" : above)
    }
    let suggestion = Suggestion(for: names[index], among: known)
    let place = index == 0 ? "The state tree" : above
    guard known != ["*"] else {
      return ("\(place) is a list, without `\(names[index])`.", "an index, or @ and the id of an item")
    }
    let nearest = suggestion.meant.map { "/" + (names[..<index] + [$0] + names[(index + 1)...]).joined(separator: "/") }
    return (
      "\(place) has no `\(names[index])`\(suggestion.end)",
      nearest ?? "one of \(suggestion.nearest.map { "`\($0)`" }.joined(separator: ", "))"
    )
  }
}
