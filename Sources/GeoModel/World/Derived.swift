// What follows from other things: how far a map is loaded, how a layer stands in a view. Computed when it is read, so that it cannot
// lie; remembered only to tell when it has changed.

/// What followed when it was last looked at.
struct Derived: Sendable {
  /// Of maps, scenes and groups.
  var loadStatuses: [ObjectReference: LoadStatus] = [:]
  var views: [ViewID: ViewStates] = [:]

  struct ViewStates: Sendable {
    var scale: Double
    var states: [LayerID: LayerViewState]
  }
}

extension World {
  // MARK: Load status

  /// How far the layers and tables of a map or a scene are loaded: failed when one has failed, which it names; loading while one is;
  /// loaded when all are.
  ///
  /// - Complexity: O(layers).
  public func loadStatus(of container: ViewContent) -> LoadStatus {
    guard let content = try? content(of: container) else { return .notLoaded }
    return merged(content.topLayers + content.tables)
  }

  /// The same of a layer; of a group by what is in it.
  public func loadStatus(of layer: Layer) -> LoadStatus {
    layer.features?.loadStatus ?? merged(layer.grouping?.layers ?? [])
  }

  private func merged(_ ids: [LayerID]) -> LoadStatus {
    var result = LoadStatus.loaded
    for layer in ids.compactMap({ layers[$0] }) {
      switch (loadStatus(of: layer), result) {
      case (.failed(let failure), _):
        guard layer.kind != .group else { return .failed(failure) }
        return .failed(
          Failure(
            kind: failure.kind, message: "layer \"\(layer.id)\": \(failure.message)", path: "/layers/\(layer.id)",
            expected: failure.expected))
      case (.loading, _): result = .loading
      case (.notLoaded, .loaded): result = .notLoaded
      case (.notLoaded, _), (.loaded, _): break
      }
    }
    return result
  }

  // MARK: Layers in views

  /// How each layer of what a view shows stands in it, in drawing order, a group before what is in it.
  ///
  /// - Complexity: O(layers).
  public func layerViewStates(of view: View) -> [(layer: LayerID, state: LayerViewState)] {
    guard let content = try? content(of: view.content) else { return [] }
    var result: [(layer: LayerID, state: LayerViewState)] = []
    for id in content.topLayers { _ = add(id, [], isHidden: nil, at: view.camera.scale, to: &result) }
    return result
  }

  /// - Parameters:
  ///   - outer: what the groups around it leave it to be.
  ///   - isHidden: whether the group around it shows it, by its mode; nil when the layer itself decides.
  private func add(
    _ id: LayerID, _ outer: LayerViewState, isHidden: Bool?, at scale: Double,
    to result: inout [(layer: LayerID, state: LayerViewState)]
  ) -> LayerViewState {
    guard let layer = layers[id] else { return [] }
    var state = outer
    if isHidden ?? !layer.appearance.isVisible { state.insert(.notVisible) }
    if !layer.appearance.shows(at: scale) { state.insert(.outOfScale) }
    let place = result.count
    result.append((id, state))
    if let grouping = layer.grouping {
      let shown = grouping.layers.last { layers[$0]?.appearance.isVisible == true }
      var below: [LayerViewState] = []
      for member in grouping.layers {
        let isHidden: Bool? =
          switch grouping.visibilityMode {
          case .independent: nil
          case .inherited: false
          case .exclusive: member != shown
          }
        below.append(add(member, state, isHidden: isHidden, at: scale, to: &result))
      }
      if below.contains(where: { $0.contains(.active) }) { state.insert(.active) }
      if below.contains(where: { $0.contains(.loading) }) { state.insert(.loading) }
      let failed = below.filter { !$0.isDisjoint(with: [.error, .warning]) }
      if !failed.isEmpty {
        state.insert(below.allSatisfy { $0.contains(.error) } ? .error : .warning)
      }
    } else {
      switch layer.features?.loadStatus {
      case .loaded: if state.isDisjoint(with: [.notVisible, .outOfScale]) { state.insert(.active) }
      case .loading: state.insert(.loading)
      case .failed: state.insert(.error)
      case .notLoaded, nil: break
      }
    }
    result[place].state = state
    return state
  }

  // MARK: Telling

  /// Records what follows from the changes since the last call. Called before changes are taken; calling it more often is no harm.
  ///
  /// - Complexity: O(changes), and O(layers) for each map, scene and view that they concern.
  public mutating func recordDerived() {
    var containers: [ViewContent: Origin] = [:]
    var moved: [ViewID: Origin] = [:]
    for change in takeUnexamined() {
      switch change.event {
      case .created(let object), .closed(let object), .changed(let object, .operationalLayers),
        .changed(let object, .basemap), .changed(let object, .tables), .changed(let object, .layers),
        .changed(let object, .loadStatus), .changed(let object, .isVisible), .changed(let object, .minScale),
        .changed(let object, .maxScale), .changed(let object, .visibilityMode), .changed(let object, .group):
        switch object.collection {
        case .maps: containers[.map(MapID(object.id))] = change.origin
        case .scenes: containers[.scene(SceneID(object.id))] = change.origin
        case .layers:
          if let layer = layers[LayerID(object.id)] { containers[layer.container] = change.origin }
          derived.loadStatuses[object] = layers[LayerID(object.id)] == nil ? nil : derived.loadStatuses[object]
        case .views: moved[ViewID(object.id)] = change.origin
        default: break
        }
      case .changed(let object, .viewpoint), .changed(let object, .width), .changed(let object, .dpi):
        moved[ViewID(object.id)] = change.origin
      default: break
      }
    }
    if !containers.isEmpty {
      for (container, origin) in containers.sorted(by: { $0.key.reference.id < $1.key.reference.id }) {
        recordLoadStatuses(in: container, by: origin)
      }
      for view in views.values { if let origin = containers[view.content] { recordStates(in: view, by: origin) } }
    }
    for (id, origin) in moved.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      guard let view = views[id] else {
        derived.views[id] = nil
        continue
      }
      // Only zooming matters.
      if derived.views[id]?.scale != view.camera.scale { recordStates(in: view, by: origin) }
    }
  }

  private mutating func recordLoadStatuses(in container: ViewContent, by origin: Origin) {
    guard (try? content(of: container)) != nil else {
      derived.loadStatuses[container.reference] = nil
      return
    }
    recordLoadStatus(loadStatus(of: container), of: container.reference, by: origin)
    for layer in allLayers(of: container) where layer.kind == .group {
      recordLoadStatus(loadStatus(of: layer), of: layer.reference, by: origin)
    }
  }

  private mutating func recordLoadStatus(_ status: LoadStatus, of object: ObjectReference, by origin: Origin) {
    // What is new is told whole.
    if let old = derived.loadStatuses.updateValue(status, forKey: object), old != status {
      record(.changed(object, .loadStatus), by: origin)
    }
  }

  private mutating func recordStates(in view: View, by origin: Origin) {
    let states = Dictionary(uniqueKeysWithValues: layerViewStates(of: view).map { ($0.layer, $0.state) })
    let new = Derived.ViewStates(scale: view.camera.scale, states: states)
    if let old = derived.views.updateValue(new, forKey: view.id), old.states != states {
      record(.changed(view.reference, .layerViewStates), by: origin)
    }
  }
}
