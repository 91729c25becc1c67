// Writes a snapshot of the world as a document, in pieces, so that memory does not grow with the document.

import FeatureStore
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

  private init(
    _ world: World, _ folder: DocumentFolder, packed: [Int: String] = [:], _ worker: Worker, _ file: consuming AtomicFile
  ) {
    self.world = world
    self.worker = worker
    self.file = file
    saved = SavedObjects(world: world, folder: folder, packed: packed)
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

  /// The document of a package, in a file without a name of its own.
  ///
  /// - Parameters:
  ///   - packed: the GeoPackages that sources become, by the number of the source.
  ///   - package: in whose folder the file is.
  static func text(
    _ world: World, _ folder: DocumentFolder, _ packed: [Int: String], beside package: HeldName, _ worker: Worker
  ) throws -> AtomicFile {
    var writer = DocumentWriter(world, folder, packed: packed, worker, try AtomicFile.begin(replacing: package))
    try writer.write()
    guard writer.fits(worker.documentLimits) else { throw writer.tooLarge(package.path, worker.documentLimits) }
    return writer.file
  }

  private var unknown: UnknownMembers { world.document.unknownMembers }

  private mutating func write() throws {
    layout.beginObject()
    try layout.members(SavedObjects.root, unknown.root)
    try writeSources()
    try write(world.maps.values) { writer, map in try writer.writeLayers(of: .map(map.id)) }
    try write(world.scenes.values) { writer, scene in try writer.writeLayers(of: .scene(scene.id)) }
    try write(world.views.values) { writer, view in
      try writer.write(view.overlays.compactMap { writer.world.overlays[$0] }) { writer, overlay in
        try writer.writeGraphics(overlay.store, writer.unknown.graphics[overlay.id] ?? [:])
      }
    }
    // View models and the environment, with the types and keys that define them.
    try write(world.viewModelTypes.values)
    try write(saved.viewModels)
    for kind in SavedKinds.listed { try writeAll(kind) }
    try write(saved.environmentKeys)
    try write(saved.environments)
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

  private mutating func writeSources() throws {
    layout.beginList("sources")
    for source in saved.sources {
      try begin(saved.source(source), unknown.objects[ObjectReference(.sources, source.id.rawValue)])
      switch source.origin {
      case _ where saved.packed[source.number] != nil: break
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

  private mutating func writeLayers(of container: ViewContent) throws {
    for (name, role, layers) in world.layerLists(of: container) where role == .operational || !layers.isEmpty {
      try write(layers, as: name)
    }
  }

  // MARK: Objects

  /// Writes a list of objects, under the name of their kind unless another is given. `more` writes the lists in each.
  private mutating func write<E: SavedKind>(
    _ elements: some Sequence<E>, as list: String = E.collection.rawValue,
    and more: (inout DocumentWriter, E) throws -> Void = { _, _ in }
  ) throws {
    layout.beginList(list)
    for element in elements {
      try begin(element.saved(in: saved), unknown.objects[element.reference])
      try more(&self, element)
      layout.endObject()
      try flushPiece()
    }
    layout.endList()
  }

  private mutating func writeAll<E: ListedKind>(_ kind: E.Type) throws {
    try write(world[keyPath: E.registry].values.filter { world.isSaved($0.reference) })
  }

  private mutating func begin(_ own: some JSONEncodable, _ unknown: UnknownMembers.Object?) throws {
    layout.element()
    layout.beginObject()
    try layout.members(own, unknown)
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
