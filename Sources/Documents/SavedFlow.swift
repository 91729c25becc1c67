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
  func saved(in document: SavedObjects) -> DocumentProtocol.SavedViewModel {
    // The session's definition of the type may differ from the one in the document from which the view model was read.
    let isOfType = type.map { document.world.viewModelTypes[$0]?.properties == properties } ?? false
    let values = properties.filter(\.isUndone).map { property -> (name: String, value: Value) in
      let value = self.values[property.name] ?? .null
      return (property.name, property.type == .reference ? document.reference(value) : value)
    }
    return .init(
      viewModel: id.rawValue, type: type?.rawValue, properties: isOfType ? nil : properties.map(Wire.property),
      owner: owner?.id, author: author?.string, values: .made { $0.object(values) })
  }
}

extension EnvironmentKey: SavedKind {
  func saved(in document: SavedObjects) -> DocumentProtocol.SavedEnvironmentKey {
    .init(
      key: definition.name, type: definition.type.wire, isNullable: definition.isNullable,
      defaultValue: Wire.present(definition.defaultValue), doc: definition.doc?.string)
  }
}

extension EnvironmentScope: SavedKind {
  func saved(in document: SavedObjects) -> DocumentProtocol.SavedEnvironment {
    let values = self.values.sorted { $0.key < $1.key }.map { name, value -> (name: String, value: Value) in
      let isReference = document.world.environmentKeys[EnvironmentKeyID(name)]?.definition.type == .reference
      return (name, isReference ? document.reference(value) : value)
    }
    return .init(node: node?.id, values: .made { $0.object(values) }, objects: document.objects(self))
  }
}

extension SavedObjects {
  /// The saved view models. Owners precede the objects that they own.
  var viewModels: [ViewModel] { world.viewModels.values.filter { world.isSaved($0.reference) } }

  /// The reference; null if its object is not saved.
  fileprivate func reference(_ value: Value) -> Value {
    guard let id = value.text, let object = world.find(id), world.isSaved(object) else { return .null }
    return value
  }

  /// The keys that clients have registered.
  var environmentKeys: [EnvironmentKey] { world.environmentKeys.values.filter { !$0.isBuiltIn } }

  /// The scopes with a value or a shared object.
  var environments: [EnvironmentScope] {
    world.environments.values.filter { !$0.values.isEmpty || !objects($0).isEmpty }
  }

  fileprivate func objects(_ scope: EnvironmentScope) -> [String: String] {
    scope.objects.mapValues(\.rawValue).filter { world.isSaved(ObjectReference(.viewModels, $0.value)) }
  }
}
