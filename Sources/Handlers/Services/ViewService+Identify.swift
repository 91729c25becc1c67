// Handlers of `view/*` that find features and graphics at a screen point.

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

extension ViewService {
  package static func identify(_ params: Identify.Params, in world: inout World) throws -> Plan<Identify.Result> {
    let identification = try Identification(params, in: world)
    return TaskPlan(result: { worker in
      let shares = WorkShare(worker.work).split(by: 4, 1)
      let found = try identification.found(shares[0], worker).filter { !$0.hits.isEmpty || $0.error != nil }
      let count = max(0, found.reduce(0) { $0 + $1.count } - params.offset)
      return try .cut(params.maxBytes, count, after: params.offset, hasMore: false) { count in
        var writing = IdentifyWriting(params, worker)
        var results: [ViewProtocol.IdentifyResult] = []
        let shown = found.part(from: params.offset, limit: count)
        for (each, share) in zip(shown, shares[1].split(by: shown.map { _ in 1 })) {
          try share.checkpoint(0)
          guard let result = try writing.result(of: each, share) else { continue }
          results.place(result, in: each.groups[...])
        }
        return .init(revision: identification.world.revision, results: results, exceededLimit: false)
      }
    })
  }

  package static func select(_ params: Select.Params, in world: inout World) throws -> Plan<Select.Result> {
    let identification = try Identification(params, in: world)
    let mode = SelectionMode(params.mode)
    return TaskPlan(.edit) { worker in
      let found = try identification.found(WorkShare(worker.work), worker).filter { $0.kind ?? .entities == .entities }
        .map { ($0.layer.object, $0.ids) }
      return { world in
        let results = try found.compactMap { (object, ids) in try select(ids, mode, of: object, &world) }
        return .init(revision: world.revision, results: results)
      }
    }
  }

  /// Changes one selection; nil if nothing was found, or the object was removed.
  private static func select(
    _ ids: [Int], _ mode: SelectionMode, of object: ObjectReference, _ world: inout World
  ) throws -> ViewProtocol.SelectResult? {
    guard let selected = try world.select(existing: ids, mode, of: object), !ids.isEmpty else { return nil }
    let isOverlay = object.collection == .overlays
    return .init(
      layer: isOverlay ? nil : object.id, overlay: isOverlay ? object.id : nil, ids: selected.ids,
      selectedCount: selected.count)
  }
}

extension [Identification.Found] {
  /// What was found, without the first hits of all, and with at most `limit` others.
  fileprivate func part(from start: Int, limit: Int) -> Self {
    var (skipped, left) = (start, limit)
    return compactMap { found in
      let count = Swift.min(Swift.max(0, found.count - skipped), left)
      defer { (skipped, left) = (Swift.max(0, skipped - found.count), left - count) }
      guard count > 0 else { return nil }
      var part = found
      part.hits = found.hits.part(from: skipped, limit: count)
      return part
    }
  }
}

extension Identification.Found {
  /// The number of hits; an error counts as one.
  fileprivate var count: Int { error == nil ? hits.count : 1 }
}

extension [ViewProtocol.IdentifyResult] {
  /// Appends the result of a layer, within the results of its enclosing groups.
  fileprivate mutating func place(_ result: ViewProtocol.IdentifyResult, in groups: ArraySlice<Layer>) {
    guard let group = groups.first else { return append(result) }
    if last?.layer != group.id.rawValue {
      append(
        .init(
          layer: group.id.rawValue, name: group.name, distances: [], popups: [], exceededLimit: false,
          sublayerResults: []))
    }
    self[count - 1].sublayerResults.place(result, in: groups.dropFirst())
  }
}

/// Writes results within the size limit.
private struct IdentifyWriting {
  private let params: ViewProtocol.Identify.Params
  private let worker: Worker
  /// Number of bytes left.
  private var room: Int

  init(_ params: ViewProtocol.Identify.Params, _ worker: Worker) {
    (self.params, self.worker, room) = (params, worker, worker.work.resultBytes)
  }

  /// The result of a layer or overlay; nil if it has no popups and the request is for popups only.
  mutating func result(of found: Identification.Found, _ share: WorkShare) throws -> ViewProtocol.IdentifyResult? {
    let (layer, hits) = (found.layer, found.hits)
    let isOverlay = layer.stratum == .overlay
    let rows = hits.hits.compactMap { layer.store[$0.row] }
    let popups = try self.popups(of: found, share) + layer.popups(of: rows)
    if params.returnPopupsOnly, popups.isEmpty, found.error == nil { return nil }
    let isWritten = !params.returnPopupsOnly && found.error == nil
    let clusters = isWritten ? try found.clusters.map { try written(hits.clusters, of: $0, layer, share) } : nil
    return .init(
      layer: isOverlay ? nil : layer.object.id, overlay: isOverlay ? layer.object.id : nil, name: layer.name,
      spatialReference: layer.reference.definition, entityFeatures: found.kind?.wire, features: isWritten ? try written(rows, of: layer) : nil,
      distances: isWritten ? hits.hits.map(\.distance) : [], popups: popups, clusters: clusters,
      clusterDistances: clusters.map { _ in hits.clusters.map(\.distance) },
      parts: isWritten ? parts(hits.hits.map(\.isLabel)) : nil, clusterParts: isWritten ? parts(hits.clusters.map(\.isLabel)) : nil,
      exceededLimit: hits.exceedsLimit,
      sublayerResults: [], error: found.error.map { Wire.failure(RPCError($0).failure) })
  }

  /// What was hit of each; nil if all are symbols.
  private func parts(_ areLabels: [Bool]) -> [ViewProtocol.DrawnPart]? {
    areLabels.contains(true) ? areLabels.map { $0 ? .label : .symbol } : nil
  }

  /// The popups of the clusters that were hit.
  private func popups(of found: Identification.Found, _ share: WorkShare) throws -> [SymbologyProtocol.Popup] {
    guard let clusters = found.clusters, clusters.portrayal.hasPopups else { return [] }
    let nodes = found.hits.clusters.map(\.node)
    let rows = try clusters.portrayal.attributes.rows(of: nodes, in: clusters.features) { _ in
      try share.work?.checkCancelled()
    }
    return zip(nodes, rows).compactMap { node, row in
      let id = clusters.features.clusterID(of: node)
      return clusters.portrayal.popup(of: row).map { Wire.popup($0, of: row.id, cluster: id) }
    }
  }

  private func written(
    _ hits: [ClusterHit], of clusters: DrawnClusters, _ layer: DrawnLayer, _ share: WorkShare
  ) throws -> [ClusterProtocol.Cluster] {
    let page = try ClusterPage(clusters.features, of: layer, zoom: clusters.zoom, share)
    return try page.clusters(hits.map(\.node), share)
  }

  private mutating func written(_ rows: [FeatureRow], of layer: DrawnLayer) throws -> JSONOpaque {
    var selection = FeatureWriter.Selection()
    selection.geometry = params.returnGeometry
    selection.nulls = layer.stratum != .overlay
    return try .made { writer in
      writer.beginArray()
      for row in rows {
        try worker.checkCancelled()
        try FeatureWriter.writeFeature(
          row, layer.store.schema, selection, to: &writer, checkpoint: worker.checkCancelled)
        guard writer.count <= room else { throw RPCError.resultTooLarge(limit: worker.work.resultBytes) }
      }
      writer.endArray()
      room -= writer.count
    }
  }
}
