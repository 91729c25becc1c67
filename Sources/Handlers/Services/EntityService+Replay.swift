// The handler of `entity/createReplay`.

import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Planning
import Reading
import WireCoding

extension EntityService {
  package static func createReplay(_ params: CreateReplay.Params, in world: inout World) throws -> Plan<JSONOpaque> {
    let id = params.id.map { EntitySourceID($0) }
    let owner = try Wire.object(params.owner, "owner", in: world)
    let features = try world.features(of: ID(params.source), sourceLayer: params.sourceLayer)
    try world.checkFree(id)
    let members = try Wire.changes(params.members)
    return TaskPlan(.edit) { worker in
      let store: FeatureStore
      let schema: SourceLayer
      do { (store, schema) = try FeatureLoading.store(of: features, worker) } catch ReadError.cancelled {
        throw CancellationError()
      }
      guard let column = store.schema.column(named: params.timeField) else {
        throw ModelError.unknownField(params.timeField, available: schema.fields.map(\.name.string), path: "/timeField")
      }
      guard let replay = EntityReplay(store, timesIn: column, factor: params.factor) else {
        throw RPCError(
          .invalidTime, "No feature has a time in \"\(params.timeField)\".", path: "/params/timeField",
          expected: "a field with RFC 3339 times, or milliseconds since 1970")
      }
      return { world in
        let fields = EntityFields(
          fields: store.fields, track: params.trackIdField, time: params.timeField, speed: params.speedField,
          course: params.courseField)
        let source = try world.createEntitySource(
          id: id, owner: owner, fields, reference: schema.reference ?? .wgs84, members, replay: replay)
        return Wire.object(source, world)
      }
    }
  }
}
