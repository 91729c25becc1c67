// The declared types of the values that a link connects: a link whose ends could not agree is refused when it is made.

import GeoModel
import GeoProtocol
import Geometry
import JSONRPC

enum LinkTypes {
  /// A type of values; integers are numbers, too.
  private enum Kind: String { case boolean, integer, number, string, list, object }

  /// Throws if no value that the source is declared to have is one for the target. A null, a limit or an id may still be refused
  /// when it is written.
  ///
  /// - Parameter param: the param that has the target's path, for errors.
  static func check(from source: ModelPath, to target: ModelPath, _ param: String, in world: World) throws {
    guard let given = kinds(at: source, in: world), let wanted = kinds(at: target, in: world) else { return }
    let agree = given.contains { given in
      wanted.contains { $0 == given || given == .integer && $0 == .number }
    }
    guard !agree, let first = wanted.first, let other = given.first else { return }
    throw RPCError(
      .wrongType, "The link would write a value of the type \(other.rawValue) to one of the type \(first.rawValue).",
      path: "/params/\(param)", expected: "a path to a value of the type \(other.rawValue), or an expression")
  }

  /// The types of values at a path; nil if they are not declared.
  private static func kinds(at path: ModelPath, in world: World) -> [Kind]? {
    let path = world.resolved(path)
    guard let object = path.object else { return declared(path) }
    switch object.collection {
    case .viewModels:
      let property = try? world.viewModels[ViewModelID(object.id)]?.property(path.names[2].string)
      guard let part = try? property?.part(at: path.names.dropFirst(3)), part.depth == path.names.count - 3 else { return nil }
      return kind(part.definition.type)
    case _ where path.names.count > 3 && (path.names[2] == "environment" || path.names[2] == "values"):
      guard path.names.count == 4 else { return nil }
      return world.environmentKeys[EnvironmentKeyID(path.names[3].string)].flatMap { kind($0.definition.type) }
    default: return declared(path)
    }
  }

  private static func kind(_ type: PropertyType) -> [Kind]? {
    switch type {
    case .boolean: [.boolean]
    case .integer: [.integer]
    case .number: [.number]
    case .string, .reference: [.string]
    case .list: [.list]
    case .dictionary, .struct, .status, .union: [.object]
    case .json: nil
    }
  }

  private static func declared(_ path: ModelPath) -> [Kind]? {
    guard let shapes = try? StateShapes.root.shapes(at: path.names.map(\.string)[...]) else { return nil }
    var result: [Kind] = []
    for shape in shapes {
      switch shape {
      case .boolean: result.append(.boolean)
      case .integer: result.append(.integer)
      case .number: result.append(.number)
      case .string, .reference: result.append(.string)
      case .list: result.append(.list)
      case .object, .map, .named: result.append(.object)
      case .any: return nil
      }
    }
    return result
  }
}
