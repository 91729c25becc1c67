// View models, bindings, links and the environment in the tree.

import GeoModel
import JSON

private func value(_ value: Value?) -> StateNode {
  if case .array? = value { return .list { writer in (value ?? .null).encode(to: &writer) } }
  return .leaf { writer in (value ?? .null).encode(to: &writer) }
}
private func value(_ text: String?) -> StateNode { value(text.map { Value.string($0) }) }

extension StateTree {
  static func members(_ type: ViewModelType) -> [(String, StateNode)] {
    [
      ("doc", value(type.doc)),
      ("properties", .leaf { $0.array(type.properties) { Wire.property($0).encode(to: &$1) } }),
    ]
  }

  /// One property, without a look at the others.
  static func member(_ name: String, of model: ViewModel) -> StateNode? { model.values[name].map { value($0) } }

  static func members(_ model: ViewModel) -> [(String, StateNode)] {
    model.properties.map { ($0.name, value(model.values[$0.name])) }
  }

  static func members(_ binding: Binding) -> [(String, StateNode)] {
    var constant: Value?
    if case .constant(let value) = binding.target { constant = value }
    return [
      ("path", value(binding.path?.description)), ("constant", value(constant)),
      ("access", value(Wire.access(binding).rawValue)), ("owner", value(binding.owner?.id)),
    ]
  }

  static func members(_ link: Link) -> [(String, StateNode)] {
    [
      ("first", value(link.first.description)), ("second", value(link.second.description)),
      ("direction", value(link.isTwoWay ? "twoWay" : "firstToSecond")), ("transform", value(link.transform?.text)),
      ("inverse", value(link.inverse?.text)), ("owner", value(link.owner?.id)),
    ]
  }

  static func members(_ key: EnvironmentKey) -> [(String, StateNode)] {
    [
      ("type", value(key.definition.type.rawValue)), ("isNullable", value(Value.boolean(key.definition.isNullable))),
      ("defaultValue", value(key.definition.defaultValue)), ("doc", value(key.definition.doc)),
      ("isBuiltIn", value(Value.boolean(key.isBuiltIn))),
    ]
  }

  static func members(_ scope: EnvironmentScope, _ world: World) -> [(String, StateNode)] {
    let members: [(String, StateNode)] = [
      ("values", .leaf { $0.map(scope.values) { $0.encode(to: &$1) } }),
      ("objects", .leaf { $0.map(scope.objects) { $1.value($0.rawValue) } }),
    ]
    return members + (scope.node == nil ? environment(of: nil, world) : [])
  }

  /// What a node sees.
  static func environment(of node: ObjectReference?, _ world: World) -> [(String, StateNode)] {
    [
      (
        "environment",
        .leaf { writer in
          writer.beginObject()
          for key in world.environmentKeys.ids {
            writer.key(key.rawValue)
            world.environment(key.rawValue, at: node).encode(to: &writer)
          }
          writer.endObject()
        }
      )
    ]
  }
}
