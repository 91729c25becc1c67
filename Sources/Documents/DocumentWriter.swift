// Writes a snapshot of the world as a document, in pieces, so that memory does not grow with the document.

import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import Handlers
import JSON
import JSONRPC
import Planning
import Platform
import StateTree
import WireCoding

/// Writes one document.
struct DocumentWriter: ~Copyable {
  private let world: World
  private let saved: SavedObjects
  private let worker: Worker
  private let graphicCount: Int
  private var graphicsWritten = 0
  private var layout = DocumentLayout()
  private let file: AtomicFile
  /// Size, number of values and depth of all text so far.
  private var measure = JSONMeasure()
  /// Minimum size of a piece, in bytes.
  private static let pieceBytes = 1 << 20

  private init(_ world: World, _ folder: DocumentFolder, _ worker: Worker, _ file: consuming AtomicFile) {
    self.world = world
    self.worker = worker
    self.file = file
    saved = SavedObjects(world: world, folder: folder)
    graphicCount = world.overlays.values.reduce(0) { $0 + $1.store.count }
  }

  /// Replaces a file by the document of a world. If it throws, the file is unchanged.
  ///
  /// - Throws: `documentTooLarge` for a document that could not be opened again.
  /// - Parameter path: an absolute path.
  /// - Returns: attributes of the replaced file that the new one does not have.
  static func write(_ world: World, to path: String, _ worker: Worker) throws -> [FileAttribute] {
    let target = try worker.files.policy.resolveForWriting(path)
    let file = try AtomicFile.begin(replacing: target)
    var writer = DocumentWriter(world, DocumentFolder(of: target.path), worker, file)
    try writer.write()
    try worker.checkCancelled()
    let limits = worker.documentLimits
    guard writer.fits(limits) else { throw writer.tooLarge(path, limits) }
    let lost = writer.file.lost
    try writer.file.commit(for: worker)
    return lost
  }

  private mutating func write() throws {
    let unknown = world.document.unknownMembers
    layout.beginObject()
    try layout.members(SavedObjects.root, unknown.root)
    try writeSources(unknown)
    try writeMaps(unknown)
    layout.beginList("scenes")
    for scene in world.scenes.values {
      try begin(scene.saved(in: saved), unknown.objects[scene.reference])
      try writeLayers(of: .scene(scene.id), unknown)
      layout.endObject()
    }
    layout.endList()
    try writeViews(unknown)
    try writeFlow(unknown)
    layout.endObject()
    layout.out.append(byte: UInt8(ascii: "\n"))
    try append()
  }

  /// Appends the text so far to the file. If the document exceeds the limits, the text is only measured, for the error.
  private mutating func append() throws(RPCError) {
    measure.add(layout.out.bytes)
    if fits(worker.documentLimits) { try file.append(layout.out.bytes) }
  }

  private func tooLarge(_ path: String, _ limits: DocumentLimits) -> RPCError {
    RPCError(
      documentTooLarge: path, bytes: measure.bytes, values: measure.values, depth: measure.depth,
      limits: (limits.bytes, limits.values, limits.depth))
  }

  private func fits(_ limits: DocumentLimits) -> Bool {
    measure.bytes <= limits.bytes && measure.values <= limits.values && measure.depth <= limits.depth
  }

  private mutating func writeSources(_ unknown: UnknownMembers) throws {
    layout.beginList("sources")
    for source in saved.sources {
      try begin(saved.source(source), unknown.objects[ObjectReference(.sources, source.id.rawValue)])
      switch source.origin {
      case .file: break
      case .inline(let bytes, _): bytes.withUnsafeBytes { layout.member("data", json: $0) }
      case .columns(let data):
        let columns = try FeatureColumnsWriter.all(
          of: data.store, geometry: data.geometryType != nil, checking: worker.checkCancelled)
        layout.member("columns", json: columns.bytes)
      }
      layout.endObject()
      try flushPiece()
    }
    layout.endList()
  }

  private mutating func writeMaps(_ unknown: UnknownMembers) throws {
    layout.beginList("maps")
    for map in world.maps.values {
      try begin(Wire.saved(map, world), unknown.objects[map.reference])
      try writeLayers(of: .map(map.id), unknown)
      layout.endObject()
    }
    layout.endList()
  }

  private mutating func writeLayers(of container: ViewContent, _ unknown: UnknownMembers) throws {
    for (name, role, layers) in world.layerLists(of: container) where role == .operational || !layers.isEmpty {
      layout.beginList(name)
      for layer in layers { try object(layer.saved(in: saved), unknown.objects[layer.reference]) }
      layout.endList()
    }
  }

  private mutating func writeViews(_ unknown: UnknownMembers) throws {
    layout.beginList("views")
    for view in world.views.values {
      try begin(view.saved(in: saved), unknown.objects[view.reference])
      layout.beginList("overlays")
      for overlay in view.overlays.compactMap({ world.overlays[$0] }) {
        try begin(Wire.saved(overlay, world), unknown.objects[overlay.reference])
        try writeGraphics(overlay.store, unknown.graphics[overlay.id] ?? [:])
        layout.endObject()
      }
      layout.endList()
      layout.endObject()
    }
    layout.endList()
  }

  /// Writes view models and the environment, with the types and keys that define them.
  private mutating func writeFlow(_ unknown: UnknownMembers) throws {
    layout.beginList("viewModelTypes")
    for type in world.viewModelTypes.values { try object(type.saved(in: saved), unknown.objects[type.reference]) }
    layout.endList()
    layout.beginList("viewModels")
    for model in saved.viewModels {
      try object(model.saved(in: saved), unknown.objects[model.reference])
      try flushPiece()
    }
    layout.endList()
    for kind in SavedKinds.listed { try writeList(kind, unknown) }
    layout.beginList("environmentKeys")
    for key in saved.environmentKeys { try object(key.saved(in: saved), unknown.objects[key.reference]) }
    layout.endList()
    layout.beginList("environments")
    for scope in saved.environments { try object(scope.saved(in: saved), unknown.objects[scope.reference]) }
    layout.endList()
  }

  private mutating func writeList<E: ListedKind>(_ kind: E.Type, _ unknown: UnknownMembers) throws {
    layout.beginList(E.collection.rawValue)
    for element in world[keyPath: E.registry].values where world.isSaved(element.reference) {
      try object(element.saved(in: saved), unknown.objects[element.reference])
      try flushPiece()
    }
    layout.endList()
  }

  // MARK: Objects

  private mutating func begin(_ own: some JSONEncodable, _ unknown: UnknownMembers.Object?) throws {
    layout.element()
    layout.beginObject()
    try layout.members(own, unknown)
  }

  private mutating func object(_ own: some JSONEncodable, _ unknown: UnknownMembers.Object?) throws {
    try begin(own, unknown)
    layout.endObject()
  }

  // MARK: Graphics

  /// Writes graphics directly from the store's columns, one per line.
  private mutating func writeGraphics(_ store: FeatureStore, _ unknown: [Int: UnknownMembers.Object]) throws {
    layout.beginList("graphics")
    // The order of columns after reading the document, so that saving it again gives the same text.
    let columns = store.columnsAsFilled()
    var isFirst = true
    var problem: (any Error)?
    store.forEach { row in
      layout.out.append(isFirst ? "\n" : ",\n")
      isFirst = false
      let start = layout.out.count
      FeatureWriter.writeGraphic(row, store.schema, columns: columns, to: &layout.out)
      graphicsWritten += 1
      do {
        if !unknown.isEmpty, let unknown = unknown[row.id] { try merge(unknown, from: start) }
        if layout.out.count >= Self.pieceBytes { try flushPiece() }
      } catch { problem = error }
      return problem == nil
    }
    if let problem { throw problem }
    layout.endLines(isEmpty: isFirst)
  }

  /// Merges unknown members into the graphic whose text is the end of the buffer, from `start`.
  private mutating func merge(_ unknown: UnknownMembers.Object, from start: Int) throws(JSONSyntaxError) {
    let own = String(decoding: UnsafeRawBufferPointer(rebasing: layout.out.bytes[start...]), as: UTF8.self)
    layout.out.truncate(to: start)
    var merged = try unknown.merged(with: own)
    merged.withUTF8 { layout.out.append(UnsafeRawBufferPointer($0)) }
  }

  /// Appends the text so far to the file if it has reached the size of a piece, and reports progress.
  private mutating func flushPiece() throws {
    guard layout.out.count >= Self.pieceBytes else { return }
    try worker.checkCancelled()
    try append()
    layout.out.reset(keeping: 4 * Self.pieceBytes)
    if graphicCount > 0 { worker.work.report(Double(graphicsWritten) / Double(graphicCount)) }
  }
}
