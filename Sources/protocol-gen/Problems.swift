// Collects all errors of a definition, so that they are reported together.

/// A position in a definition's file, as a JSON Pointer.
struct Place: Hashable, CustomStringConvertible {
  var file: String
  var pointer = ""

  func appending(_ step: String) -> Place { Place(file: file, pointer: pointer + "/" + step) }
  func appending(_ index: Int) -> Place { appending(String(index)) }
  var description: String { file + ": " + (pointer.isEmpty ? "/" : pointer) }
}

final class Problems {
  private(set) var messages: [String] = []

  func report(_ place: Place, _ message: String) { messages.append("\(place): \(message)") }

  func expected(_ expectation: String, at place: Place, found: Tree?) {
    report(place, "expected \(expectation), found \(found?.kindName ?? "nothing")")
  }
}
