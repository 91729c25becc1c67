// The handler of `feature/nearest`.

import FeatureStore
import GeoModel
import GeoProtocol
import JSONRPC
import Planning
import Proximity
import WireCoding

extension FeatureService {
  package static func nearest(_ params: Nearest.Params, in world: inout World) throws -> Plan<Nearest.Result> {
    guard !params.planar || !params.returnAzimuth else {
      throw RPCError(
        .invalidParams, "Planar distances have no azimuths.", path: "/params/returnAzimuth",
        expected: "false, or planar false")
    }
    let features = try FeatureQuery(params, in: world)
    let nearest = try NearestFeatures(
      features, try Wire.geometry(params.locations, keepsEmptyPoints: true), at: "/locations",
      in: try world.canonical(params.spatialReference), limit: params.limit, maxDistance: params.maxDistance,
      planar: params.planar, world)
    let columns = try params.properties.map { try features.columns($0, at: "properties") }
    let (returnsAzimuth, revision) = (params.returnAzimuth, world.revision)
    return try plan(effort: nearest.effort) { share in
      let answer = try nearest.answer(share)
      let (store, start) = (features.store, min(params.offset, answer.neighbours.count))
      let count = answer.neighbours.count - start
      return try .cut(params.maxBytes, count, after: params.offset, hasMore: false) { count in
        let shown = answer.neighbours[start..<start + count]
        var end = 0
        let counts = answer.counts.map { count in
          end += count
          return shown.indices.clamped(to: end - count..<end).count
        }
        var result = Nearest.Result(
          revision: revision, counts: counts, ids: shown.map(\.id), distances: shown.map(\.distance),
          exceededLimit: answer.exceeded)
        if returnsAzimuth { result.azimuths = shown.map { $0.distance == 0 ? 0 : $0.azimuth } }
        if let columns {
          result.columns = try attributes(columns, of: shown.lazy.map { store.feature(id: $0.id) }, store, share)
        }
        return result
      }
    }
  }

  /// The attributes of features in columns.
  static func attributes(
    _ columns: [Int], of features: some Sequence<FeatureRow?>, _ store: FeatureStore, _ share: WorkShare
  ) throws -> OverlayProtocol.FeatureColumns {
    var selection = FeatureWriter.Selection()
    selection.geometry = false
    selection.columns = columns
    var writer = FeatureColumnsWriter(store.schema, selection)
    for (index, feature) in features.enumerated() {
      if index & 255 == 0 {
        try share.work?.checkCancelled()
        try share.checkSize(writer.byteCount)
      }
      if let feature { writer.append(feature) }
    }
    return writer.columns()
  }
}
