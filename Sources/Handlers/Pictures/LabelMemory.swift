// The labels of views as they were placed last, for `view/identify`: kept until what they depend on changes.

import Drawing
import GeoModel
import GeoProtocol
import Pictures
import Planning
import Platform
import Synchronization

/// Placed labels and sizes of texts, which all clients share.
package final class LabelMemory: Sendable {
  /// What the labels of a view depend on.
  private struct Key: Hashable {
    let metrics: PictureProtocol.TextMetrics
    let objects: [ObjectReference]
    /// Of the last change of each.
    let revisions: [Int]

    /// - Complexity: O(layers and objects with an environment).
    init(_ view: View, _ metrics: PictureProtocol.TextMetrics, in world: World) {
      self.metrics = metrics
      let layers = world.layerViewStates(of: view).map(\.layer)
      let sources = layers.compactMap { world.layers[$0]?.features?.entitySource }
      objects =
        [ObjectReference(.views, view.id.rawValue), view.content.reference] + layers.map { ObjectReference(.layers, $0.rawValue) }
        + sources.map { ObjectReference(.entitySources, $0.rawValue) } + view.overlays.map { ObjectReference(.overlays, $0.rawValue) }
        + world.ids(of: .environments).map { ObjectReference(.environments, $0) }
      revisions = objects.map { world.revision(of: $0) ?? 0 }
    }
  }

  typealias Placed = [ObjectReference: [PlacedLabel]]

  private final class Entry: Sendable {
    let key: Key
    let labels = Mutex<Placed?>(nil)

    init(_ key: Key) { self.key = key }
  }

  private static let limit = 16
  private let kept = Mutex<[ViewID: (entry: Entry, use: Int)]>([:])
  let texts = TextMemory()

  package init() {}

  /// The labels of a view by their layers and overlays.
  ///
  /// - Parameters:
  ///   - check: called while another task places them; throws to cancel.
  ///   - place: places them, if they are not kept.
  func labels(
    of view: View, _ metrics: PictureProtocol.TextMetrics, in world: World, checking check: () throws -> Void, else place: () throws -> Placed
  ) throws -> Placed {
    let key = Key(view, metrics, in: world)
    let entry = kept.withLock { kept in
      let entry = kept[view.id].flatMap { $0.entry.key == key ? $0.entry : nil } ?? Entry(key)
      kept[view.id] = (entry, world.revision)
      if kept.count > Self.limit, let oldest = kept.min(by: { $0.value.use < $1.value.use })?.key { kept[oldest] = nil }
      return entry
    }
    while true {
      let labels = try entry.labels.withLockIfAvailable { labels -> Placed in
        if let labels { return labels }
        let placed = try place()
        labels = placed
        return placed
      }
      if let labels { return labels }
      try check()
      pauseThread()
    }
  }
}

extension Worker {
  /// Measures texts with the fonts of the machine, or estimates their sizes.
  var meter: TextMeter { textMetrics == .fonts ? fontMeter : TextMeter(measuredBy: TextSize.estimates) }

  /// Nil where sizes are estimated.
  var searchMeter: TextMeter? { textMetrics == .fonts ? fontMeter : nil }

  private var fontMeter: TextMeter { TextMeter(labels.texts) { try self.measure($0) } }

  /// The labels that a view draws, by their layers and overlays.
  func placedLabels(of view: View, in world: World, _ share: WorkShare) throws -> LabelMemory.Placed {
    try labels.labels(of: view, textMetrics, in: world, checking: checkCancelled) {
      let layers = try ViewSnapshot(of: view.id, in: world).layers
      var options = PictureOptions()
      options.isOfLabels = true
      let picture = try ViewPicture(layers, of: view, in: world, options, share.checkpoint)
      let labels = try picture.placedLabels(measuredBy: meter) { try share.checkpoint(1) }
      return Dictionary(grouping: labels) { picture.objects[$0.object] }
    }
  }
}
