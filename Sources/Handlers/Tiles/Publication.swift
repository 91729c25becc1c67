// Publishes what a layer, a map or a view draws as one file; it appears only when it is complete.

import Drawing
import Files
import GeoModel
import GeoProtocol
import Geometry
import JSONRPC
import Planning
import VectorTiles
import WireCoding

extension MapService {
  package static func publish(_ params: Publish.Params, in world: inout World) throws -> Plan<MapProtocol.PublishResult> {
    let publication = try Publication(params, in: world)
    return TaskPlan { worker in try publication.run(worker) }
  }
}

/// A publication that is planned on the loop and run by a worker.
struct Publication: Sendable {
  typealias Result = MapProtocol.PublishResult

  let params: MapProtocol.Publish.Params
  let format: MapProtocol.PublishFormat
  let name: String
  let zooms: ClosedRange<Int>
  /// For each zoom of tiles, or once for a page, the layers in drawing order; none where tiles are of pixels.
  let layers: [[DrawnLayer]]
  /// Those of each layer.
  let boxes: [TileBoxes]
  /// The rasters of tiles of pixels, or of a page, which has them between its layers.
  let rasters: [DrawnRaster]
  /// The box of each in Web Mercator; nil if it is not known.
  private let rasterBoxes: [Envelope?]
  /// Whether the tiles are of pixels.
  let isOfPixels: Bool
  /// The zooms of tiles in which each layer or raster may be drawn; of a page those of the tiles of each raster.
  let shown: [ClosedRange<Int>]
  /// The zooms for whose sake there are tiles: those of `shown`, for a raster to that of its own pixels.
  let tiled: [ClosedRange<Int>]
  /// The scales of each layer of a page, then of each raster.
  let scales: [ScaleRange]
  let omitted: [MapProtocol.OmittedLayer]
  let background: Color?
  /// Where a page begins: the center in Web Mercator and the scale; nil for all that there is.
  let start: (center: Point, scale: Double)?
  /// The extent in Web Mercator; nil if there is nothing.
  let extent: Envelope?
  let transformer: any CoordinateTransformer
  let revision: Int

  init(_ params: MapProtocol.Publish.Params, in world: World) throws {
    self.params = params
    format = try Self.format(params)
    guard params.ifExists == .error || params.ifExists == .replace else {
      throw RPCError(.invalidParams, "A map has no layers in a file to add one to.", path: "/params/ifExists", expected: "`error` or `replace`")
    }
    guard params.minZoom <= params.maxZoom else {
      throw RPCError(
        .invalidParams, "The last zoom is below the first.", path: "/params/maxZoom", expected: "an integer not below \(params.minZoom)")
    }
    (transformer, revision) = (world.transformer, world.revision)
    var content = try PublishedContent(
      layer: params.layer, map: params.map, view: params.view, oneOf: ["layer", "map", "view"], in: world)
    try content.checkLoaded()
    let isPage = format == .html
    isOfPixels = !isPage && content.isOfRasters
    if isPage || isOfPixels { content.takeRasters(alone: isOfPixels) }
    // Tiles with pixels that are larger than those of all rasters have nothing to add.
    let last = try isOfPixels ? content.rasters.map { try $0.drawn.lastZoom() }.max() : nil
    zooms = params.minZoom...max(params.minZoom, min(params.maxZoom, last ?? params.maxZoom))
    // The units of a page are an eighth of a pixel.
    shown =
      isPage
      ? try content.rasters.map { 0...min(try $0.drawn.lastZoom(), params.maxZoom + 3) }
      : content.keep(within: zooms, isOfPixels: isOfPixels, in: world)
    let kept = isOfPixels ? try content.rasters.map { try $0.drawn.lastZoom() } : shown.map(\.upperBound)
    tiled = zip(shown, kept).map { $0.lowerBound...max($0.lowerBound, min($0.upperBound, $1)) }
    rasters = isPage || isOfPixels ? content.rasters.map(\.drawn) : []
    scales = isPage ? content.scaleRanges(in: world) : []
    name = params.name ?? content.name
    (background, omitted) = (content.background, content.omitted)
    start = content.start.map { ($0.center, $0.camera.scale) }
    let scales = isPage ? [start?.scale ?? ClusterZoom.scale(zoom: params.maxZoom)] : zooms.map { ClusterZoom.scale(zoom: $0) }
    layers = scales.map { scale in content.drawn(at: scale, in: world) }
    var (extent, boxes): (Envelope?, [TileBoxes]) = (nil, [])
    func include(_ own: Envelope?, _ reference: SpatialReference) -> Envelope? {
      guard let own, let box = try? world.bounds(of: own, from: reference, to: .webMercator) else { return nil }
      extent = extent.map { known in
        var both = known
        both.include(box)
        return both
      } ?? box
      return box
    }
    for layer in layers.first ?? [] {
      boxes.append(try TileBoxes(for: layer.store, in: layer.reference, transformer))
      _ = include(layer.store.extent, layer.reference)
    }
    rasterBoxes = rasters.map { include($0.source.info.extent, $0.source.info.reference) }
    (self.extent, self.boxes) = (extent, boxes)
  }

  private static func format(_ params: MapProtocol.Publish.Params) throws -> MapProtocol.PublishFormat {
    if let format = params.format { return format }
    switch params.path.stemAndExtension.extension {
    case "pmtiles": return .pmtiles
    case "mbtiles": return .mbtiles
    case "html", "htm": return .html
    default:
      throw RPCError(
        .unknownFormat, "The extension of \(params.path.prefix(200)) is that of no format; `format` names one.", path: "/params/path",
        expected: "`.pmtiles`, `.mbtiles`, `.html`")
    }
  }

  /// Whether there may be something of a raster in a tile. Far from where its reference is good for, only its box says that.
  func raster(_ index: Int, meets address: TileAddress) throws -> Bool {
    if let box = rasterBoxes[index], abs(box.center.x) + box.width / 2 < TileAddress.reach * 1.000_001, !box.intersects(address.envelope) {
      return false
    }
    return try rasters[index].meets(address)
  }

  // MARK: Running

  func run(_ worker: Worker) throws -> Result {
    let path = try worker.files.path(params.path)
    let target = try worker.files.policy.resolveForWriting(path)
    if params.ifExists == .error, target.identity != nil { throw RPCError(fileExists: target.path) }
    let file = try AtomicFile.begin(replacing: target)
    let share = WorkShare(worker.work)
    var result = Result(
      revision: revision, path: path, format: format, bytes: 0, layerCount: (layers.first?.count ?? 0) + rasters.count, omitted: omitted,
      failedCount: 0)
    if format != .html { (result.tileCount, result.thinnedTileCount) = (0, 0) }
    do {
      switch format {
      case .pmtiles: try TilePyramid(self, worker).writeArchive(to: file, &result, share)
      case .mbtiles: try TilePyramid(self, worker).writeDatabase(path, to: file, &result, share)
      case .html: try MapPage(self, worker).write(to: file, &result, share)
      }
    } catch is GzipError {
      throw RPCError.libraryMissing("zlib", "libz.so.1 cannot be loaded")
    }
    result.bytes = file.size
    try file.commit(replaces: params.ifExists == .replace, for: worker)
    return result
  }
}
