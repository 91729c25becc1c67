// Derived state: the load status of maps, scenes and groups, and layer view states. Reading computes it if something has changed
// since it was recorded, so it is never stale; the last published values are kept to detect changes.

import HashTreeCollections

/// Derived state as last recorded. Persistent trees make the copy at the beginning of a command O(1).
struct Derived: Sendable {
  /// By map, scene and group.
  var loadStatuses: TreeDictionary<ObjectReference, LoadStatus> = [:]
  /// Number of direct layers and tables by load status; without an entry, all are loaded.
  var tallies: TreeDictionary<ObjectReference, Tally> = [:]
  /// The status and container under which each layer is counted in `tallies`.
  var counted: TreeDictionary<CreationNumber, Counted> = [:]
  var views: TreeDictionary<ViewID, ViewStates> = [:]

  struct ViewStates: Sendable {
    var scale: Double
    var states: TreeDictionary<LayerID, LayerViewState>
  }

  struct Counted: Sendable {
    let container: ViewContent
    /// The direct container: a map, scene or group.
    let parent: ObjectReference
    let isGroup: Bool
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

  /// The load status of a map or a scene: failed with the first failure if a layer or table has failed; else loading if one is
  /// loading; loaded if all are.
  ///
  /// - Complexity: O(1); O(layers) during a command that has changed something.
  public func loadStatus(of container: ViewContent) -> LoadStatus {
    recordedLoadStatus(of: container.reference) ?? computedLoadStatus(of: container)
  }

  /// The load status of a layer; that of a group follows from its layers.
  ///
  /// - Complexity: O(1); O(layers) during a command that has changed something.
  public func loadStatus(of layer: Layer) -> LoadStatus {
    layer.ownLoadStatus ?? recordedLoadStatus(of: layer.reference) ?? computedLoadStatus(of: layer)
  }

  private func recordedLoadStatus(of object: ObjectReference) -> LoadStatus? {
    isDerivedCurrent ? derived.loadStatuses[object] : nil
  }

  func computedLoadStatus(of container: ViewContent) -> LoadStatus {
    guard let content = try? content(of: container) else { return .notLoaded }
    return merged(content.directLayers)
  }

  func computedLoadStatus(of layer: Layer) -> LoadStatus {
    layer.ownLoadStatus ?? merged(layer.grouping?.layers ?? IDList())
  }

  private func merged(_ ids: some Sequence<LayerID>) -> LoadStatus {
    var result = LoadStatus.loaded
    for id in ids {
      guard let layer = layers[id] else { continue }
      switch (computedLoadStatus(of: layer), result) {
      case (.failed(let failure), _): return .failed(layer.kind == .group ? failure : failure.naming(id))
      case (.loading, _): result = .loading
      case (.notLoaded, .loaded): result = .notLoaded
      case (.notLoaded, _), (.loaded, _): break
      }
    }
    return result
  }

  // MARK: Layers in views

  /// The state of each layer in a view, in drawing order, a group before its layers.
  ///
  /// - Complexity: O(layers).
  public func layerViewStates(of view: View) -> [(layer: LayerID, state: LayerViewState)] {
    // Each frame of an animation comes here: nothing is copied of the world.
    var states: [(layer: LayerID, state: LayerViewState)] = []
    if let content = try? content(of: view.content) {
      for top in content.topLayers { add(top, at: view.camera.scale, to: &states) }
    }
    return states
  }

  /// The number of layers with a state in a view; 0 during a command that has changed something. O(1).
  public func layerViewStateCount(of view: ViewID) -> Int {
    isDerivedCurrent ? derived.views[view]?.states.count ?? 0 : 0
  }

  /// Appends the states of a top-level layer and its subtree at a scale.
  func add(_ top: LayerID, at scale: Double, to result: inout [(layer: LayerID, state: LayerViewState)]) {
    _ = add(top, [], isHidden: nil, at: scale, to: &result)
  }

  /// - Parameters:
  ///   - outer: the state imposed by the enclosing groups.
  ///   - isHidden: whether the group hides the layer by its visibility mode; nil if the layer's own visibility decides.
  private func add(
    _ id: LayerID, _ outer: LayerViewState, isHidden: Bool?, at scale: Double,
    to result: inout [(layer: LayerID, state: LayerViewState)]
  ) -> LayerViewState {
    // Read in place: finding a layer would copy it.
    let read = layers.read(id) { layer in
      (state: layer.pointee.stateOfItsOwn(in: outer, isHidden: isHidden, at: scale), grouping: layer.pointee.grouping)
    }
    guard var state = read?.state else { return [] }
    let index = result.count
    result.append((id, state))
    if let grouping = read?.grouping {
      let isExclusive = grouping.visibilityMode == .exclusive
      let shown = isExclusive ? grouping.layers.reversed().first { layers[$0]?.appearance.isVisible == true } : nil
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
      result[index].state = state
    }
    return state
  }
}

extension Layer {
  /// The state in a view, without the flags that depend on the layers of a group.
  fileprivate func stateOfItsOwn(in outer: LayerViewState, isHidden: Bool?, at scale: Double) -> LayerViewState {
    var state = outer
    if isHidden ?? !appearance.isVisible { state.insert(.notVisible) }
    if !appearance.shows(at: scale) { state.insert(.outOfScale) }
    guard grouping == nil else { return state }
    switch ownLoadStatus {
    case .loaded: if state.isDisjoint(with: [.notVisible, .outOfScale]) { state.insert(.active) }
    case .loading: state.insert(.loading)
    case .failed: state.insert(.error)
    case .notLoaded, nil: break
    }
    return state
  }
}

/// The states of the layers in a view, computed on demand.
public struct ViewLayerStates: Sendable {
  private let world: World
  private let scale: Double
  /// In drawing order.
  public let topLayers: [LayerID]

  public init(of view: View, in world: World) {
    self.world = world
    scale = view.camera.scale
    topLayers = (try? world.content(of: view.content)).map { Array($0.topLayers) } ?? []
  }

  /// The states of some of the top-level layers and their subtrees.
  ///
  /// - Complexity: O(layers).
  public func states(of indices: Range<Int>) -> [(layer: LayerID, state: LayerViewState)] {
    var result: [(layer: LayerID, state: LayerViewState)] = []
    for id in topLayers[indices] { world.add(id, at: scale, to: &result) }
    return result
  }
}

extension Failure {
  /// The failure in the form that the load status of a map, scene or group has.
  func naming(_ layer: LayerID) -> Failure {
    Failure(
      kind: kind.string, message: "layer \"\(layer)\": \(message)", path: "/layers/\(layer)", expected: expected?.string
    )
  }
}
