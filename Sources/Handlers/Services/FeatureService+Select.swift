// The handler of `feature/select`: selects the features that match a query.

import FeatureStore
import GeoModel
import GeoProtocol
import JSONRPC
import Planning
import WireCoding

extension FeatureService {
  package static func select(_ params: Select.Params, in world: inout World) throws -> Plan<Select.Result> {
    guard params.entitySource == nil || params.entityFeatures == .entities else {
      throw RPCError(
        .invalidParams, "Only entities can be selected.", path: "/params/entityFeatures", expected: "entities")
    }
    let features = try FeatureQuery(params, in: world)
    let object =
      params.layer.map { ObjectReference(.layers, $0) } ?? params.overlay.map { ObjectReference(.overlays, $0) }
      ?? ObjectReference(.entitySources, params.entitySource ?? "")
    let mode = SelectionMode(params.mode)
    return TaskPlan(.edit) { worker in
      let shares = WorkShare(worker.work).split(by: 9, 1)
      let rows = try features.rows(shares[0])
      let ids = try features.store.ids(of: rows, checking: shares[1].checkpoint)
      return { world in
        guard let selected = try world.select(existing: ids, mode, of: object) else {
          throw ModelError.unknownID(object.collection, object.id)
        }
        return .init(revision: world.revision, count: selected.ids.count, selectedCount: selected.count)
      }
    }
  }
}
