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
  /// The list of which the expression computes an item each; nil if it computes the value.
  public let each: Each?
  /// Paths by name in the expression: from the root (`/views/v/...`), or from the view model (`./list/0`). Other names
  /// are properties of the view model.
  public let inputs: [Text: Text]
  /// By name in the expression; other names are properties.
  private let inputPaths: [Text: Source]
  /// Dependencies in the property's own view model: a property's name, and names inside its value.
  let innerSources: [[Text]]
  /// Dependencies outside the view model.
  let outerSources: [ModelPath]
  /// The collection that it lists, and the members of its objects that it depends on.
  let collection: (name: Collection, members: Set<Text>)?
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
  public init(expression: Expression, inputs: [String: String], each: Each? = nil) throws(InputFault) {
    var inputPaths: [Text: Source] = [:]
    var paths = inputs
    var collection: Collection?
    if let each {
      collection = ModelPath(pointer: each.path).flatMap { $0.names.count == 1 ? Collection(rawValue: $0.names[0].string) : nil }
      guard collection != .viewModels else {
        throw InputFault(name: "each", expected: "a list, or a collection other than that of its own view model", found: each.path)
      }
      if collection == nil { paths[Self.listName] = each.path }
    }
    for (name, text) in paths.sorted(by: { $0.key < $1.key }) {
      func fault(_ expected: String) -> InputFault { InputFault(name: name.isEmpty ? "each" : name, expected: expected, found: text) }
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
    self.each = each
    self.inputs = Dictionary(uniqueKeysWithValues: inputs.map { (Text($0), Text($1)) })
    self.inputPaths = inputPaths
    var (inner, outer, members): ([[Text]], [ModelPath], Set<Text>) = ([], [], [])
    let expressions = [expression] + (each?.condition.map { [$0] } ?? [])
    let names = expressions.flatMap(\.properties) + (each?.order.map(\.name) ?? [])
    for name in names + (each == nil ? [] : [Self.listName]) {
      switch each == nil || inputPaths[Text(name)] != nil ? Self.source(of: name, in: inputPaths) : nil {
      case .inner(let names): inner.append(names)
      case .outer(let path): outer.append(path)
      case nil: members.insert(Text(name))
      }
    }
    (innerSources, outerSources) = (inner, outer)
    self.collection = collection.map { ($0, members) }
    usesConventions = expressions.contains(where: \.isWrittenByConventions)
  }

  public static func == (left: Derivation, right: Derivation) -> Bool {
    left.expression == right.expression && left.inputs == right.inputs && left.each == right.each
  }

  /// A list that is derived from another: which items, in which order.
  public struct Each: Equatable, Sendable {
    /// A path to a list or a collection, from the root or from the view model.
    public let path: String
    public let condition: Expression?
    /// Members of the items, most significant first; ``itemName`` for the items themselves.
    public let order: [Order]

    public struct Order: Equatable, Sendable {
      public let name: String
      public let isDescending: Bool
      public init(name: String, isDescending: Bool) { (self.name, self.isDescending) = (name, isDescending) }
    }

    public init(path: String, condition: Expression?, order: [Order]) {
      (self.path, self.condition, self.order) = (path, condition, order)
    }
  }

  /// The name of an item in the expressions of ``Each``.
  public static let itemName = "item"
  /// The input that stands for the list. No name in an expression is empty.
  private static let listName = ""

  /// Location of the list of ``Each``; nil for a collection.
  public var list: Source? { inputPaths[Text(Self.listName)] }

  /// The collection of ``Each``.
  public var listedCollection: Collection? { collection?.name }

  /// Location of an input; nil for another name.
  public func input(_ name: String) -> Source? { inputPaths[Text(name)] }

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
