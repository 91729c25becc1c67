// Sets and reads the environment. The value of an object is that of the nearest node at or above it.

extension World {
  /// Registers a key. Registering an equal definition again changes nothing.
  public mutating func registerEnvironmentKey(_ definition: PropertyDefinition) throws(ModelError) {
    guard definition.type != .union, definition.type != .struct else {
      throw .flow(.wrongType(path: "/type", expected: "a type other than union, which has cases, and struct, which has fields"))
    }
    let key = EnvironmentKey(definition)
    if let known = environmentKeys[key.id] {
      guard known.definition == definition else { throw .flow(.defined(definition.name)) }
      return
    }
    try checkDefault(of: definition)
    insert(key)
    // The default of the new key becomes the value at all nodes.
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
    if let id = kept.text, isDangling(kept, of: known.definition) { throw .flow(.unknownReference(id, path: "")) }
    if key == EnvironmentKey.timeZone { try checkTimeZone(kept) }
    try changeScope(of: node) { $0.values[key.rawValue] = kept }
  }

  /// Removes values that were set at a node; all of them when `keys` is nil.
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

  // MARK: Reading

  /// The value of a key at a node: set there or at the nearest ancestor, else the default; null for an unregistered
  /// key.
  ///
  /// - Parameter node: nil for the session.
  public func environment(_ key: String, at node: ObjectReference?) -> Value {
    environmentSource(key, at: node)?.value ?? environmentKeys[EnvironmentKeyID(key)]?.definition.defaultValue ?? .null
  }

  /// The value that is set for a node, with the scope that sets it; nil if the default applies.
  public func environmentSource(
    _ key: String, at node: ObjectReference?
  ) -> (value: Value, scope: EnvironmentScope)? {
    for scope in scopes(of: node) { if let value = scope.values[key] { return (value, scope) } }
    return nil
  }

  /// The scopes of a node and its ancestors, nearest first; the session's is last.
  private func scopes(of node: ObjectReference?) -> [EnvironmentScope] {
    scopeIDs(of: node).compactMap { environments[$0] }
  }

  /// The ids that the scopes of a node and its ancestors have or would have, nearest first.
  func scopeIDs(of node: ObjectReference?, assuming inheritance: Inheritance = Inheritance()) -> [EnvironmentID] {
    ancestors(of: node, assuming: inheritance).map { EnvironmentID($0.id) } + [EnvironmentScope.session]
  }

  /// The node and its ancestors, nearest first, without the session.
  func ancestors(of node: ObjectReference?, assuming inheritance: Inheritance = Inheritance()) -> [ObjectReference] {
    var result: [ObjectReference] = []
    var next = node
    while let here = next, result.count < 64 {
      result.append(here)
      switch here.collection {
      case .views:
        let id = ViewID(here.id)
        next = (inheritance.contents[id] ?? views[id]?.content)?.reference
      case .layers:
        let group = inheritance.groups[LayerID(here.id)]
        next = group.map { $0.map { ObjectReference(.layers, $0.rawValue) } ?? container(of: here) } ?? parent(of: here)
      default: next = parent(of: here)
      }
    }
    return result
  }

  private func container(of layer: ObjectReference) -> ObjectReference? {
    layers[LayerID(layer.id)]?.container.reference
  }

  func parent(of object: ObjectReference) -> ObjectReference? { parent(of: object.id, object.collection.kind) }

  private func parent<E: Entity>(of id: String, _ kind: E.Type) -> ObjectReference? {
    self[keyPath: kind.registry][ID(id)]?.parent
  }

  /// All nodes that have an environment; the session is first.
  var environmentNodes: [ObjectReference] {
    [ObjectReference(.environments, EnvironmentScope.session.rawValue)]
      + Self.nodeCollections.flatMap { collection in ids(of: collection).map { ObjectReference(collection, $0) } }
  }

  /// The kinds of objects that have an environment.
  static let nodeCollections: [Collection] = [.maps, .scenes, .views, .overlays, .layers]

  /// The nearest node at or above an object; nil for the session.
  func environmentNode(of object: ObjectReference?) -> ObjectReference? {
    ancestors(of: object).first { (try? checkNode($0)) != nil }
  }

  // MARK: Shared objects

  /// Shares a view model under a name with a node and all nodes below.
  public mutating func provide(
    _ model: ViewModelID, as name: String, at node: ObjectReference?
  ) throws(ModelError) {
    _ = try viewModels.require(model)
    try changeScope(of: node) { $0.objects[name] = model }
  }

  /// Stops sharing the object under a name. Does nothing if there is none.
  public mutating func withdraw(_ name: String, at node: ObjectReference?) throws(ModelError) {
    try checkNode(node)
    guard environments[scopeID(node)] != nil else { return }
    try changeScope(of: node) { $0.objects[name] = nil }
  }

  /// Finds the view model that the nearest ancestor shares under a name, with the scope that shares it.
  public func resolve(
    _ name: String, at node: ObjectReference?
  ) throws(ModelError) -> (model: ViewModel, scope: EnvironmentScope) {
    try checkNode(node)
    for scope in scopes(of: node) {
      if let id = scope.objects[name] { return (try viewModels.require(id), scope) }
    }
    throw .flow(.sharedObjectMissing(name: name, node: node?.id))
  }

  /// The view model that the node itself shares under a name.
  public func shared(_ name: String, at node: ObjectReference?) -> ViewModel? {
    environments[scopeID(node)]?.objects[name].flatMap { viewModels[$0] }
  }

  // MARK: Scopes

  private func scopeID(_ node: ObjectReference?) -> EnvironmentID {
    node.map { EnvironmentID($0.id) } ?? EnvironmentScope.session
  }

  public func checkNode(_ node: ObjectReference?) throws(ModelError) {
    guard let node else { return }
    guard Self.nodeCollections.contains(node.collection) else { throw .flow(.notANode(node.id)) }
  }

  private mutating func changeScope(
    of node: ObjectReference?, _ body: (inout EnvironmentScope) -> Void
  ) throws(ModelError) {
    try checkNode(node)
    let id = scopeID(node)
    guard environments[id] == nil else { return changeScope(id, body) }
    var scope = EnvironmentScope(node)
    body(&scope)
    insert(scope)
  }

  /// Inserts the scope of a node unless it exists. Does nothing if there is no such node.
  mutating func insertScope(of node: ObjectReference?) {
    guard environments[scopeID(node)] == nil, node.map({ revision(of: $0) != nil }) ?? true else { return }
    insert(EnvironmentScope(node))
  }

  /// Changes a scope. Does nothing if there is none.
  mutating func changeScope(_ id: EnvironmentID, _ body: (inout EnvironmentScope) -> Void) {
    changeKnown(id, body)
    removeEmptyScope(id)
  }

  /// Removes an empty scope: documents do not save it, so it must not exist after an undo either.
  mutating func removeEmptyScope(_ id: EnvironmentID) {
    guard let scope = environments[id], scope.node != nil, scope.values.isEmpty, scope.objects.isEmpty else { return }
    remove(id)
  }
}
