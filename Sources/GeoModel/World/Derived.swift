// What follows from other things: how far a map is loaded, how a layer stands in a view. Computed when it is read, so that it cannot
// lie; remembered only to tell when it has changed.

import HashTreeCollections

/// What followed when it was last looked at. All of it is held in trees, so that what it was when a command began costs no copy.
struct Derived: Sendable {
  /// Of maps, scenes and groups.
  var loadStatuses: TreeDictionary<ObjectReference, LoadStatus> = [:]
  /// How the layers and tables right in a map, a scene or a group stand; where nothing is counted, all are loaded.
  var tallies: TreeDictionary<ObjectReference, Tally> = [:]
  /// As what each layer is counted, and where.
  var counted: TreeDictionary<LayerID, Counted> = [:]
  var views: TreeDictionary<ViewID, ViewStates> = [:]

  struct ViewStates: Sendable {
    var scale: Double
    var states: TreeDictionary<LayerID, LayerViewState>
  }

  struct Counted: Sendable {
    let container: ViewContent
    /// What it lies in.
    let parent: ObjectReference
    let status: LoadStatus
  }

  struct Tally: Hashable, Sendable {
    var failed = 0
    var loading = 0
    var notLoaded = 0

    mutating func count(_ status: LoadStatus, _ by: Int) {
      switch status {
      case .failed: failed += by
      case .loading: loading += by
      case .notLoaded: notLoaded += by
      case .loaded: break
      }
    }
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
    for id in ids {
      guard let layer = layers[id] else { continue }
      switch (loadStatus(of: layer), result) {
      case (.failed(let failure), _): return .failed(layer.kind == .group ? failure : failure.naming(id))
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
    for id in content.topLayers { add(id, at: view.camera.scale, to: &result) }
    return result
  }

  /// How a layer at the top level stands at a scale, and all below it.
  func add(_ top: LayerID, at scale: Double, to result: inout [(layer: LayerID, state: LayerViewState)]) {
    _ = add(top, [], isHidden: nil, at: scale, to: &result)
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
}

extension Failure {
  /// The same as what a map, scene or group says of a layer in it.
  func naming(_ layer: LayerID) -> Failure {
    Failure(
      kind: kind.string, message: "layer \"\(layer)\": \(message)", path: "/layers/\(layer)", expected: expected?.string
    )
  }
}
