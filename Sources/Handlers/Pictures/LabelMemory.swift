// The labels of views as they were placed last, and what pictures of scenes draw, for `view/identify`: kept until what they depend on changes.

import Drawing
import GeoModel
import GeoProtocol
import Geometry
import Pictures
import Planning
import Platform
import Synchronization

/// Placed labels and sizes of texts, which all clients share.
package final class LabelMemory: Sendable {
  /// What the labels of a view depend on.
  private struct Key: Hashable {
    let metrics: PictureProtocol.TextMetrics
    let isPerspective: Bool
    let objects: [ObjectReference]
    /// Of the last change of each.
    let revisions: [Int]

    /// - Complexity: O(layers and objects with an environment).
    init(_ view: View, _ metrics: PictureProtocol.TextMetrics, _ isPerspective: Bool, in world: World) {
      (self.metrics, self.isPerspective) = (metrics, isPerspective)
      let layers = world.layerViewStates(of: view).map(\.layer)
      let sources = layers.compactMap { world.layers[$0]?.features?.entitySource }
      objects =
        [ObjectReference(.views, view.id.rawValue), view.content.reference] + layers.map { ObjectReference(.layers, $0.rawValue) }
        + sources.map { ObjectReference(.entitySources, $0.rawValue) } + view.overlays.map { ObjectReference(.overlays, $0.rawValue) }
        + world.ids(of: .environments).map { ObjectReference(.environments, $0) }
      revisions = objects.map { world.revision(of: $0) ?? 0 }
    }
  }

  /// What a view draws, by its layers and overlays.
  struct Placed: Sendable {
    var labels: [ObjectReference: [PlacedLabel]] = [:]
    /// Of a scene in perspective, what is searched: of each layer its own, then that of its tracks.
    var shapes: [ObjectReference: [DrawnShapes]]?
    var failed: [ObjectReference: TransformError] = [:]
    /// About how many positions that is.
    fileprivate var size: Int { shapes?.values.joined().reduce(0) { $0 + $1.size } ?? 0 }
  }

  private final class Entry: Sendable {
    let key: Key
    let labels = Mutex<Placed?>(nil)

    init(_ key: Key) { self.key = key }
  }

  private static let limit = 16
  /// Positions that are kept of a view.
  private static let sizeLimit = 1 << 20
  private let kept = Mutex<[ViewID: (entry: Entry, use: Int)]>([:])
  let texts = TextMemory()

  package init() {}

  /// What is kept of a view.
  ///
  /// - Parameters:
  ///   - check: called while another task makes it; throws to cancel.
  ///   - place: makes it, if it is not kept.
  func placed(
    of view: View, _ metrics: PictureProtocol.TextMetrics, isPerspective: Bool, in world: World, checking check: () throws -> Void,
    else place: () throws -> Placed
  ) throws -> Placed {
    let key = Key(view, metrics, isPerspective, in: world)
    let entry = kept.withLock { kept in
      let entry = kept[view.id].flatMap { $0.entry.key == key ? $0.entry : nil } ?? Entry(key)
      kept[view.id] = (entry, world.revision)
      if kept.count > Self.limit, let oldest = kept.min(by: { $0.value.use < $1.value.use })?.key { kept[oldest] = nil }
      return entry
    }
    return try waitUntilFree(checking: check) {
      try entry.labels.withLockIfAvailable { labels -> Placed in
        if let labels { return labels }
        let placed = try place()
        if placed.size <= Self.sizeLimit { labels = placed }
        return placed
      }
    }
  }
}

extension Worker {
  /// Measures texts with the fonts of the machine, or estimates their sizes.
  var meter: TextMeter { textMetrics == .fonts ? fontMeter : TextMeter(measuredBy: TextSize.estimates) }

  /// Nil where sizes are estimated.
  var searchMeter: TextMeter? { textMetrics == .fonts ? fontMeter : nil }

  private var fontMeter: TextMeter { TextMeter(labels.texts) { try self.measure($0) } }

  /// The labels that a view draws, and all else that a scene does in perspective.
  func placed(in rendering: Rendering, _ share: WorkShare) throws -> LabelMemory.Placed {
    let (view, world) = (rendering.view, rendering.world)
    let isPerspective = rendering.isPerspective && view.perspective(in: world) != nil
    return try labels.placed(of: view, textMetrics, isPerspective: isPerspective, in: world, checking: checkCancelled) {
      let shares = share.split(by: isPerspective ? 1 : 0, 1)
      var options = PictureOptions()
      (options.isOfLabels, options.isKept) = (!isPerspective, isPerspective)
      if isPerspective { try rendering.addGround(to: &options, ratio: 1, hasSky: false, self, shares[0]) }
      let picture = try ViewPicture(try rendering.layers(world), of: view, in: world, options, shares[1].checkpoint)
      let labels = try picture.placedLabels(measuredBy: meter) { try share.checkpoint(1) }
      var placed = LabelMemory.Placed(labels: Dictionary(grouping: labels) { picture.objects[$0.object] })
      guard isPerspective else { return placed }
      placed.shapes = picture.kept
      for (object, error) in picture.failed { placed.failed[object] = error as? TransformError }
      return placed
    }
  }
}
