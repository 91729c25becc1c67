// Collects all errors of a definition, so that they are reported together.

/// A path in a definition: the file, and a JSON Pointer in it.
struct Path: CustomStringConvertible {
  var file: String
  var pointer = ""

  static func / (path: Path, step: String) -> Path { Path(file: path.file, pointer: path.pointer + "/" + step) }
  static func / (path: Path, index: Int) -> Path { path / String(index) }
  var description: String { file + ": " + (pointer.isEmpty ? "/" : pointer) }
}

final class Problems {
  private(set) var messages: [String] = []
  private var names: Set<String> = []

  /// Reports a problem only once, even if several methods have it from the same group.
  func report(_ path: Path, _ message: String) {
    let message = "\(path): \(message)"
    if !messages.contains(message) { messages.append(message) }
  }

  func expected(_ expectation: String, at path: Path, found: Tree?) {
    report(path, "expected \(expectation), found \(found?.kindName ?? "nothing")")
  }

  /// Reports `message` unless the name is new. The name includes its scope.
  func unique(_ name: String, at path: Path, _ message: String) {
    if !names.insert(name).inserted { report(path, message) }
  }
}
