// View models, bindings, links and the environment in the tree.

import GeoModel
import JSON

private func value(_ value: Value?) -> StateNode {
  if case .array? = value { return .list { writer in (value ?? .null).encode(to: &writer) } }
  return .leaf { writer in (value ?? .null).encode(to: &writer) }
}
private func value(_ text: String?) -> StateNode { value(text.map { Value.string($0) }) }

extension StateTree {
  static let ofViewModelType = StateMembers<ViewModelType>([
    ("doc", { type, _ in value(type.doc) }),
    ("properties", { type, _ in .leaf { $0.array(type.properties) { Wire.property($0).encode(to: &$1) } } }),
  ])

  /// One property, without a look at the others.
  static func member(_ name: String, of model: ViewModel) -> StateNode? { model.value(of: name).map { value($0) } }

  static func members(_ model: ViewModel) -> [(String, StateNode)] {
    model.properties.map { ($0.name, value(model.values[$0.name])) }
  }

  static let ofBinding = StateMembers<Binding>([
    ("path", { binding, _ in value(binding.path?.description) }),
    (
      "constant",
      { binding, _ in if case .constant(let constant) = binding.target { value(constant) } else { value(.null) } }
    ),
    ("access", { binding, _ in value(Wire.access(binding).rawValue) }),
    ("owner", { binding, _ in value(binding.owner?.id) }),
  ])

  static let ofLink = StateMembers<Link>([
    ("first", { link, _ in value(link.first.description) }), ("second", { link, _ in value(link.second.description) }),
    ("direction", { link, _ in value(link.isTwoWay ? "twoWay" : "firstToSecond") }),
    ("transform", { link, _ in value(link.transform?.text) }), ("inverse", { link, _ in value(link.inverse?.text) }),
    ("owner", { link, _ in value(link.owner?.id) }),
  ])

  static let ofEnvironmentKey = StateMembers<EnvironmentKey>([
    ("type", { key, _ in value(key.definition.type.rawValue) }),
    ("isNullable", { key, _ in value(Value.boolean(key.definition.isNullable)) }),
    ("defaultValue", { key, _ in value(key.definition.defaultValue) }),
    ("doc", { key, _ in value(key.definition.doc?.string) }),
    ("isBuiltIn", { key, _ in value(Value.boolean(key.isBuiltIn)) }),
  ])
}
