// A snapshot of the world as a document's text, handed on as it grows.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import Query

/// Writes one document.
struct DocumentWriter: ~Copyable {
  private let world: World
  private let saved: SavedObjects
  private let worker: Worker
  private let graphicCount: Int
  private var graphicsWritten = 0
  private var layout = DocumentLayout()
  private let file: AtomicFile
  /// Text is handed on in pieces of this size.
  private static let pieceBytes = 1 << 20

  private init(_ world: World, _ folder: DocumentFolder, _ worker: Worker, _ file: consuming AtomicFile) {
    self.world = world
    self.worker = worker
    self.file = file
    saved = SavedObjects(world: world, folder: folder)
    graphicCount = world.overlays.values.reduce(0) { $0 + $1.store.count }
  }

  /// Replaces a file by the document of a world. When it throws, the file is the old one.
  ///
  /// - Parameter path: absolute.
  static func write(_ world: World, to path: String, _ worker: Worker) throws {
    let real = try worker.files.policy.resolveForWriting(path)
    let file = try AtomicFile.begin(replacing: real)
    var writer = DocumentWriter(world, DocumentFolder(of: real), worker, file)
    try writer.write()
    try worker.checkCancelled()
    try writer.file.commit()
  }

  private mutating func write() throws {
    let foreign = world.document.foreign
    layout.beginObject()
    try layout.members(Stripped(own: SavedObjects.root), foreign.root)
    try writeSources(foreign)
    try writeMaps(foreign)
    layout.beginList("scenes")
    for scene in world.scenes.values {
      try begin(saved.scene(scene), foreign.objects[scene.reference])
      try writeLayers(of: .scene(scene.id), foreign)
      layout.endObject()
    }
    layout.endList()
    try writeViews(foreign)
    try writeFlow(foreign)
    layout.endObject()
    layout.out.append(byte: UInt8(ascii: "\n"))
    try file.append(layout.out.bytes)
  }

  private mutating func writeSources(_ foreign: ForeignMembers) throws {
    layout.beginList("sources")
    for source in DocumentSource.all(in: saved) {
      try begin(saved.source(source), foreign.objects[ObjectReference(.sources, source.id.rawValue)])
      if case .inline(let bytes, _) = source.origin { bytes.withUnsafeBytes { layout.member("data", json: $0) } }
      layout.endObject()
      try handOn()
    }
    layout.endList()
  }

  private mutating func writeMaps(_ foreign: ForeignMembers) throws {
    layout.beginList("maps")
    for map in world.maps.values {
      try begin(saved.map(map), foreign.objects[map.reference])
      try writeLayers(of: .map(map.id), foreign)
      layout.endObject()
    }
    layout.endList()
  }

  private mutating func writeLayers(of container: ViewContent, _ foreign: ForeignMembers) throws {
    for (name, role, layers) in saved.layerLists(of: container) where role == .operational || !layers.isEmpty {
      layout.beginList(name)
      for layer in layers { try object(Wire.saved(layer, world), foreign.objects[layer.reference]) }
      layout.endList()
    }
  }

  private mutating func writeViews(_ foreign: ForeignMembers) throws {
    layout.beginList("views")
    for view in world.views.values {
      try begin(saved.view(view), foreign.objects[view.reference])
      layout.beginList("overlays")
      for overlay in view.overlays.compactMap({ world.overlays[$0] }) {
        try begin(Wire.saved(overlay, world), foreign.objects[overlay.reference])
        try writeGraphics(overlay.store, foreign.graphics[overlay.id] ?? [:])
        layout.endObject()
      }
      layout.endList()
      layout.endObject()
    }
    layout.endList()
  }

  /// View models and the environment, with what they are defined by.
  private mutating func writeFlow(_ foreign: ForeignMembers) throws {
    layout.beginList("viewModelTypes")
    for type in world.viewModelTypes.values { try object(saved.viewModelType(type), foreign.objects[type.reference]) }
    layout.endList()
    layout.beginList("viewModels")
    for model in saved.viewModels {
      try object(saved.viewModel(model), foreign.objects[model.reference])
      try handOn()
    }
    layout.endList()
    layout.beginList("environmentKeys")
    for key in saved.environmentKeys { try object(saved.environmentKey(key), foreign.objects[key.reference]) }
    layout.endList()
    layout.beginList("environments")
    for scope in saved.environments { try object(saved.environment(scope), foreign.objects[scope.reference]) }
    layout.endList()
  }

  // MARK: Objects

  private mutating func begin(_ own: some JSONEncodable, _ kept: ForeignMembers.Object?) throws {
    layout.element()
    layout.beginObject()
    try layout.members(Stripped(own: own), kept)
  }

  private mutating func object(_ own: some JSONEncodable, _ kept: ForeignMembers.Object?) throws {
    try begin(own, kept)
    layout.endObject()
  }

  // MARK: Graphics

  /// A graphic a line, straight from the columns.
  private mutating func writeGraphics(_ store: FeatureStore, _ foreign: [Int: ForeignMembers.Object]) throws {
    layout.beginList("graphics")
    // As the store will have them once the document is read: it is the same text when it is saved again.
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
        if !foreign.isEmpty, let kept = foreign[row.id] { try merge(kept, from: start) }
        if layout.out.count >= Self.pieceBytes { try handOn() }
      } catch { problem = error }
      return problem == nil
    }
    if let problem { throw problem }
    layout.endLines(isEmpty: isFirst)
  }

  /// Puts what newer versions know of the graphic that was written last into it.
  private mutating func merge(_ kept: ForeignMembers.Object, from start: Int) throws(JSONSyntaxError) {
    let own = String(decoding: UnsafeRawBufferPointer(rebasing: layout.out.bytes[start...]), as: UTF8.self)
    layout.out.truncate(to: start)
    var merged = try kept.merged(with: own)
    merged.withUTF8 { layout.out.append(UnsafeRawBufferPointer($0)) }
  }

  private mutating func handOn() throws {
    guard layout.out.count >= Self.pieceBytes else { return }
    try worker.checkCancelled()
    try file.append(layout.out.bytes)
    layout.out.reset(keeping: 4 * Self.pieceBytes)
    if graphicCount > 0 { worker.report(Double(graphicsWritten) / Double(graphicCount)) }
  }
}

/// An object without the lists that are written by themselves.
struct Stripped<Own: JSONEncodable>: JSONEncodable {
  let own: Own

  func encode(to writer: inout JSONWriter) {
    var whole = JSONWriter(capacity: 1024)
    own.encode(to: &whole)
    writer.beginObject()
    if let document = try? JSONDocument(whole.string) {
      document.read { object in
        object.forEachMember { name, value in
          guard !SavedObjects.lists.contains(String(decoding: name, as: UTF8.self)) else { return }
          writer.key(utf8: name)
          value.encode(to: &writer)
        }
      }
    }
    writer.endObject()
  }
}
