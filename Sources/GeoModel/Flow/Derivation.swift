// Derivation: how a property follows from others, by an expression and the paths of its names.

import Geometry
import Query

/// A value computed from others.
///
/// ```swift
/// // The title of a map and the first name in a list of the view model.
/// let derivation = try Derivation(
///   expression: Expression("concat(title, ': ', first)"),
///   inputs: ["title": "/maps/city/title", "first": "./people/0/name"])
/// ```
public struct Derivation: Equatable, Sendable {
  public let expression: Expression
  /// Paths by name in the expression: from the root (`/views/v/...`), or from the view model (`./list/0`). Other names
  /// are properties of the view model.
  public let inputs: [Text: Text]
  private let inputPaths: [Text: InputPath]

  private enum InputPath: Equatable {
    case relative(ModelPath)
    case absolute(ModelPath)
  }

  /// An input that cannot be a dependency.
  public struct InputFault: Error, Hashable, Sendable {
    public let name: String
    public let expected: String
    public let found: String
  }

  /// - Throws: ``InputFault`` for the first input, by name, that is not a path to one value, or that leads to an
  ///   unbounded one: a whole collection, or all graphics of an overlay.
  public init(expression: Expression, inputs: [String: String]) throws(InputFault) {
    var inputPaths: [Text: InputPath] = [:]
    for (name, text) in inputs.sorted(by: { $0.key < $1.key }) {
      func fault(_ expected: String) -> InputFault { InputFault(name: name, expected: expected, found: text) }
      if text.begins(with: "./"), let path = ModelPath(pointer: String(text.dropFirst())) {
        inputPaths[Text(name)] = .relative(path)
        continue
      }
      guard let path = ModelPath(pointer: text) else {
        throw fault("a JSON Pointer without wildcards, such as /layers/l1/opacity, or ./ and a property")
      }
      guard path.names.count > 1 else { throw fault("a path to one object or into it, such as /layers/l1/opacity") }
      guard !path.includesAllGraphics else {
        throw fault("a path to one member of an overlay, or one graphic, such as /overlays/o1/graphics/1")
      }
      inputPaths[Text(name)] = .absolute(path)
    }
    self.expression = expression
    self.inputs = Dictionary(uniqueKeysWithValues: inputs.map { (Text($0), Text($1)) })
    self.inputPaths = inputPaths
  }

  /// The inputs: names in the expression and their absolute paths.
  func sources(in model: ViewModelID) -> [(name: String, path: ModelPath)] {
    let own = ObjectReference(.viewModels, model.rawValue)
    return expression.properties.map { name in
      switch inputPaths[Text(name)] {
      case .relative(let path): (name, ModelPath(ModelPath(own).names + path.names))
      case .absolute(let path): (name, path)
      case nil: (name, ModelPath(own, name))
      }
    }
  }
}

extension ModelPath {
  /// Whether the value at the path includes all graphics of an overlay.
  fileprivate var includesAllGraphics: Bool {
    guard object?.collection == .overlays else { return false }
    return names.count == 2 || names.count == 3 && names[2] == "graphics"
  }
}
