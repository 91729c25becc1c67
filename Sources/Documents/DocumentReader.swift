// A document's text as a world of its own: built by the same code as the commands, so that every check is made once.

import GeoModel
import GeoProtocol
import Geometry
import Handlers
import JSON
import JSONRPC
import Query
import Reading
import StateTree
import WireCoding

/// Reads one document into a fresh world.
struct DocumentReader {
  let file: String
  let folder: DocumentFolder
  let worker: Worker
  let root: JSONValue
  var world: World
  var unknown = UnknownMembers()
  private var unknownGraphicMembers = UnknownGraphicMembers()
  /// What the layers of each source were when the document was saved.
  var savedLayers: [SourceID: [SourceLayer]] = [:]
  /// Graphics are added in portions, so that a cancel is heard.
  private static let portion = 10_000

  /// - Parameters:
  ///   - root: to be kept while this reads.
  ///   - world: an empty one.
  init(file: String, folder: DocumentFolder, _ root: JSONValue, into world: World, _ worker: Worker) {
    self.file = file
    self.folder = folder
    self.root = root
    self.world = world
    self.worker = worker
  }

  mutating func read() throws {
    let document = try at(root, "format") {
      let version = try checkVersion()
      guard version <= SavedObjects.version else {
        throw RPCError(documentTooNew: file, version: version, supported: SavedObjects.version)
      }
      return try DocumentProtocol.Document(from: root)
    }
    for (index, source) in document.sources.enumerated() { try read(source, root["sources"][index]) }
    for (index, map) in document.maps.enumerated() { try read(map, root["maps"][index]) }
    for (index, scene) in document.scenes.enumerated() { try read(scene, root["scenes"][index]) }
    for (index, view) in document.views.enumerated() { try read(view, root["views"][index]) }
    try readFlow(document)
    try recordUnknownMembers(document)
  }

  private func checkVersion() throws -> Int {
    guard root.kind == .object else { throw root.typeError(expected: "object") }
    _ = try DocumentProtocol.DocumentFormat(from: root["format"])
    let version = try root["version"].integer()
    guard version >= 1 else { throw root["version"].error(expected: "integer of at least 1") }
    return version
  }

  /// Runs `body`, whose errors are about the object at `json`; what it does is not kept to be taken back.
  func at<R>(_ json: JSONValue, _ noun: String, _ body: () throws -> R) throws -> R {
    try worker.checkCancelled()
    do { return try body() } catch let error as RPCError where error.kind == ErrorKind.documentTooNew.rawValue {
      throw error
    } catch {
      throw RPCError(error, inDocument: file, root, at: json, noun) ?? error
    }
  }

  mutating func make(_ json: JSONValue, _ noun: String, _ body: (inout World) throws -> Void) throws {
    world.begin(origin: .task)
    try at(json, noun) { try body(&world) }
    _ = world.takeChanges()
  }

  // MARK: Sources

  private mutating func read(_ saved: DocumentProtocol.SavedSource, _ json: JSONValue) throws {
    let reference = try at(json, "source") { try world.canonical(saved.spatialReference) }
    if let data = saved.data?.value {
      guard data.kind == .object else {
        throw RPCError(
          invalidDocument: file, at: data.path(from: root), expected: "a GeoJSON object",
          reason: "inline data is a GeoJSON object")
      }
      let origin = SourceOrigin.inline(Array(data.jsonText.utf8), reference: reference)
      let (driver, layers, warnings) = try at(json, "source") { try SourceService.schema(of: origin, worker) }
      return try make(json, "source") {
        try $0.addSource(id: ID(saved.source), driver: driver, origin: origin, layers: layers, warnings: warnings)
      }
    }
    let path = try at(json, "source") {
      guard let path = saved.path else { throw json["path"].typeError(expected: "string") }
      return try folder.absolute(path, worker.files)
    }
    let origin = SourceOrigin.file(
      path: path, driver: saved.driver, xField: saved.xField, yField: saved.yField, reference: reference)
    var driver = saved.driver ?? "unknown"
    var layers = (saved.layers ?? []).map(Wire.sourceLayer)
    savedLayers[ID(saved.source)] = layers
    var status = SourceStatus.open
    var warnings: [String] = []
    do { (driver, layers, warnings) = try SourceService.schema(of: origin, worker) } catch let error as ReadError {
      status = .failed(try Self.failure(RPCError(error)))
    }
    try make(json, "source") {
      try $0.addSource(
        id: ID(saved.source), driver: driver, origin: origin, layers: layers, status: status,
        warnings: warnings)
    }
  }

  /// What stands in the place of data that could not be opened: a document outlives its data, and whoever opens it sees what is missing.
  ///
  /// - Throws: the error, where it says nothing about the data.
  static func failure(_ error: RPCError) throws -> Failure {
    guard error.kind != ErrorKind.cancelled.rawValue, error.kind != ErrorKind.libraryMissing.rawValue else {
      throw error
    }
    return error.failure
  }

  // MARK: Views

  private mutating func read(_ saved: DocumentProtocol.SavedView, _ json: JSONValue) throws {
    try make(json, "view") { world in
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
          of: id, wanderExtentFactor: display.wanderExtentFactor, initialZoomScale: display.initialZoomScale)
      }
    }
    for (index, overlay) in saved.overlays.enumerated() {
      try read(overlay, of: saved.view, json["overlays"][index])
    }
  }

  private mutating func read(_ saved: DocumentProtocol.SavedOverlay, of view: String, _ json: JSONValue) throws {
    try make(json, "overlay") { world in
      _ = try OverlayService.create(
        .init(view: view, id: saved.overlay, spatialReference: saved.spatialReference), in: &world)
      try world.updateOverlay(
        OverlayID(saved.overlay), try Self.settings(try OverlayProtocol.Update.Params(from: json).members))
    }
    let graphics = json["graphics"]
    guard graphics.isPresent else { return }
    try at(json, "overlay") { try graphics.requireArray() }
    let count = graphics.count
    for start in stride(from: 0, to: count, by: Self.portion) {
      let portion = (start..<min(start + Self.portion, count)).map { JSONOpaque.parsed(graphics[$0]) }
      try read(portion, from: start, of: saved.overlay, json)
      worker.report(Double(start + portion.count) / Double(count))
    }
  }

  private mutating func read(_ graphics: [JSONOpaque], from start: Int, of overlay: String, _ json: JSONValue) throws {
    var first: Int?
    try make(json, "overlay") { world in
      do {
        first = try OverlayService.addGraphics(.init(overlay: overlay, graphics: graphics), in: &world).firstId
      } catch ModelError.items(let items, let count) {
        throw ModelError.items(items.map { ItemError(index: start + $0.index, $0.reason) }, count: count)
      }
    }
    let id = OverlayID(overlay)
    for case .parsed(let graphic) in graphics {
      let number = (try? graphic["id"].integer()) ?? first
      if !graphic["id"].isPresent { first = first.map { $0 + 1 } }
      guard let number, let kept = unknownGraphicMembers.object(of: graphic) else { continue }
      unknown.graphics[id, default: [:]][number] = kept
    }
  }

  // MARK: What newer versions know

  /// Notes of every object what it has that would not be written.
  private mutating func recordUnknownMembers(_ document: DocumentProtocol.Document) throws {
    let saved = SavedObjects(world: world, folder: folder)
    unknown.root = try Self.unknown(root, SavedObjects.root)
    let sources = Dictionary(DocumentSource.all(in: saved).map { ($0.id.rawValue, $0) }) { first, _ in first }
    for (read, json) in zip(document.sources, elements(root["sources"])) {
      guard let source = sources[read.source] else { continue }
      var known = read
      known.data = nil
      try record(ObjectReference(.sources, read.source), json, saved.source(source), known)
    }
    for (map, json) in zip(world.maps.values, elements(root["maps"])) {
      try record(map.reference, json, Wire.saved(map, world))
      try recordLayers(of: .map(map.id), json, saved)
    }
    for (scene, json) in zip(world.scenes.values, elements(root["scenes"])) {
      try record(scene.reference, json, saved.scene(scene))
      try recordLayers(of: .scene(scene.id), json, saved)
    }
    for (index, (view, json)) in zip(world.views.values, elements(root["views"])).enumerated() {
      var known = document.views[index]
      known.overlays = []
      try record(view.reference, json, saved.view(view), known)
      for (id, json) in zip(view.overlays, elements(json["overlays"])) {
        if let overlay = world.overlays[id] { try record(overlay.reference, json, Wire.saved(overlay, world)) }
      }
    }
    try recordFlow(saved)
  }

  private mutating func recordLayers(of container: ViewContent, _ json: JSONValue, _ saved: SavedObjects) throws {
    for (name, _, layers) in saved.layerLists(of: container) {
      // A document may have what is in a group anywhere behind it.
      let all = elements(json[name])
      let byID = Dictionary(all.compactMap { json in (try? json["layer"].string()).map { ($0, json) } }) { $1 }
      for layer in layers {
        if let json = byID[layer.id.rawValue] { try record(layer.reference, json, Wire.saved(layer, world)) }
      }
    }
  }

  func elements(_ list: JSONValue) -> [JSONValue] { (0..<list.count).map { list[$0] } }

  /// - Parameter read: what was understood of it, where it has occasional members.
  mutating func record(
    _ object: ObjectReference, _ json: JSONValue, _ saved: some JSONEncodable, _ read: (any JSONEncodable)? = nil
  ) throws {
    unknown.objects[object] = try Self.unknown(json, saved, read)
  }

  /// Nil where what was read is what would be written.
  private static func unknown(
    _ json: JSONValue, _ saved: some JSONEncodable, _ read: (any JSONEncodable)? = nil
  ) throws -> UnknownMembers.Object? {
    var own = JSONWriter(capacity: 1024)
    var expected = JSONWriter(capacity: 1024)
    own.beginObject()
    expected.beginObject()
    let occasional = SavedObjects.occasional
    write(json, to: &own) { read != nil || !occasional.contains($0) }
    try JSONDocument(saved.jsonText).read { write($0, to: &expected) { read == nil || !occasional.contains($0) } }
    // They are compared with what this version makes of them, not with what would be written: that may be none, or of other data.
    if let read { try JSONDocument(read.jsonText).read { write($0, to: &expected, where: occasional.contains) } }
    own.endObject()
    expected.endObject()
    let (original, written) = (own.string, expected.string)
    let isSame = try JSONDocument(original).read { (original) throws(JSONSyntaxError) in
      try JSONDocument(written).read { written in original.isEqual(to: written) }
    }
    return isSame ? nil : UnknownMembers.Object(original: original, written: written)
  }

  /// Writes members of an object, but no lists of other objects.
  private static func write(_ object: JSONValue, to writer: inout JSONWriter, where isMeant: (String) -> Bool) {
    object.forEachMember { name, value in
      let text = String(decoding: name, as: UTF8.self)
      guard !SavedObjects.lists.contains(text), isMeant(text) else { return }
      writer.key(utf8: name)
      value.encode(to: &writer)
    }
  }
}
