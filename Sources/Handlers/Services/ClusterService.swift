// Handlers of `cluster/*`: clusters of layers, overlays, and plain points.

import Clusters
import Drawing
import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Planning
import WireCoding

package enum ClusterService: ClusterHandlers {
  package static func query(
    _ params: ClusterProtocol.Query.Params, in world: inout World
  ) throws -> Plan<ClusterProtocol.Query.Result> {
    let clustering = try Clustering(layer: params.layer, overlay: params.overlay, in: world)
    let view = try params.view.map { try world.views.require(ID($0)) }
    let zoom: Int
    switch (view, params.scale, params.zoom) {
    case (let view?, nil, nil): zoom = clustering.zoom(scale: view.camera.scale, dpi: view.screen.dpi)
    case (nil, let scale?, nil): zoom = clustering.zoom(scale: scale)
    case (nil, nil, let given?): zoom = clustering.zoom(given)
    default: throw ModelError.oneOf(["view", "scale", "zoom"])
    }
    let scale = view?.camera.scale ?? params.scale ?? ClusterZoom.scale(zoom: params.zoom ?? 0)
    let area =
      params.envelope == nil
      ? try view.flatMap { try Area(showing: $0, for: clustering.store, in: clustering.reference, world) }
      : try Area(
        params.envelope.map(Wire.envelope), world.canonical(params.spatialReference), for: clustering.store,
        in: clustering.reference, world)
    let (revision, offset, limit) = (world.revision, params.offset, params.limit)
    let content = ClusterPage.Content(symbols: params.returnSymbols, popups: params.returnPopups)
    // A thread would cost more than to find nothing.
    if params.maxBytes == nil, let boxes = area?.indexBoxes, clustering.current?.isEmpty(in: boxes, zoom: zoom) == true {
      return TaskPlan(
        answer: .init(
          revision: revision, spatialReference: clustering.reference.definition, zoom: zoom, exceededLimit: false, clusters: []))
    }
    let layer = try drawn(layer: params.layer, overlay: params.overlay, at: scale, in: world)
    return plan(clustering) { features, share in
      let shares = share.split(by: 1, 1)
      let nodes = try features.nodes(in: area?.indexBoxes, zoom: zoom, checking: shares[0].checkpoint)
      let shown = Array(nodes.dropFirst(offset).prefix(limit))
      let page = try ClusterPage(features, of: layer, content, zoom: zoom, share)
      let clusters = try page.clusters(shown, shares[1])
      let hasMore = nodes.dropFirst(offset).count > clusters.count
      return try .cut(params.maxBytes, clusters.count, after: offset, hasMore: hasMore) { count in
        ClusterProtocol.Query.Result(
          revision: revision, spatialReference: clustering.reference.definition, zoom: zoom, exceededLimit: false,
          clusters: Array(clusters.prefix(count)))
      }
    }
  }

  /// A layer or an overlay as it is drawn at a scale.
  private static func drawn(
    layer: String?, overlay: String?, at scale: Double, in world: World
  ) throws -> DrawnLayer? {
    if let overlay { return DrawnLayer(try world.overlays.require(ID(overlay)), at: scale, in: world) }
    guard let layer = try layer.map({ world.live(try world.layers.require(ID($0))) }), let features = layer.features,
      let store = features.store
    else { return nil }
    return DrawnLayer(layer, features, store, at: scale, in: world)
  }

  package static func members(_ params: Members.Params, in world: inout World) throws -> Plan<Members.Result> {
    let clustering = try Clustering(layer: params.layer, overlay: params.overlay, in: world)
    let revision = world.revision
    return plan(clustering) { features, share in
      guard let cluster = features.cluster(params.cluster) else {
        throw RPCError(
          .unknownId, "There is no cluster \(params.cluster).", path: "/params/cluster", expected: "the id of a cluster"
        )
      }
      let ids = try memberIDs(of: cluster, features, offset: params.offset, limit: params.limit, share)
      let count = features.tree.count(of: cluster)
      let hasMore = params.offset < count && ids.count < count - params.offset
      return try .cut(params.maxBytes, ids.count, after: params.offset, hasMore: hasMore) { shown in
        Members.Result(
          revision: revision, count: count, expansionZoom: features.tree.expansionZoom(of: cluster),
          exceededLimit: false, ids: Array(ids.prefix(shown)))
      }
    }
  }

  package static func points(_ params: Points.Params, in world: inout World) throws -> Plan<Points.Result> {
    let plane = try Clustering.plane(try world.canonical(params.spatialReference) ?? .wgs84, world)
    let settings = ClusterSettings(radius: params.radius, maxZoom: params.maxZoom)
    let revision = world.revision
    return TaskPlan(result: { worker in
      let shares = WorkShare(worker.work).split(by: 3, 8, 1, 1)
      let features = try ClusteredFeatures(
        try store(of: params, shares[0]), plane, settings, shown: { $0 }, checking: shares[1].checkpoint)
      let nodes = try features.nodes(in: nil, zoom: params.zoom, checking: shares[2].checkpoint).dropFirst(
        params.offset)
      let page = Array(nodes.prefix(params.limit))
      let clusters = try ClusterPage(features, of: nil, zoom: params.zoom, shares[2]).clusters(page, shares[3])
      let members =
        params.returnMembers
        ? try page.map { try memberIDs(of: $0, features, offset: 0, limit: .max, shares[3]) } : nil
      return try .cut(params.maxBytes, clusters.count, after: params.offset, hasMore: nodes.count > clusters.count) { count in
        Points.Result(
          revision: revision, exceededLimit: false, clusters: Array(clusters.prefix(count)),
          members: members.map { Array($0.prefix(count)) })
      }
    })
  }

  private static func store(of params: Points.Params, _ share: WorkShare) throws -> FeatureStore {
    let batch = try ColumnSources.batch(params.points, at: "/points").batch
    try share.checkpoint(0.7)
    var store = FeatureStore()
    do throws(StoreFailure) { try store.append(batch) } catch { throw ModelError(error) }
    return store
  }

  // MARK: -

  /// Plans an answer from the clusters, which a worker makes or updates.
  private static func plan<R: Sendable>(
    _ clustering: Clustering, _ answer: @escaping @Sendable (ClusteredFeatures, WorkShare) throws -> R
  ) -> Plan<R> {
    TaskPlan(result: { worker in
      let shares = WorkShare(worker.work).split(by: 9, 1)
      return try answer(try clustering.features(checking: shares[0].checkpoint), shares[1])
    })
  }

  private static func memberIDs(
    of cluster: ClusterNode, _ features: ClusteredFeatures, offset: Int, limit: Int, _ share: WorkShare
  ) throws -> [Int] {
    var ids: [Int] = []
    guard limit > 0 else { return [] }
    try features.tree.forEachRow(of: cluster, from: offset) { row in
      if ids.count & 0xfff == 0xfff { try share.work?.checkCancelled() }
      if let id = features.store[row]?.id { ids.append(id) }
      return ids.count < limit
    }
    return ids
  }
}
