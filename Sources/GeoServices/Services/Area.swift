// The box that a question is about, as it was given and as the index of the features can be asked for it.

import GeoModel
import GeoProtocol
import Geometry
import JSONRPC
import Query

/// A box to search in: in the reference it was given in, and as boxes of the features' own for the index.
struct Area: Sendable {
  let reference: SpatialReference
  /// With the same of it a turn of the world away, where it crosses the antimeridian.
  let given: [Envelope]
  /// Together they hold at least all that the given ones do; nil for everything.
  let own: [Envelope]?

  init?(
    _ envelope: SessionProtocol.Envelope?, _ reference: String?, for store: FeatureStore,
    in features: SpatialReference, _ world: World
  ) throws {
    guard let envelope = envelope.map(Wire.envelope) else { return nil }
    guard envelope.yMin <= envelope.yMax else {
      throw RPCError(
        .invalidParams, "yMax is below yMin.", path: "/params/envelope/yMax", expected: "number not below yMin")
    }
    self.reference = try world.canonical(reference) ?? features
    let info = try world.transformer.describe(self.reference)
    if let wrap = WorldWrap(info, world.transformer) {
      given = wrap.turns(of: envelope)
    } else if envelope.xMin > envelope.xMax {
      throw RPCError(
        .invalidParams, "Only a box in a reference that goes around the world can cross the antimeridian.",
        path: "/params/envelope/xMax", expected: "number not below xMin")
    } else {
      given = [envelope]
    }
    guard self.reference != features else {
      own = given
      return
    }
    guard let extent = store.extent else {
      own = []
      return
    }
    var boxes: [Envelope] = []
    for part in given {
      // What cannot be told is no error: the exact test that follows looks at every feature then.
      guard let found = world.transformer.boxes(holding: part, of: self.reference, in: features, within: extent)
      else {
        own = nil
        return
      }
      boxes += found
    }
    own = boxes
  }

  /// Whether a feature's own envelope, in the reference of the area, meets it.
  func isMet(by row: FeatureRow, in own: SpatialReference, _ transformer: any CoordinateTransformer) -> Bool {
    if reference == own {
      guard let box = row.envelope else { return false }
      return given.contains { $0.intersects(box) }
    }
    guard let geometry = row.geometry, !geometry.isEmpty,
      let box = (try? transformer.transform(geometry, from: own, to: reference))?.envelope
    else { return false }
    return given.contains { $0.intersects(box) }
  }
}
