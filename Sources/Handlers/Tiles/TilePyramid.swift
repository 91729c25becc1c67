// All tiles of a publication that are not empty, as PMTiles.

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
  private static let tileLimit = 1_000_000

  init(_ publication: Publication) { self.publication = publication }

  func write(to file: borrowing AtomicFile, _ result: inout Publication.Result, _ share: WorkShare) throws {
    let shares = share.split(by: 5, 95)
    let addresses = try addresses(shares[0])
    var archive = TileArchive()
    var thinned = 0
    try file.append([UInt8](repeating: 0, count: TileArchive.dataOffset))
    for (index, address) in addresses.enumerated() {
      try shares[1].checkpoint(index, of: addresses.count)
      try shares[1].work?.awaitTurn(index, of: addresses.count)
      var (data, isThinned): ([UInt8], Bool) = ([], false)
      for (layer, boxes) in zip(publication.layers[address.zoom - publication.zooms.lowerBound], publication.boxes) {
        var options = TileOptions(address)
        options.maxFeatures = publication.params.maxFeatures
        let tile = try layer.tile(options, in: boxes.boxes(holding: address.envelope), publication.transformer) { _ in
          try share.work?.checkCancelled()
        }
        // Layers of a tile are fields of its message: one tile after the other is a tile with the layers of both.
        data += tile.data
        isThinned = isThinned || tile.omittedCount > 0
        result.failedCount += tile.failedCount
      }
      guard !data.isEmpty else { continue }
      if isThinned { thinned += 1 }
      if archive.place(address, data) { try file.append(data) }
    }
    let bounds = try degrees()
    let (head, tail) = archive.finished(metadata: metadata, zooms: publication.zooms, bounds: bounds)
    try file.append(tail)
    try file.replaceStart(head)
    (result.tileCount, result.thinnedTileCount) = (archive.tileCount, thinned)
  }

  /// The tiles in which something may be drawn, in the order of the file: those of a tile are within the tile of the zoom before.
  private func addresses(_ share: WorkShare) throws -> [TileAddress] {
    var found: [TileAddress] = []
    var level = [TileAddress(zoom: 0, x: 0, y: 0)].compactMap { $0 }
    let layers = publication.layers.first ?? []
    for zoom in 0...publication.zooms.upperBound {
      level = try level.filter { address in
        try share.checkpoint(zoom, of: publication.zooms.upperBound + 1)
        return zip(layers, publication.boxes).contains { layer, boxes in
          boxes.boxes(holding: address.envelope).map { layer.store.countAtMost(in: $0) > 0 } ?? true
        }
      }
      // Each of these has at least one tile in every zoom that follows.
      let following = publication.zooms.upperBound - max(zoom, publication.zooms.lowerBound) + 1
      guard found.count + level.count * following <= Self.tileLimit else {
        throw RPCError(
          .invalidParams, "There are more than \(Self.tileLimit) tiles.", path: "/params/maxZoom", expected: "a lower zoom")
      }
      if zoom >= publication.zooms.lowerBound { found += level.sorted { $0.hilbertID < $1.hilbertID } }
      level = level.flatMap { $0.quarters }
    }
    return found
  }

  private func degrees() throws -> Envelope {
    guard let extent = publication.extent else { return Envelope(xMin: -180, yMin: -85, xMax: 180, yMax: 85) }
    let box = try publication.transformer.bounds(of: extent, from: .webMercator, to: .wgs84)
    return box.xMin > box.xMax ? Envelope(xMin: -180, yMin: box.yMin, xMax: 180, yMax: box.yMax) : box
  }

  private var metadata: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("name", publication.name)
    writer.key("vector_layers")
    writer.array(publication.layers.first ?? []) { layer, writer in
      writer.beginObject()
      writer.member("id", layer.object.id)
      writer.member("description", layer.name)
      writer.member("minzoom", publication.zooms.lowerBound)
      writer.member("maxzoom", publication.zooms.upperBound)
      writer.key("fields")
      writer.object(layer.store.schema.fields.map { (name: $0.name.string, value: $0.type.tileName) })
      writer.endObject()
    }
    writer.endObject()
    return Array(writer.bytes)
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
