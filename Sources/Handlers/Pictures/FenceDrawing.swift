// The fences of monitors in pictures: outlined areas above the layers, with their buffers as geodesic areas.

import Drawing
import FeatureStore
import GeoModel
import Geometry
import GeometryEngine
import Planning

extension Rendering {
  /// Fences of a monitor that are drawn, at most.
  private static let fenceLimit = 10_000

  private static var fenceSymbol: Symbol {
    let color = Color(red: 0xD9, green: 0x54, blue: 0x1E)
    return .simpleFill(SimpleFillSymbol(color: color.faded(0.15), outline: SimpleLineSymbol(color: color, width: 1.5)))
  }

  /// The fences of each monitor as a layer of its name; none of one whose fences are not there.
  func fences(_ worker: Worker, _ share: WorkShare) throws -> [DrawnLayer] {
    let monitors = Array(world.geotriggers.values)
    return try zip(monitors, share.split(by: monitors.map { _ in 1 })).compactMap { monitor, share in
      guard let set = fences(of: monitor) else { return nil }
      var question = FeatureQuestion(set)
      question.condition = monitor.whereClause
      guard let query = try? FeatureQuery(question, in: world) else { return nil }
      let found = try query.computedPage([], offset: 0, limit: Self.fenceLimit, share)
      let globe = Globe(set.reference, in: world)
      let calculator = try GeometryCalculator()
      var batch = FeatureBatch()
      for (index, row) in found.page.enumerated() {
        try share.checkpoint(index, of: found.page.count)
        guard let feature = found.features.store[row], var geometry = feature.geometry else { continue }
        if monitor.buffer > 0 {
          do {
            geometry = try globe.back(
              GeometryService.buffered(geometry, monitor.buffer, .geodesic, within: nil, mends: true, on: globe, worker, calculator))
          } catch {
            try worker.checkCancelled()
            // A monitor warns of fences that have no area.
            continue
          }
        }
        batch.begin(id: feature.id)
        batch.setGeometry(geometry)
      }
      var scratch = world
      let overlay = try scratch.createOverlay(
        id: nil, on: view.id, reference: set.reference,
        [MemberChange(.name, monitor.id.rawValue), MemberChange(.renderer, Renderer(.simple(SymbolEntry(symbol: Self.fenceSymbol))))])
      _ = try scratch.addGraphics(batch, to: overlay.id)
      return DrawnLayer(try scratch.overlays.require(overlay.id), at: view.camera.scale, dpi: view.screen.dpi, in: scratch)
    }
  }

  /// Nil if there are none for now.
  private func fences(of monitor: GeotriggerMonitor) -> FeatureSet? {
    guard let object = monitor.fences.flatMap({ world.find($0.string) }) else { return nil }
    return switch object.collection {
    case .layers: try? FeatureSet(LayerID(object.id), in: world)
    case .overlays: try? FeatureSet(OverlayID(object.id), in: world)
    case .entitySources: try? FeatureSet(EntitySourceID(object.id), .entities, ids: nil, in: world)
    default: nil
    }
  }
}
