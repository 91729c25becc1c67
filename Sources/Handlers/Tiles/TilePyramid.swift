// All tiles of a publication that are not empty, in one file.

import Drawing
import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Planning
import Platform
import VectorTiles

struct TilePyramid {
  private let publication: Publication
  private let worker: Worker
  private static let tileLimit = 1_000_000

  init(_ publication: Publication, _ worker: Worker) { (self.publication, self.worker) = (publication, worker) }

  func write<File: TileFile>(
    _: File.Type, to file: borrowing AtomicFile, _ result: inout Publication.Result, _ share: WorkShare
  ) throws {
    let shares = share.split(by: 5, 95)
    let addresses = try addresses(shares[0])
    var tiles = File()
    var thinned = 0
    try file.append([UInt8](repeating: 0, count: File.dataOffset))
    for (index, address) in addresses.enumerated() {
      try shares[1].checkpoint(index, of: addresses.count)
      try shares[1].work?.awaitTurn(index, of: addresses.count)
      if publication.isOfPixels {
        let rasters = zip(publication.rasters, publication.shown).filter { $0.1.contains(address.zoom) }.map(\.0)
        if let png = try worker.png(rasters, of: address) { try file.append(tiles.place(address, png)) }
        continue
      }
      var (data, isThinned): ([UInt8], Bool) = ([], false)
      let layers = publication.layers[address.zoom - publication.zooms.lowerBound]
      for (index, layer) in layers.enumerated() where publication.shown[index].contains(address.zoom) {
        var options = TileOptions(address)
        options.maxFeatures = publication.params.maxFeatures
        let tile = try layer.tile(options, in: publication.boxes[index].boxes(holding: address.envelope), publication.transformer) { _ in
          try share.work?.checkCancelled()
        }
        // Layers of a tile are fields of its message: one tile after the other is a tile with the layers of both.
        data += tile.data
        isThinned = isThinned || tile.omittedCount > 0
        result.failedCount += tile.failedCount
      }
      guard !data.isEmpty else { continue }
      if isThinned { thinned += 1 }
      try file.append(tiles.place(address, data.gzip))
    }
    let about = TileSet(
      name: publication.name, metadata: metadata, isOfPixels: publication.isOfPixels, zooms: publication.zooms, bounds: try degrees())
    let (head, tail) = tiles.finished(about)
    try file.append(tail)
    try file.replaceStart(head)
    (result.tileCount, result.thinnedTileCount) = (tiles.tileCount, thinned)
  }

  /// The tiles in which something may be drawn, in the order of the file: those of a tile are within the tile of the zoom before.
  private func addresses(_ share: WorkShare) throws -> [TileAddress] {
    var found: [TileAddress] = []
    var level = [TileAddress(zoom: 0, x: 0, y: 0)].compactMap { $0 }
    let layers = Array(zip(publication.layers.first ?? [], publication.boxes))
    let zooms = publication.zooms
    for zoom in 0...zooms.upperBound {
      let isHere = publication.tiled.map { $0.contains(zoom) }
      let isLater = publication.tiled.map { $0.upperBound >= zoom }
      func holds(_ address: TileAddress, _ isAsked: [Bool]) throws -> Bool {
        try isAsked.indices.contains { index in
          guard isAsked[index] else { return false }
          if publication.isOfPixels { return try publication.raster(index, meets: address) }
          let (layer, boxes) = layers[index]
          return boxes.boxes(holding: address.envelope).map { layer.store.countAtMost(in: $0) > 0 } ?? true
        }
      }
      level = try level.filter { address in
        try share.checkpoint(zoom, of: zooms.upperBound + 1)
        return try holds(address, isLater)
      }
      // Each of these has at least one tile in every zoom that follows, unless layers end before.
      let following = publication.tiled.allSatisfy { $0 == zooms } ? zooms.upperBound - max(zoom, zooms.lowerBound) + 1 : 1
      guard found.count + level.count * following <= Self.tileLimit else {
        throw RPCError(
          .invalidParams, "There are more than \(Self.tileLimit) tiles.", path: "/params/maxZoom", expected: "a lower zoom")
      }
      if zoom >= zooms.lowerBound { found += try level.filter { try isHere == isLater || holds($0, isHere) }.sorted { $0.hilbertID < $1.hilbertID } }
      level = level.flatMap { $0.quarters }
    }
    return found
  }

  /// Within the square of the tiles and with no more digits than an archive has.
  private func degrees() throws -> Envelope {
    let (east, north) = (180.0, 85.051_128_7)
    guard let extent = publication.extent else { return Envelope(xMin: -east, yMin: -north, xMax: east, yMax: north) }
    let box = try publication.transformer.bounds(of: extent, from: .webMercator, to: .wgs84)
    let isAround = box.xMin > box.xMax
    func whole(_ degrees: Double, _ limit: Double) -> Double { (min(max(degrees, -limit), limit) * 1e7).rounded() / 1e7 }
    return Envelope(
      xMin: isAround ? -east : whole(box.xMin, east), yMin: whole(box.yMin, north), xMax: isAround ? east : whole(box.xMax, east),
      yMax: whole(box.yMax, north))
  }

  private var metadata: String {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("name", publication.name)
    guard !publication.isOfPixels else {
      writer.endObject()
      return String(decoding: writer.bytes, as: UTF8.self)
    }
    writer.key("vector_layers")
    writer.array(zip(publication.layers.first ?? [], publication.shown)) { each, writer in
      let (layer, zooms) = each
      writer.beginObject()
      writer.member("id", layer.object.id)
      writer.member("description", layer.name)
      writer.member("minzoom", zooms.lowerBound)
      writer.member("maxzoom", zooms.upperBound)
      writer.key("fields")
      writer.object(layer.tileFields.map { (name: $0.name.string, value: $0.type.tileName) })
      writer.endObject()
    }
    writer.endObject()
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}

extension FieldType {
  /// The type's name in the metadata of tiles.
  fileprivate var tileName: String {
    switch self {
    case .integer, .double: "Number"
    case .boolean: "Boolean"
    default: "String"
    }
  }
}

extension AtomicFile {
  func append(_ bytes: [UInt8]) throws {
    try bytes.withUnsafeBytes { try append($0) }
  }
}
