// All tiles of a publication that are not empty, in one file.

import Drawing
import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Planning
import Platform
import Reading
import VectorTiles
import WireCoding

struct TilePyramid {
  private let publication: Publication
  private let worker: Worker
  private static let tileLimit = 1_000_000

  init(_ publication: Publication, _ worker: Worker) { (self.publication, self.worker) = (publication, worker) }

  /// Writes PMTiles.
  func writeArchive(to file: borrowing AtomicFile, _ result: inout Publication.Result, _ share: WorkShare) throws {
    let shares = share.split(by: 5, 95)
    let addresses = try addresses(shares[0])
    var archive = TileArchive()
    try file.append([UInt8](repeating: 0, count: TileArchive.dataOffset))
    for (index, address) in addresses.enumerated() {
      try shares[1].checkpoint(index, of: addresses.count)
      try shares[1].work?.awaitTurn(index, of: addresses.count)
      if let tile = try tile(address, &result) { try file.append(archive.place(address, tile)) }
    }
    let (head, tail) = try archive.finished(
      TileSet(
        name: publication.name, metadata: metadata, isOfPixels: publication.isOfPixels, zooms: publication.zooms, bounds: try degrees()))
    try file.append(tail)
    try file.replaceStart(head)
  }

  /// Writes MBTiles: a process fills the table of the database.
  func writeDatabase(_ path: String, to file: borrowing AtomicFile, _ result: inout Publication.Result, _ share: WorkShare) throws {
    let shares = share.split(by: 5, 95)
    let addresses = try addresses(shares[0])
    var (done, builder) = (0, FeatureBlockBuilder(columns: [.integers, .integers, .integers, .texts]))
    let scratch = try file.scratch()
    defer { close(scratch) }
    _ = try worker.readers.write(
      try databaseJob(), to: file.descriptor, scratch: scratch, path: path, isCancelled: { worker.isCancelled },
      next: {
        while done < addresses.count, !builder.isFull {
          let address = addresses[done]
          try shares[1].checkpoint(done, of: addresses.count)
          try shares[1].work?.awaitTurn(done, of: addresses.count)
          done += 1
          guard let tile = try tile(address, &result) else { continue }
          builder.begin(id: nil)
          // Rows go northwards there.
          for (column, number) in [address.zoom, address.x, (1 << address.zoom) - 1 - address.y].enumerated() {
            builder.columns[column].append(Int64(number))
          }
          tile.withUnsafeBytes { bytes in Base64.encode(bytes).withUnsafeBytes { builder.columns[3].append(valid: $0) } }
        }
        guard builder.count > 0 else { return nil }
        guard let block = builder.finish() else { throw RPCError(savingTo: path, errno) }
        return block
      })
  }

  private func databaseJob() throws -> WriteJob {
    func field(_ name: String, _ type: FieldType) -> Field { Field(name: name, type: type) }
    var job = WriteJob(
      driver: .tiles,
      layer: LayerDescription(
        name: "tiles", geometryType: nil,
        fields: [field("zoom_level", .integer), field("tile_column", .integer), field("tile_row", .integer), field("tile_data", .binary)],
        featureCount: nil, extent: nil, spatialReference: nil, fidColumn: nil), z: .none, m: .none, isIndexed: false)
    let (bounds, zooms) = (try degrees(), publication.zooms)
    job.statements =
      [
        ("name", publication.name), ("format", publication.isOfPixels ? "png" : "pbf"), ("type", "overlay"), ("version", "1"),
        ("bounds", "\(bounds.xMin),\(bounds.yMin),\(bounds.xMax),\(bounds.yMax)"),
        ("center", "\(bounds.center.x),\(bounds.center.y),\(zooms.lowerBound)"), ("minzoom", "\(zooms.lowerBound)"),
        ("maxzoom", "\(zooms.upperBound)"), ("json", metadata),
      ].map { name, value in
        // A zero would end the statement.
        "INSERT INTO metadata VALUES ('\(name)', '\(value.replacing("'", with: "''").replacing("\0", with: ""))')"
      } + ["CREATE UNIQUE INDEX tile_index ON tiles (zoom_level, tile_column, tile_row)"]
    return job
  }

  /// A tile as it is stored; nil if nothing is drawn in it.
  private func tile(_ address: TileAddress, _ result: inout Publication.Result) throws -> [UInt8]? {
    guard !publication.isOfPixels else {
      let rasters = zip(publication.rasters, publication.shown).filter { $0.1.contains(address.zoom) }.map(\.0)
      let png = try worker.png(rasters, of: address)
      if png != nil { result.tileCount = (result.tileCount ?? 0) + 1 }
      return png
    }
    var (data, isThinned): ([UInt8], Bool) = ([], false)
    let layers = publication.layers[address.zoom - publication.zooms.lowerBound]
    for (index, layer) in layers.enumerated() where publication.shown[index].contains(address.zoom) {
      var options = TileOptions(address)
      options.maxFeatures = publication.params.maxFeatures
      let tile = try layer.tile(options, in: publication.boxes[index].boxes(holding: address.envelope), publication.transformer) { _ in
        try worker.checkCancelled()
      }
      // Layers of a tile are fields of its message: one tile after the other is a tile with the layers of both.
      data += tile.data
      isThinned = isThinned || tile.omittedCount > 0
      result.failedCount += tile.failedCount
    }
    guard !data.isEmpty else { return nil }
    result.tileCount = (result.tileCount ?? 0) + 1
    if isThinned { result.thinnedTileCount = (result.thinnedTileCount ?? 0) + 1 }
    return try data.gzip
  }

  /// The tiles in which something may be drawn, in the order of the file: those of a tile are within the tile of the zoom before.
  private func addresses(_ share: WorkShare) throws -> [TileAddress] {
    var found: [TileAddress] = []
    var level = [TileAddress(zoom: 0, x: 0, y: 0)].compactMap { $0 }
    let boxes = publication.boxes
    let zooms = publication.zooms
    for zoom in 0...zooms.upperBound {
      let isHere = publication.tiled.map { $0.contains(zoom) }
      let isLater = publication.tiled.map { $0.upperBound >= zoom }
      func holds(_ address: TileAddress, _ isAsked: [Bool]) throws -> Bool {
        try isAsked.indices.contains { index in
          guard isAsked[index] else { return false }
          if publication.isOfPixels { return try publication.raster(index, meets: address) }
          return boxes[index].mayMeet(address.envelope)
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
