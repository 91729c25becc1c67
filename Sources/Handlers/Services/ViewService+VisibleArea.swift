// The visible area of a view, as a polygon and as a box, in any spatial reference.

import GeoModel
import GeoProtocol
import Geometry
import WireCoding

extension ViewService {
  package static func getVisibleArea(_ params: GetVisibleArea.Params, in world: World) throws -> GetVisibleArea.Result {
    let view = try world.views.require(ID(params.view))
    let reference = try world.canonical(params.spatialReference) ?? view.reference.reference
    let (rings, box) = try visible(of: view, in: reference, world)
    return .init(
      revision: world.revision, spatialReference: reference.definition,
      polygon: Wire.opaque(rings.count == 1 ? .polygon([rings[0]]) : .multiPolygon(rings.map { [$0] })),
      envelope: Wire.envelope(box))
  }

  private static func visible(
    of view: View, in reference: SpatialReference, _ world: World
  ) throws -> (rings: [Positions], box: Envelope) {
    let own = view.reference.reference
    let info = try world.transformer.describe(reference)
    let wrap = WorldWrap(info, world.transformer)
    guard view.wrap == nil, reference != own, let wrap else {
      let pieces = view.visiblePieces
      let rings = try pieces.map { try transformed($0, from: own, to: reference, world) }
      return (rings, try box(around: pieces, of: view, in: reference, wrap, info, world))
    }
    // The view's reference does not wrap around the world, so poles and the antimeridian have to be found in degrees.
    if info.kind == .geographic {
      let area = try view.visibleArea(in: reference, world.transformer)
      return (area.rings, area.box)
    }
    let area = try view.visibleArea(in: .wgs84, world.transformer)
    let boxes = try area.box.split(at: 180).map { try world.bounds(of: $0, from: .wgs84, to: reference) }
    var all = boxes.reduce(into: Envelope.none) { $0.include($1) }
    if boxes.count > 1 { (all.xMin, all.xMax) = (boxes[0].xMin, boxes[1].xMax + wrap.width) }
    let limit = PolarLimit(info, world.transformer)
    let rings = try area.rings.map { ring in
      try transformed(limit?.clamped(degrees: ring) ?? ring, from: .wgs84, to: reference, world)
    }
    return (rings, all)
  }

  /// The envelope of the visible area. Across the antimeridian, `xMin > xMax` in degrees; in other references that wrap around
  /// the world, `xMax` is beyond the edge of the world, as are the coordinates of screen points.
  ///
  /// - Parameter pieces: the pieces of the area from west to east.
  private static func box(
    around pieces: [Positions], of view: View, in reference: SpatialReference, _ wrap: WorldWrap?,
    _ info: SpatialReferenceInfo, _ world: World
  ) throws -> Envelope {
    let own = view.reference.reference
    let boxes = try pieces.compactMap { Geometry.multiPoint($0).envelope }
      .map { try world.bounds(of: $0, from: own, to: reference) }
    var all = boxes.reduce(into: Envelope.none) { $0.include($1) }
    guard let wrap, let first = boxes.first, let last = boxes.last else { return all }
    if view.showsWholeTurn {
      (all.xMin, all.xMax) = (wrap.xMin, wrap.xMax)
    } else {
      (all.xMin, all.xMax) = (first.xMin, last.xMax)
      if info.kind != .geographic, boxes.count > 1 { all.xMax += wrap.width }
    }
    return all
  }

  private static func transformed(
    _ ring: Positions, from source: SpatialReference, to target: SpatialReference, _ world: World
  ) throws -> Positions {
    guard case .multiPoint(let moved) = try world.transformer.transform(.multiPoint(ring), from: source, to: target)
    else { return ring }
    return moved
  }
}
