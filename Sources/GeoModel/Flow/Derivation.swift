// How a property follows others: an expression, and where the names in it lead.

import Geometry
import Query

/// A value computed from others.
public struct Derivation: Equatable, Sendable {
  public let expression: Expression
  /// What names in the expression stand for: a path from the root (`/views/v/...`) or from the view model's own properties
  /// (`./list/0`). Other names are the view model's properties.
  public let inputs: [Text: Text]
  private let places: [Text: Place]

  private enum Place: Equatable {
    case own(ModelPath)
    case anywhere(ModelPath)
  }

  /// An input that cannot be followed.
  public struct InputFault: Error, Hashable, Sendable {
    public let name: String
    public let expected: String
    public let found: String
  }

  /// - Throws: ``InputFault`` for the first input, by name, that is no path to one place, or leads to something that has no end: to a
  ///   whole collection, or to all graphics of an overlay.
  public init(expression: Expression, inputs: [String: String]) throws(InputFault) {
    var places: [Text: Place] = [:]
    for (name, text) in inputs.sorted(by: { $0.key < $1.key }) {
      func fault(_ expected: String) -> InputFault { InputFault(name: name, expected: expected, found: text) }
      if text.begins(with: "./"), let path = ModelPath(pointer: String(text.dropFirst())) {
        places[Text(name)] = .own(path)
        continue
      }
      guard let path = ModelPath(pointer: text) else {
        throw fault("a JSON Pointer without wildcards, such as /layers/l1/opacity, or ./ and a property")
      }
      guard path.names.count > 1 else { throw fault("a path to one object or into it, such as /layers/l1/opacity") }
      guard !path.leadsToGraphics else {
        throw fault("a path to one member of an overlay, or one graphic, such as /overlays/o1/graphics/1")
      }
      places[Text(name)] = .anywhere(path)
    }
    self.expression = expression
    self.inputs = Dictionary(uniqueKeysWithValues: inputs.map { (Text($0), Text($1)) })
    self.places = places
  }

  /// What it reads, by the names in the expression.
  func sources(in model: ViewModelID) -> [(name: String, path: ModelPath)] {
    let own = ModelPath(ObjectReference(.viewModels, model.rawValue)).names
    return expression.properties.map { name in
      switch places[Text(name)] {
      case .own(let path): (name, ModelPath(own + path.names))
      case .anywhere(let path): (name, path)
      case nil: (name, ModelPath(own + [name]))
      }
    }
  }
}

extension ModelPath {
  /// Whether all graphics of an overlay stand there.
  fileprivate var leadsToGraphics: Bool {
    guard object?.collection == .overlays else { return false }
    return names.count == 2 || names.count == 3 && names[2] == "graphics"
  }
}
