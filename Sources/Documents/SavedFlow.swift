// The saved form of view models and of the environment: definitions and values set by clients, without derived values.

import GeoModel
import GeoProtocol
import JSON
import WireCoding

extension ViewModelType: SavedKind {
  func saved(in document: SavedObjects) -> DocumentProtocol.SavedViewModelType {
    .init(type: id.rawValue, doc: doc, properties: properties.map(Wire.property))
  }
}

extension ViewModel: SavedKind {
  func saved(in document: SavedObjects) -> DocumentProtocol.SavedViewModel { document.viewModel(self) }
}

extension EnvironmentKey: SavedKind {
  func saved(in document: SavedObjects) -> DocumentProtocol.SavedEnvironmentKey { document.environmentKey(self) }
}

extension EnvironmentScope: SavedKind {
  func saved(in document: SavedObjects) -> DocumentProtocol.SavedEnvironment { document.environment(self) }
}

extension SavedObjects {
  /// The saved view models. Owners precede the objects that they own.
  var viewModels: [ViewModel] { world.viewModels.values.filter { world.isSaved($0.reference) } }

  fileprivate func viewModel(_ model: ViewModel) -> DocumentProtocol.SavedViewModel {
    // The session's definition of the type may differ from the one in the document from which the view model was read.
    let isOfType = model.type.map { world.viewModelTypes[$0]?.properties == model.properties } ?? false
    let values = model.properties.filter(\.isUndone).map { property -> (name: String, value: Value) in
      let value = model.values[property.name] ?? .null
      return (property.name, property.type == .reference ? reference(value) : value)
    }
    return .init(
      viewModel: model.id.rawValue, type: model.type?.rawValue,
      properties: isOfType ? nil : model.properties.map(Wire.property), owner: model.owner?.id,
      author: model.author?.string, values: .made { $0.object(values) })
  }

  /// The reference; null if its object is not saved.
  private func reference(_ value: Value) -> Value {
    guard let id = value.text, let object = world.find(id), world.isSaved(object) else { return .null }
    return value
  }

  /// The keys that clients have registered.
  var environmentKeys: [EnvironmentKey] { world.environmentKeys.values.filter { !$0.isBuiltIn } }

  fileprivate func environmentKey(_ key: EnvironmentKey) -> DocumentProtocol.SavedEnvironmentKey {
    let definition = key.definition
    return .init(
      key: definition.name, type: definition.type.wire, isNullable: definition.isNullable,
      defaultValue: Wire.present(definition.defaultValue), doc: definition.doc?.string)
  }

  /// The scopes with a value or a shared object.
  var environments: [EnvironmentScope] {
    world.environments.values.filter { !$0.values.isEmpty || !objects($0).isEmpty }
  }

  fileprivate func environment(_ scope: EnvironmentScope) -> DocumentProtocol.SavedEnvironment {
    let values = scope.values.sorted { $0.key < $1.key }.map { name, value -> (name: String, value: Value) in
      let isReference = world.environmentKeys[EnvironmentKeyID(name)]?.definition.type == .reference
      return (name, isReference ? reference(value) : value)
    }
    return .init(node: scope.node?.id, values: .made { $0.object(values) }, objects: objects(scope))
  }

  private func objects(_ scope: EnvironmentScope) -> [String: String] {
    scope.objects.mapValues(\.rawValue).filter { world.isSaved(ObjectReference(.viewModels, $0.value)) }
  }
}
