// Reads a document's text into a separate world, by the same code as the commands, so that every check exists once.

import GeoModel
import GeoProtocol
import Geometry
import Handlers
import JSON
import JSONRPC
import Planning
import Reading
import WireCoding

/// Reads one document into a fresh world.
struct DocumentReader {
  let file: String
  let folder: DocumentFolder
  let worker: Worker
  let root: DocumentItem
  var world: World
  var unknown = UnknownMembers()
  var unknownGraphicMembers = UnknownGraphicMembers()
  /// Invalid parts, which are left out.
  var problems = DocumentProblems()
  /// The layers of each source when the document was saved.
  var savedLayers: [SourceID: [SourceLayer]] = [:]
  /// The objects that were made, each as read.
  var objects: [ObjectReference: JSONValue] = [:]
  /// The understood form of objects with occasional members.
  var occasional: [ObjectReference: JSONOpaque] = [:]
  /// Layers over entity sources, which are read after these: each with its list and its index there.
  var entityLayers: [EntityLayer] = []
  struct EntityLayer {
    let item: DocumentItem
    let role: LayerProtocol.LayerRole?
    let container: ViewContent
    let index: Int
  }

  /// - Parameters:
  ///   - root: the document's value. The caller keeps it alive while this reads.
  ///   - world: an empty world.
  init(file: String, folder: DocumentFolder, _ root: JSONValue, into world: World, _ worker: Worker) {
    self.file = file
    self.folder = folder
    self.root = DocumentItem(root)
    self.world = world
    self.worker = worker
  }

  /// - Throws: if the text is not a document. Invalid parts of a document are left out and reported.
  mutating func read() throws {
    try checkFormat()
    try readSources(try items("sources", of: root))
    for map in try items("maps", of: root) { try readMap(map) }
    for scene in try items("scenes", of: root) { try readScene(scene) }
    for view in try items("views", of: root) { try readView(view) }
    try readFlow()
    try recordUnknownMembers()
  }

  private func checkFormat() throws {
    let root = root.json
    let version: Int
    do throws(JSONError) {
      guard root.kind == .object else { throw root.typeError(expected: "object") }
      _ = try DocumentProtocol.DocumentFormat(from: root["format"])
      version = try root["version"].integer()
      guard version >= 1 else { throw root["version"].error(expected: "integer of at least 1") }
    } catch {
      throw RPCError(
        invalidDocument: file, at: error.path(from: root), expected: error.expected,
        reason: "expected \(error.expected), found \(error.found)")
    }
    guard version <= SavedObjects.version else {
      throw RPCError(documentTooNew: file, version: version, supported: SavedObjects.version)
    }
  }

  // MARK: Sources

  private typealias Schema = (driver: String, layers: [SourceLayer], warnings: [String])

  /// Files are described side by side, as a reader has to be started for each.
  private mutating func readSources(_ items: [DocumentItem]) throws {
    let saved = try items.map { try savedSource($0) }
    let (origins, worker) = (saved.map { $0?.origin }, worker)
    let schemas = try WorkShare(worker.work).concurrently(origins.count) { index in
      origins[index].map { origin in Result { () throws -> Schema in try SourceService.schema(of: origin, worker) } }
    }
    for (index, item) in items.enumerated() {
      guard let (saved, origin) = saved[index], let schema = schemas[index] else { continue }
      try addSource(item, saved, origin, schema)
    }
  }

  private mutating func savedSource(_ item: DocumentItem) throws -> (saved: DocumentProtocol.SavedSource, origin: SourceOrigin)? {
    let (files, folder) = (worker.files, folder)
    return try restore(item, "source", keeping: ["path", "data", "columns"]) { world, json in
      let saved = try DocumentProtocol.SavedSource(from: json)
      try world.checkFree(SourceID(saved.source))
      do { return (saved, try Self.origin(of: saved, json, folder, files, world)) } catch let error as RPCError {
        throw Self.placed(error, at: "\(item.path)/\(saved.columns == nil ? "path" : "columns")")
      }
    }
  }

  private mutating func addSource(
    _ item: DocumentItem, _ saved: DocumentProtocol.SavedSource, _ origin: SourceOrigin, _ schema: Result<Schema, any Error>
  ) throws {
    let id = SourceID(saved.source)
    let savedLayers = (saved.layers ?? []).map(Wire.sourceLayer)
    var (driver, layers, warnings) = (saved.driver ?? "unknown", savedLayers, [String]())
    var status = SourceStatus.open
    do { (driver, layers, warnings) = try schema.get() } catch let error as ReadError {
      status = .failed(try Self.failure(RPCError(error)))
      // A missing file may come back; inline data that are invalid stay so, and are reported.
      if case .inline = origin { try report(error, at: item.member("data")) }
    }
    let made: SourceID? = try restore(item, "source") { world, _ in
      try world.addSource(
        id: id, driver: driver, origin: origin, layers: layers, status: status, warnings: warnings
      ).id
    }
    guard made != nil else { return }
    self.savedLayers[id] = savedLayers
    objects[ObjectReference(.sources, saved.source)] = item.json
    occasional[ObjectReference(.sources, saved.source)] = .made {
      DocumentProtocol.SavedSource(source: saved.source, layers: saved.layers).encode(to: &$0)
    }
  }

  private static func origin(
    of saved: DocumentProtocol.SavedSource, _ json: JSONValue, _ folder: DocumentFolder, _ files: FilePaths,
    _ world: World
  ) throws -> SourceOrigin {
    let reference = try world.canonical(saved.spatialReference)
    if let data = saved.data?.value {
      guard data.kind == .object else { throw data.typeError(expected: "a GeoJSON object") }
      return .inline(Array(data.jsonText.utf8), reference: reference)
    }
    if let columns = saved.columns {
      let fields = saved.fields ?? []
      return .columns(
        try ColumnSources.data(columns, fields: fields.map(Wire.field), in: reference, at: "/columns"))
    }
    guard let path = saved.path else { throw json["path"].typeError(expected: "string") }
    var file = FileOrigin(opening: try folder.absolute(path, files))
    (file.driver, file.xField, file.yField, file.zField) = (saved.driver, saved.xField, saved.yField, saved.zField)
    (file.encoding, file.reference, file.overrides) = (saved.encoding, reference, saved.override)
    return .file(file)
  }

  /// A failure in place of data that cannot be opened: a document outlives its data, and clients see what is missing.
  ///
  /// - Throws: the error, if the data did not cause it.
  static func failure(_ error: RPCError) throws -> Failure {
    guard error.kind != ErrorKind.cancelled.rawValue, error.kind != ErrorKind.libraryMissing.rawValue else {
      throw error
    }
    return error.failure
  }

  // MARK: Views

  private mutating func readView(_ item: DocumentItem) throws {
    let made = try restore(item, "view", keeping: ["map", "scene"], without: ["overlays"]) { world, json in
      let saved = try DocumentProtocol.SavedView(from: json)
      try Self.make(saved, json, in: &world)
      return (id: saved.view, position: saved.position)
    }
    guard let made else { return }
    let reference = ObjectReference(.views, made.id)
    objects[reference] = item.json
    occasional[reference] = .made {
      DocumentProtocol.SavedView(view: made.id, position: made.position).encode(to: &$0)
    }
    for overlay in try items("overlays", of: item) { try readOverlay(overlay, of: made.id) }
  }

  private static func make(
    _ saved: DocumentProtocol.SavedView, _ json: JSONValue, in world: inout World
  ) throws {
    var params = try ViewProtocol.Create.Params(from: json)
    params.id = saved.view
    params.ifExists = .error
    _ = try ViewService.create(params, in: &world)
    let id = ViewID(saved.view)
    if let position = saved.position {
      try world.restoreCamera(
        of: id,
        to: Camera(x: position.x, y: position.y, scale: position.scale, rotation: position.rotation),
        with: try params.viewpoint.map(Wire.target))
    }
    if let display = saved.locationDisplay {
      try world.updateLocationDisplay(
        of: id, wanderExtentFactor: display.wanderExtentFactor, initialZoomScale: display.initialZoomScale,
        navigationPointHeightFactor: display.navigationPointHeightFactor)
    }
  }

  private mutating func readOverlay(_ item: DocumentItem, of view: String) throws {
    // Without its reference, graphics would be at another place.
    let id = try restore(item, "overlay", keeping: ["spatialReference"], without: ["graphics"]) { world, json in
      let saved = try DocumentProtocol.SavedOverlay(from: json)
      _ = try OverlayService.create(
        .init(view: view, id: saved.overlay, spatialReference: saved.spatialReference), in: &world)
      try world.updateOverlay(
        OverlayID(saved.overlay), try Self.settings(try OverlayProtocol.Update.Params(from: json).members))
      return OverlayID(saved.overlay)
    }
    guard let id else { return }
    objects[ObjectReference(.overlays, id.rawValue)] = item.json
    try readGraphics(item, of: id)
  }

  /// The members to set. Documents have no `clear`, but an unknown member may have that name.
  static func settings(_ members: [(name: String, value: MemberPayload?)]) throws -> [MemberChange] {
    try Wire.changes(members.filter { $0.value != nil })
  }
}
