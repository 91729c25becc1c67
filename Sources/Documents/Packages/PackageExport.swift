// Writes packages: the whole model with the files of its sources, or a map with its features within an area.

import Files
import GeoModel
import GeoProtocol
import Geometry
import Handlers
import JSON
import JSONRPC
import Planning
import Platform
import WireCoding

/// A package to be written, which is planned from a world and written by a worker.
struct PackageExport: Sendable {
  typealias Params = PackageProtocol.Export.Params
  typealias Result = PackageProtocol.Export.Result

  private let params: Params
  private let snapshot: World
  private let revision: Int
  /// The box around the area, longitude and latitude on WGS 84.
  private let area: Envelope?
  /// The tables of each converted source, by its number.
  private var tables: [(number: Int, tables: [PackedTable])] = []
  private var leftOut: [PackageProtocol.LeftOutLayer] = []

  init(_ params: Params, in world: World) throws {
    self.params = params
    snapshot = world
    revision = world.revision
    if let expires = params.expires { _ = try instant(expires, "/params/expires") }
    if let far = params.minScale, let near = params.maxScale, far <= near { throw ModelError.invalidScaleRange }
    area = try Self.area(params, world)
    // Filters are taken off in it.
    var asked = world
    asked.begin(origin: .task)
    if let id = params.map {
      let map = MapID(id)
      _ = try world.maps.require(map)
      for layer in world.allLayers(of: .map(map)) {
        guard layer.grouping == nil else { continue }
        if let reason = Self.reason(toLeaveOut: layer, params, world) {
          leftOut.append(.init(layer: layer.id.rawValue, reason: reason))
          continue
        }
        // The file of a raster comes as it is.
        guard let features = layer.features else { continue }
        let index = tables.firstIndex { $0.number == features.sourceNumber } ?? tables.count
        if index == tables.count { tables.append((features.sourceNumber, [])) }
        let name = features.schema.name.string
        guard !tables[index].tables.contains(where: { Text($0.name) == features.schema.name }) else { continue }
        do {
          tables[index].tables.append(
            try PackedTable(layer.id, table: name, area: params.area, in: params.spatialReference, &asked))
        } catch {
          guard var wire = Self.placed(error, world) as? RPCError, wire.path == "/params/layerName" else { throw Self.placed(error, world) }
          (wire.path, wire.message) = ("/params/map", "The layer \"\(layer.id)\" cannot be in a GeoPackage: its source calls it \"\(name)\".")
          throw wire
        }
      }
    } else if let name = [("area", params.area != nil), ("minScale", params.minScale != nil), ("maxScale", params.maxScale != nil)]
      .first(where: \.1)?.0
    {
      throw RPCError(.invalidParams, "\(name) is for packages of a map.", path: "/params/\(name)", expected: "nothing, or `map`")
    }
  }

  /// The error of a question about a layer, at the param that asks it.
  private static func placed(_ error: any Error, _ world: World) -> any Error {
    guard var wire = RPCError(error, in: nil, at: "/params", world) else { return error }
    let asked = "/params/geometry"
    if let path = wire.path, path == asked || path.hasPrefix(asked + "/") { wire.path = "/params/area" + path.dropFirst(asked.count) }
    if wire.kind == ErrorKind.notLoaded.rawValue { wire.path = "/params/map" }
    return wire
  }

  private static func reason(
    toLeaveOut layer: Layer, _ params: Params, _ world: World
  ) -> PackageProtocol.LeftOutReason? {
    if layer.features?.entitySource != nil { return .live }
    let around = sequence(first: layer) { $0.group.flatMap { world.layers[$0] } }
    if around.contains(where: { !$0.appearance.isVisible }) { return .notVisible }
    let range = around.map(\.appearance)
    let (far, near) = (range.compactMap(\.minScale).min() ?? .infinity, range.compactMap(\.maxScale).max() ?? 0)
    return far < params.maxScale ?? 0 || near > params.minScale ?? .infinity ? .outOfScale : nil
  }

  // MARK: The index

  /// The params by which a package is made again, in its index.
  private static func origin(_ params: Params) throws -> Value {
    var origin = Value.Members()
    let texts = [
      ("path", params.path.lastName), ("title", params.title), ("description", params.description), ("expires", params.expires),
      ("map", params.map), ("spatialReference", params.spatialReference),
    ]
    for (name, text) in texts { origin[name] = text.map { .string($0) } }
    origin["area"] = try params.area.map { try Wire.value($0) }
    origin["minScale"] = params.minScale.map { .number($0) }
    origin["maxScale"] = params.maxScale.map { .number($0) }
    return .object(origin)
  }

  /// The params of an index, for the package itself.
  static func params(_ json: JSONValue, of package: PackageFile) throws -> Params {
    guard var params = try? Params(from: json) else {
      throw package.invalid("it does not say how it was made")
    }
    (params.path, params.ifExists) = (package.path, .replace)
    return params
  }

  private static func area(_ params: Params, _ world: World) throws -> Envelope? {
    guard let given = params.area else { return nil }
    let reference = try world.canonical(params.spatialReference) ?? .wgs84
    guard let box = try Wire.geometry(given).envelope else {
      throw RPCError(.invalidGeometry, "The area is empty.", path: "/params/area", expected: "a geometry that is not empty")
    }
    return try? world.transformer.bounds(of: box, from: reference, to: .wgs84)
  }

  private func index(of world: World) throws -> PackageFile.Index {
    func extent(_ content: ViewContent) -> SessionProtocol.Envelope? {
      let boxes = world.allLayers(of: content).compactMap { layer in
        layer.extent.flatMap { try? world.transformer.bounds(of: $0, from: layer.reference, to: .wgs84) }
      }
      return (area ?? Self.union(boxes)).map(Wire.envelope)
    }
    let maps = world.maps.values.map {
      PackageProtocol.PackageMap(map: $0.id.rawValue, title: $0.content.title?.string, extent: extent(.map($0.id)))
    }
    let scenes = world.scenes.values.map {
      PackageProtocol.PackageScene(scene: $0.id.rawValue, title: $0.content.title?.string, extent: extent(.scene($0.id)))
    }
    let all = (maps.compactMap(\.extent) + scenes.compactMap(\.extent)).map {
      Envelope(xMin: $0.xMin, yMin: $0.yMin, xMax: $0.xMax, yMax: $0.yMax)
    }
    return .init(
      format: .geomodelPackage, version: 1, protocolVersion: WireProtocol.version, title: params.title,
      description: params.description, created: world.clock.now.text, expires: params.expires, extent: Self.union(all).map(Wire.envelope),
      maps: maps, scenes: scenes, origin: Wire.opaque(try Self.origin(params)))
  }

  /// The box around boxes; those across the antimeridian are taken to go around the world.
  private static func union(_ boxes: [Envelope]) -> Envelope? {
    guard let first = boxes.first else { return nil }
    return boxes.dropFirst().reduce(first) { all, box in
      let isWhole = all.xMin > all.xMax || box.xMin > box.xMax
      return Envelope(
        xMin: isWhole ? -180 : min(all.xMin, box.xMin), yMin: min(all.yMin, box.yMin), xMax: isWhole ? 180 : max(all.xMax, box.xMax),
        yMax: max(all.yMax, box.yMax))
    }
  }

  // MARK: Writing

  /// - Parameter earlier: the package to be compared with, which is replaced.
  func run(_ worker: Worker, _ share: WorkShare, replacing earlier: PackageFile? = nil) throws -> Result {
    let path = try worker.files.path(params.path)
    let target = try worker.files.policy.resolveForWriting(path)
    if target.identity != nil, params.ifExists == .error { throw RPCError(fileExists: target.path) }
    var zip = ZipWriter(try AtomicFile.begin(replacing: target), target.path)
    var result = Result(revision: revision, path: target.path, bytes: 0, files: [], tables: [], leftOut: leftOut.isEmpty ? nil : leftOut)
    // Of many maps this takes a while.
    let world = snapshot.holding(params.map.map { MapID($0) }, without: leftOut.map { LayerID($0.layer) })
    var index = try index(of: world)
    let seen = index.maps.first?.extent.map { Envelope(xMin: $0.xMin, yMin: $0.yMin, xMax: $0.xMax, yMax: $0.yMax) }
    let thumbnail = try seen.flatMap { try worker.thumbnail(of: world, $0) }
    if thumbnail != nil { index.thumbnail = PackageFile.thumbnailName }
    try zip.add(PackageFile.indexName, Array(index.jsonText.utf8))
    if let thumbnail { try zip.add(PackageFile.thumbnailName, thumbnail) }
    let sources = DocumentSource.all(in: world)
    let names = Dictionary(sources.map { ($0.number, $0.id.rawValue) }) { first, _ in first }
    var taken: Set<Text> = []
    let packed = Dictionary(
      uniqueKeysWithValues: tables.map { ($0.number, PackedFiles.free("\(names[$0.number] ?? "\($0.number)").gpkg", &taken)) })
    let files = try PackedFiles(in: world, converted: packed, worker)
    let text = try DocumentWriter.text(world, DocumentFolder(packing: files.names), packed, beside: target, worker)
    try zip.add(PackageFile.documentName, from: text.descriptor, at: 0, count: text.size) { _ in try worker.checkCancelled() }
    let shares = share.split(by: tables.flatMap(\.tables).map(\.effort) + [files.bytes / 64 + 1])
    var number = 0
    for (source, tables) in tables {
      let name = packed[source] ?? ""
      let file = try AtomicFile.begin(replacing: target)
      var digests = PackageDigests()
      let before = try earlier?.digests(of: name)
      for (index, table) in tables.enumerated() {
        let report: PackedTable.Report
        do { report = try table.write(to: file, "\(target.path)/\(name)", isFirst: index == 0, worker, shares[number]) } catch {
          throw Self.placed(error, world)
        }
        number += 1
        digests.tables.append((table.name, report.digests))
        let change = try before?.change(to: report.digests, of: table.name, checking: worker.checkCancelled)
        result.tables.append(
          .init(
            source: names[source] ?? "", sourceLayer: table.name, count: report.count, added: change?.added, changed: change?.changed,
            removed: change?.removed, differences: report.differences.isEmpty ? nil : report.differences))
      }
      let size = file.size
      try zip.add(name, from: file.descriptor, at: 0, count: size) { _ in try pause(worker) }
      try zip.add(PackageDigests.name(of: name), digests.bytes)
      result.files.append(.init(path: name, bytes: size, isChanged: before.map { $0 != digests }))
    }
    if let earlier { result.tables += try gone(from: earlier, packed) }
    for file in files.all {
      let sum = try zip.add(file.name, from: file.descriptor, at: file.offset, count: file.size) { done in
        try shares[number].checkpoint(done, of: file.size)
        try pause(worker)
      }
      result.files.append(.init(path: file.name, bytes: file.size, isChanged: earlier.map { $0.checksum(of: file.name) != sum }))
    }
    try files.checkUnchanged()
    try pause(worker)
    result.bytes = zip.size
    try zip.commit(replaces: params.ifExists == .replace, for: worker)
    return result
  }

  /// The tables of an earlier package that are not in this one.
  private func gone(from earlier: PackageFile, _ packed: [Int: String]) throws -> [PackageProtocol.PackagedTable] {
    let kept = Dictionary(uniqueKeysWithValues: tables.map { (packed[$0.number] ?? "", Set($0.tables.map { Text($0.name) })) })
    return try earlier.digestedFiles.flatMap { file in
      try earlier.digests(of: file).tables.filter { kept[file]?.contains(Text($0.name)) != true }.map {
        .init(
          source: file.stemAndExtension.stem, sourceLayer: $0.name, count: 0, added: 0, changed: 0, removed: $0.features.count)
      }
    }
  }

  private func pause(_ worker: Worker) throws {
    let items = worker.work.items ?? (0, 0)
    try worker.work.awaitTurn(items.done, of: items.total)
  }
}
