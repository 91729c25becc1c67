// Setting and seeing the environment: the nearest node at which something is set wins, and who sees another value is told.

import Query

extension World {
  /// Registers a key. The same again is no change.
  public mutating func registerEnvironmentKey(_ definition: PropertyDefinition) throws(ModelError) {
    let key = EnvironmentKey(definition)
    if let known = environmentKeys[key.id] {
      guard known.definition == definition else { throw .flow(.defined(definition.name)) }
      return
    }
    try checkDefault(of: definition)
    insert(key)
    // All see its default from now on.
    for node in environmentNodes { record(.changed(node, .environment)) }
  }

  /// Sets a value at a node.
  ///
  /// - Parameter node: nil for the session.
  public mutating func setEnvironment(
    _ key: EnvironmentKeyID, at node: ObjectReference?, to value: Value
  ) throws(ModelError) {
    let known = try environmentKeys.require(key)
    let kept = try known.accepted(value)
    if let id = kept.text, isLost(kept, of: known.definition) { throw .flow(.unknownReference(id, place: "")) }
    if key == EnvironmentKey.timeZone { try checkTimeZone(kept) }
    try changeScope(of: node) { $0.values[key.rawValue] = kept }
  }

  /// Takes values away that were set at a node; all when `keys` is nil.
  public mutating func clearEnvironment(_ keys: [EnvironmentKeyID]?, at node: ObjectReference?) throws(ModelError) {
    for key in keys ?? [] { _ = try environmentKeys.require(key) }
    try checkNode(node)
    guard environments[scopeID(node)] != nil else { return }
    try changeScope(of: node) { scope in
      guard let keys else {
        scope.values = [:]
        return
      }
      for key in keys { scope.values[key.rawValue] = nil }
    }
  }

  /// Takes away all that is set and shared at the session; what is at objects goes with them.
  mutating func clearEnvironment() {
    changeKnown(EnvironmentScope.session) { scope in
      scope.values = [:]
      scope.objects = [:]
    }
  }

  // MARK: Seeing

  /// The value that a node sees: what is set at it or at its nearest ancestor, else the default; null for a key that nobody has
  /// registered.
  ///
  /// - Parameter node: nil for the session.
  public func environment(_ key: String, at node: ObjectReference?) -> Value {
    environmentSource(key, at: node)?.value ?? environmentKeys[EnvironmentKeyID(key)]?.definition.defaultValue ?? .null
  }

  /// The value that is set for a node, and the scope in which it is; nil when the default counts.
  public func environmentSource(
    _ key: String, at node: ObjectReference?
  ) -> (value: Value, scope: EnvironmentScope)? {
    for scope in scopes(of: node) { if let value = scope.values[key] { return (value, scope) } }
    return nil
  }

  /// The scopes that a node sees, nearest first; the session's last.
  private func scopes(of node: ObjectReference?) -> [EnvironmentScope] {
    (ancestors(of: node).map { EnvironmentID($0.id) } + [EnvironmentScope.session]).compactMap { environments[$0] }
  }

  /// The node and those above it, nearest first, without the session.
  ///
  /// - Parameter groups: of layers that are to count as lying in another group than they do; nil is none.
  func ancestors(of node: ObjectReference?, groups: [LayerID: LayerID?] = [:]) -> [ObjectReference] {
    var result: [ObjectReference] = []
    var next = node
    while let here = next, result.count < 64 {
      result.append(here)
      switch here.collection {
      case .views: next = views[ViewID(here.id)]?.content.reference
      case .layers:
        let group = groups[LayerID(here.id)]
        next = group.map { $0.map { ObjectReference(.layers, $0.rawValue) } ?? container(of: here) } ?? parent(of: here)
      default: next = parent(of: here)
      }
    }
    return result
  }

  private func container(of layer: ObjectReference) -> ObjectReference? {
    layers[LayerID(layer.id)]?.container.reference
  }

  private func parent(of object: ObjectReference) -> ObjectReference? { parent(of: object.id, object.collection.kind) }

  private func parent<E: Entity>(of id: String, _ kind: E.Type) -> ObjectReference? {
    self[keyPath: kind.registry][ID(id)]?.parent
  }

  /// Everything that sees an environment, the session's scope first.
  var environmentNodes: [ObjectReference] {
    [ObjectReference(.environments, EnvironmentScope.session.rawValue)]
      + maps.ids.map { ObjectReference(.maps, $0.rawValue) }
      + scenes.ids.map { ObjectReference(.scenes, $0.rawValue) }
      + views.ids.map { ObjectReference(.views, $0.rawValue) }
      + overlays.ids.map { ObjectReference(.overlays, $0.rawValue) }
      + layers.ids.map { ObjectReference(.layers, $0.rawValue) }
  }

  /// The node whose environment an object sees: itself, or the nearest one that it belongs to; nil for the session.
  func environmentNode(of object: ObjectReference?) -> ObjectReference? {
    ancestors(of: object).first { (try? checkNode($0)) != nil }
  }

  // MARK: Shared objects

  /// Shares a view model with a node and all below it, under a name.
  public mutating func provide(
    _ model: ViewModelID, as name: String, at node: ObjectReference?
  ) throws(ModelError) {
    _ = try viewModels.require(model)
    try changeScope(of: node) { $0.objects[name] = model }
  }

  /// Shares the object of that name no longer; without one it does nothing.
  public mutating func withdraw(_ name: String, at node: ObjectReference?) throws(ModelError) {
    try checkNode(node)
    guard environments[scopeID(node)] != nil else { return }
    try changeScope(of: node) { $0.objects[name] = nil }
  }

  /// The view model that the nearest ancestor shares under a name, and the scope in which it does.
  public func resolve(
    _ name: String, at node: ObjectReference?
  ) throws(ModelError) -> (model: ViewModel, scope: EnvironmentScope) {
    try checkNode(node)
    for scope in scopes(of: node) {
      if let id = scope.objects[name] { return (try viewModels.require(id), scope) }
    }
    throw .flow(.sharedObjectMissing(name: name, node: node?.id))
  }

  /// What a node itself shares under a name.
  public func shared(_ name: String, at node: ObjectReference?) -> ViewModel? {
    environments[scopeID(node)]?.objects[name].flatMap { viewModels[$0] }
  }

  // MARK: Scopes

  private func scopeID(_ node: ObjectReference?) -> EnvironmentID {
    node.map { EnvironmentID($0.id) } ?? EnvironmentScope.session
  }

  public func checkNode(_ node: ObjectReference?) throws(ModelError) {
    guard let node else { return }
    switch node.collection {
    case .maps, .scenes, .views, .overlays, .layers: return
    default: throw .flow(.notANode(node.id))
    }
  }

  private mutating func changeScope(
    of node: ObjectReference?, _ body: (inout EnvironmentScope) -> Void
  ) throws(ModelError) {
    try checkNode(node)
    let id = scopeID(node)
    if environments[id] == nil {
      var scope = EnvironmentScope(node)
      body(&scope)
      return insert(scope)
    }
    changeScope(id, body)
  }

  /// Changes a scope that is there; without it it does nothing.
  mutating func changeScope(_ id: EnvironmentID, _ body: (inout EnvironmentScope) -> Void) {
    changeKnown(id, body)
    removeEmptyScope(id)
  }

  /// What holds nothing is not there: a document that is opened has none of it.
  mutating func removeEmptyScope(_ id: EnvironmentID) {
    guard let scope = environments[id], scope.node != nil, scope.values.isEmpty, scope.objects.isEmpty else { return }
    remove(id)
  }
}
