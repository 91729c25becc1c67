// Derivation: computes a property from other values, by an expression and the paths of its names.

import Expressions
import Geometry

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
  /// By name in the expression; other names are properties.
  private let inputPaths: [Text: Source]
  /// Dependencies in the property's own view model: a property's name, and names inside its value.
  let innerSources: [[Text]]
  /// Dependencies outside the view model.
  let outerSources: [ModelPath]
  /// Whether its value depends on text conventions.
  public let usesConventions: Bool

  /// Location of the value that a name in an expression stands for.
  public enum Source: Equatable, Sendable {
    /// In the view model: a property's name, and names inside its value.
    case inner([Text])
    case outer(ModelPath)
  }

  /// An input whose path cannot be a dependency.
  public struct InputFault: Error, Hashable, Sendable {
    public let name: String
    public let expected: String
    public let found: String
  }

  /// - Throws: ``InputFault`` for the first input, by name, that is not a path to one value, or that leads to an
  ///   unbounded one: a whole collection, or all graphics of an overlay.
  public init(expression: Expression, inputs: [String: String]) throws(InputFault) {
    var inputPaths: [Text: Source] = [:]
    for (name, text) in inputs.sorted(by: { $0.key < $1.key }) {
      func fault(_ expected: String) -> InputFault { InputFault(name: name, expected: expected, found: text) }
      if text.begins(with: "./"), let path = ModelPath(pointer: String(text.dropFirst())) {
        inputPaths[Text(name)] = .inner(path.names)
        continue
      }
      guard let path = ModelPath(pointer: text) else {
        throw fault("a JSON Pointer without wildcards, such as /layers/l1/opacity, or ./ and a property")
      }
      guard path.names.count > 1 else { throw fault("a path to one object or into it, such as /layers/l1/opacity") }
      guard !path.includesAllGraphics else {
        throw fault("a path to one member of an overlay, or one graphic, such as /overlays/o1/graphics/1")
      }
      inputPaths[Text(name)] = .outer(path)
    }
    self.expression = expression
    self.inputs = Dictionary(uniqueKeysWithValues: inputs.map { (Text($0), Text($1)) })
    self.inputPaths = inputPaths
    var (inner, outer): ([[Text]], [ModelPath]) = ([], [])
    for name in expression.properties {
      switch Self.source(of: name, in: inputPaths) {
      case .inner(let names): inner.append(names)
      case .outer(let path): outer.append(path)
      }
    }
    (innerSources, outerSources) = (inner, outer)
    usesConventions = expression.isWrittenByConventions
  }

  /// Location of the value that a name in the expression stands for.
  public func source(of name: String) -> Source { Self.source(of: name, in: inputPaths) }

  private static func source(of name: String, in inputPaths: [Text: Source]) -> Source {
    inputPaths[Text(name)] ?? .inner([Text(name)])
  }

  /// The absolute paths of all names in the expression.
  func sources(in model: ViewModelID) -> [ModelPath] {
    let own = ModelPath(ObjectReference(.viewModels, model.rawValue)).names
    return innerSources.map { ModelPath(own + $0) } + outerSources
  }
}

extension ModelPath {
  /// Whether the value at the path includes all graphics of an overlay.
  fileprivate var includesAllGraphics: Bool {
    guard object?.collection == .overlays else { return false }
    return names.count == 2 || names.count == 3 && names[2] == "graphics"
  }
}
