// Handlers of `layer/tile`, `layer/style`, `overlay/tile` and `overlay/style`.

import Drawing
import GeoModel
import GeoProtocol
import Geometry
import GeometryEngine
import JSON
import JSONRPC
import Planning
import SpatialRelations
import VectorTiles
import WireCoding

extension LayerService {
  package static func tile(_ params: Tile.Params, in world: inout World) throws -> Plan<LayerProtocol.VectorTile> {
    let layer = world.live(try world.layers.require(ID(params.layer)))
    if layer.kind == .raster { return try rasterTile(layer, TileAddress(params), world) }
    let features = try layer.requireFeatures()
    guard let store = features.store else { throw ModelError.notLoaded(params.layer) }
    let options = try TileOptions(params)
    return try TilePlan(DrawnLayer(layer, features, store, at: options.scale, in: world), options, world).plan
  }

  package static func style(_ params: Style.Params, in world: World) throws -> LayerProtocol.StyleResult {
    let layer = world.live(try world.layers.require(ID(params.layer)))
    guard layer.kind == .raster else { return params.result(try StyledLayer(layer: layer, in: world), world.revision) }
    guard layer.raster?.source != nil else { throw ModelError.notLoaded(params.layer) }
    let document = params.document(
      sources: [params.layer], pixels: [params.layer], [world.style(of: layer, opacity: world.opacity(of: layer))])
    return .init(revision: world.revision, style: .made { $0.value(document) }, notExpressed: [])
  }

  /// A tile of pixels; the style has the opacity.
  private static func rasterTile(_ layer: Layer, _ address: TileAddress, _ world: World) throws -> Plan<LayerProtocol.VectorTile> {
    guard let raster = DrawnRaster(layer, opacity: 1, in: world) else { throw ModelError.notLoaded(layer.id.rawValue) }
    let revision = world.revision
    return TaskPlan(result: { worker in
      let png = try worker.png([raster], of: address) ?? []
      let text = png.withUnsafeBytes { Base64.encode($0) }
      try WorkShare(worker.work).checkSize(text.count)
      return .init(
        revision: revision, data: String(decoding: text, as: UTF8.self), bytes: png.count, format: .png, featureCount: 0, isThinned: false,
        omittedCount: 0, failedCount: 0)
    })
  }
}

extension OverlayService {
  package static func tile(_ params: Tile.Params, in world: inout World) throws -> Plan<LayerProtocol.VectorTile> {
    let overlay = try world.overlays.require(ID(params.overlay))
    let options = try TileOptions(params)
    return try TilePlan(DrawnLayer(overlay, at: options.scale, in: world), options, world).plan
  }

  package static func style(_ params: Style.Params, in world: World) throws -> LayerProtocol.StyleResult {
    let overlay = StyledLayer(overlay: try world.overlays.require(ID(params.overlay)), in: world)
    return params.result(overlay, world.revision)
  }
}

extension TileAddress {
  init(_ params: some LayerProtocol.TileOptions) throws(RPCError) {
    let side = 1 << params.z
    guard let address = TileAddress(zoom: params.z, x: params.x, y: params.y) else {
      let (member, value) = params.x < side ? ("y", params.y) : ("x", params.x)
      throw RPCError(
        .invalidParams, "At zoom \(params.z) there is no \(member) \(value).", path: "/params/\(member)",
        expected: "an integer less than \(side)")
    }
    self = address
  }
}

extension TileOptions {
  init(_ address: TileAddress) {
    self.init(address) { areas in
      do throws(EngineError) { return try GeometryCalculator()(.snap(to: 1), [areas]).geometries.first } catch {
        switch error {
        case .failed, .engineFailed, .invalid: return nil
        case .unavailable, .interrupted, .tooExpensive, .tooManyPositions: throw SpatialError(error)
        }
      }
    }
  }

  init(_ params: some LayerProtocol.TileOptions) throws(RPCError) {
    self.init(try TileAddress(params))
    (properties, portrayal) = (params.properties, params.returnPortrayal)
    (maxFeatures, maxBytes) = (params.maxFeatures, params.maxBytes)
  }

  /// The scale's denominator at which the tile has 512 pixels of 96 dpi.
  var scale: Double { ClusterZoom.scale(zoom: address.zoom) }
}

/// A tile that is planned on the loop and made by a worker.
struct TilePlan: Sendable {
  private let layer: DrawnLayer
  private let options: TileOptions
  private let boxes: [Envelope]?
  private let transformer: any CoordinateTransformer
  private let revision: Int

  init(_ layer: DrawnLayer, _ options: TileOptions, _ world: World) throws {
    (self.layer, self.options, transformer, revision) = (layer, options, world.transformer, world.revision)
    boxes = try TileBoxes(for: layer.store, in: layer.reference, transformer).boxes(holding: options.address.envelope)
  }

  var plan: Plan<LayerProtocol.VectorTile> {
    TaskPlan(result: { worker in
      let share = WorkShare(worker.work)
      let tile = try layer.tile(options, in: boxes, transformer, checking: share.checkpoint)
      let text = tile.data.withUnsafeBytes { Base64.encode($0) }
      try share.checkSize(text.count)
      return .init(
        revision: revision, data: String(decoding: text, as: UTF8.self), bytes: tile.data.count, featureCount: tile.featureCount,
        isThinned: tile.omittedCount > 0, omittedCount: tile.omittedCount, failedCount: tile.failedCount)
    })
  }
}
