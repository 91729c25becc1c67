// A publication as one page that shows it in any browser, without server and network.

import Drawing
import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import Planning
import VectorTiles
import WireCoding

struct MapPage {
  private let publication: Publication
  private let worker: Worker
  /// Metres of a unit: that of the grid of the last zoom's tiles.
  private let unit: Double

  init(_ publication: Publication, _ worker: Worker) {
    (self.publication, self.worker) = (publication, worker)
    unit = Self.width / Double(TileAddress.extent << publication.zooms.upperBound)
  }

  private static let width = 2 * 6_378_137 * Double.pi
  /// Metres of a device-independent pixel at scale 1.
  private static let pixel = 0.0254 / 96
  /// Bytes of all PNG of a page: what a browser has decoded of more would fill its memory.
  private static let rasterLimit = 32 << 20

  func write(to file: borrowing AtomicFile, _ result: inout Publication.Result, _ share: WorkShare) throws {
    var text = ExportText()
    text.writer.append(Self.head)
    text.writer.append("<script type=\"application/json\" id=\"map-data\">\n")
    let mark = text.writer.count
    text.writer.beginObject()
    text.writer.member("name", publication.name)
    text.writer.member("background", publication.background?.text)
    writeStart(to: &text.writer)
    text.writer.escapeLess(from: mark)
    text.writer.key("layers")
    text.writer.beginArray()
    let layers = publication.layers.first ?? []
    let shares = share.split(by: layers.map { max($0.store.count, 1) } + publication.rasters.map { _ in 10_000 })
    var (count, omitted, left) = (0, 0, Self.rasterLimit)
    var rasters = publication.rasters.indices.makeIterator()
    var next = rasters.next()
    for index in 0...layers.count {
      while let number = next, publication.rasters[number].index <= index {
        // What one does not need is left for those that follow.
        let limit = left / (publication.rasters.count - number)
        let used = try writeRaster(number, to: &text, of: file, limit: limit, &result, shares[layers.count + number])
        left -= used
        next = rasters.next()
      }
      if index < layers.count { try write(layers[index], publication.scales[index], to: &text, of: file, &result, &count, &omitted, shares[index]) }
    }
    text.writer.endArray()
    text.writer.endObject()
    text.writer.append("</script>\n")
    text.writer.append(Self.program)
    try text.flush(to: file)
    (result.featureCount, result.omittedCount) = (count, omitted)
  }

  private func writeStart(to writer: inout JSONWriter) {
    let box = publication.extent ?? Envelope(xMin: -Self.width / 2, yMin: -Self.width / 4, xMax: Self.width / 2, yMax: Self.width / 4)
    let center = publication.start?.center ?? box.center
    writer.member("center", [whole(center.x), whole(center.y)])
    writer.member("box", [whole(box.xMin), whole(box.yMin), whole(box.xMax), whole(box.yMax)])
    // Pixels of a unit; without it the page shows the box.
    writer.member("scale", publication.start.map { unit / ($0.scale * Self.pixel) })
    // The denominator of scale 1, and the units of the world's width.
    writer.member("denominator", unit / Self.pixel)
    writer.member("turn", TileAddress.extent << publication.zooms.upperBound)
  }

  private func whole(_ metres: Double) -> Int { metres.isFinite ? Int(min(max(metres / unit, -1e15), 1e15).rounded()) : 0 }

  // MARK: Layers

  private func write(
    _ layer: DrawnLayer, _ scales: ScaleRange, to text: inout ExportText, of file: borrowing AtomicFile, _ result: inout Publication.Result, _ count: inout Int,
    _ omitted: inout Int, _ share: WorkShare
  ) throws {
    var symbols: [Symbol] = []
    var numbers: [Symbol: Int] = [:]
    let names = layer.store.schema.fields.map(\.name.string)
    let head = text.writer.count
    begin(layer.name, layer.opacity, scales, to: &text.writer)
    text.writer.member("fields", names)
    text.writer.escapeLess(from: head)
    text.writer.key("features")
    text.writer.beginArray()
    var isFirst = true
    let (left, failed) = try layer.forEachMercator(
      limit: publication.params.maxFeatures, publication.transformer, checking: share.checkpoint
    ) { item, row in
      // A comma of its own: the text before may have gone to the file.
      text.writer.append(isFirst ? "\n" : ",\n")
      isFirst = false
      let mark = text.writer.count
      let number = item.symbol.map { symbol in
        if let known = numbers[symbol] { return known }
        symbols.append(symbol)
        numbers[symbol] = symbols.count - 1
        return symbols.count - 1
      }
      write(item.geometry, number, item.labels, row, of: names.count, to: &text.writer)
      text.writer.escapeLess(from: mark)
      count += 1
      try text.flushPiece(to: file)
    }
    text.writer.endArray()
    let mark = text.writer.count
    text.writer.member("symbols", symbols.map { Wire.symbol($0) })
    text.writer.endObject()
    text.writer.escapeLess(from: mark)
    omitted += left
    result.failedCount += failed
  }

  private func begin(_ name: String, _ opacity: Double, _ scales: ScaleRange, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("name", name)
    writer.member("opacity", opacity)
    writer.member("minScale", scales.min)
    writer.member("maxScale", scales.max)
  }

  /// Writes the tiles of a raster from the first zoom on, as many as fit: zoom, column, row, PNG in base64.
  ///
  /// - Returns: the number of bytes of PNG.
  private func writeRaster(
    _ number: Int, to text: inout ExportText, of file: borrowing AtomicFile, limit: Int, _ result: inout Publication.Result, _ share: WorkShare
  ) throws -> Int {
    let (raster, last) = (publication.rasters[number], publication.shown[number].upperBound)
    let head = text.writer.count
    begin(raster.name, raster.opacity, publication.scales[(publication.layers.first?.count ?? 0) + number], to: &text.writer)
    text.writer.member("zoom", last)
    text.writer.escapeLess(from: head)
    text.writer.key("tiles")
    text.writer.beginArray()
    var (isFirst, bytes) = (true, 0)
    var level = [TileAddress(zoom: 0, x: 0, y: 0)].compactMap { $0 }
    levels: for (zoom, share) in share.split(by: (0...last).map { 1 << min(2 * $0, 40) }).enumerated() {
      if zoom > 0 {
        level = try level.flatMap(\.quarters).filter { address in
          try share.checkpoint(0)
          return try publication.raster(number, meets: address)
        }
      }
      for (index, address) in level.enumerated() {
        try share.checkpoint(index, of: level.count)
        try share.work?.awaitTurn(index, of: level.count)
        guard let png = try worker.png([raster], of: address, hasOpacity: false) else { continue }
        guard bytes + png.count <= limit else {
          result.reduced = (result.reduced ?? []) + [raster.object.id]
          break levels
        }
        bytes += png.count
        text.writer.append(isFirst ? "\n" : ",\n")
        isFirst = false
        text.writer.beginArray()
        for number in [address.zoom, address.x, address.y] { text.writer.value(number) }
        text.writer.value(String(decoding: png.withUnsafeBytes { Base64.encode($0) }, as: UTF8.self))
        text.writer.endArray()
        try text.flushPiece(to: file)
      }
    }
    text.writer.endArray()
    text.writer.endObject()
    return bytes
  }

  /// A feature is an array: dimension, runs of positions as differences, number of its symbol, labels, attributes.
  private func write(
    _ geometry: Geometry, _ symbol: Int?, _ labels: [Label], _ row: FeatureRow, of columns: Int, to writer: inout JSONWriter
  ) {
    writer.beginArray()
    let kind = ShapeKind(geometry) ?? .point
    writer.value(kind == .point ? 0 : kind == .line ? 1 : 2)
    writer.beginArray()
    for piece in geometry.pieces where ShapeKind(piece) == kind { piece.forEachPositions { write($0, to: &writer) } }
    writer.endArray()
    writer.value(symbol ?? -1)
    writer.array(labels) { label, writer in writer.value(Wire.symbol(.text(label.symbol))) }
    writer.beginArray()
    for column in 0..<columns { writer.value(row.value(column)) }
    writer.endArray()
    writer.endArray()
  }
}

extension MapPage {
  private func write(_ run: Positions, to writer: inout JSONWriter) {
    writer.beginArray()
    var (lastX, lastY) = (0, 0)
    for index in stride(from: 0, to: run.values.count, by: run.stride) {
      let (x, y) = (whole(run.values[index]), whole(run.values[index + 1]))
      if index > 0, x == lastX, y == lastY { continue }
      writer.value(x - lastX)
      writer.value(y - lastY)
      (lastX, lastY) = (x, y)
    }
    writer.endArray()
  }
}

extension JSONWriter {
  fileprivate mutating func value(_ value: AttributeValue) {
    switch value {
    case .null: self.null()
    case .bool(let flag): self.value(flag)
    case .integer(let number): self.value(number)
    case .double(let number): self.value(number)
    case .string(let text), .json(let text): self.value(text)
    }
  }

  /// Writes `<` in strings as an escape: no name, no text and no value may end the element in which the data is.
  fileprivate mutating func escapeLess(from mark: Int) {
    let written = bytes[mark..<count]
    guard written.contains(UInt8(ascii: "<")) else { return }
    var escaped: [UInt8] = []
    for byte in written {
      if byte == UInt8(ascii: "<") { escaped += Array("\\u003c".utf8) } else { escaped.append(byte) }
    }
    truncate(to: mark)
    escaped.withUnsafeBytes { append($0) }
  }
}
