// Maps: created, changed, closed; and what maps and scenes share: titles, bookmarks, scale ranges, basemaps.

import Geometry
import Query

extension World {
  @discardableResult
  public mutating func createMap(id: MapID?, title: String?, reference: SpatialReference) throws(ModelError) -> Map {
    try checkFree(id)
    let info = try describe(reference)
    guard info.kind == .projected || info.kind == .geographic else {
      throw .transform(
        .unknownReference(reference.definition, reason: "a map is projected or geographic, this is \(info.kind)"))
    }
    let id = try claim(id, prefix: "map")
    insert(Map(id: id, reference: info, content: MapContent(title: title)))
    return try maps.require(id)
  }

  /// Closes a map with its layers and the views that show it.
  public mutating func closeMap(_ id: MapID) throws(ModelError) {
    _ = try maps.require(id)
    clear(.map(id))
    remove(id)
  }

  // MARK: What maps and scenes share

  /// The content of a map or a scene.
  public func content(of container: ViewContent) throws(ModelError) -> MapContent {
    switch container {
    case .map(let id): try maps.require(id).content
    case .scene(let id): try scenes.require(id).content
    }
  }

  mutating func changeContent(
    of container: ViewContent, _ body: (inout MapContent) throws(ModelError) -> Void
  ) throws(ModelError) {
    switch container {
    case .map(let id): try change(id) { (map) throws(ModelError) in try body(&map.content) }
    case .scene(let id): try change(id) { (scene) throws(ModelError) in try body(&scene.content) }
    }
  }

  /// Closes the views of a map or a scene and removes its layers and tables.
  mutating func clear(_ container: ViewContent) {
    closeViews(showing: container.reference)
    guard let content = try? content(of: container) else { return }
    for layer in content.topLayers + content.tables { removeTree(layer) }
  }

  /// Changes a map or a scene.
  ///
  /// - Throws: `idRepeated` for bookmarks, `invalidScaleRange`, and what a viewpoint cannot be.
  public mutating func updateContent(of container: ViewContent, _ update: MapContentUpdate) throws(ModelError) {
    var new = try content(of: container)
    try check(
      update.clear,
      allowed: [
        "title", "basemap", "basemap.name", "bookmarks", "initialViewpoint", "referenceScale", "minScale", "maxScale",
        "backgroundColor",
      ])
    if update.clear.contains("title") { new.title = nil }
    if update.clear.contains("bookmarks") { new.bookmarks = [] }
    if update.clear.contains("initialViewpoint") { new.initialViewpoint = nil }
    if update.clear.contains("referenceScale") { new.referenceScale = nil }
    if update.clear.contains("minScale") { new.minScale = nil }
    if update.clear.contains("maxScale") { new.maxScale = nil }
    if update.clear.contains("backgroundColor") { new.backgroundColor = nil }
    if let title = update.title { new.title = Text(title) }
    if let scale = update.referenceScale { new.referenceScale = scale }
    if let scale = update.minScale { new.minScale = scale }
    if let scale = update.maxScale { new.maxScale = scale }
    if let color = update.backgroundColor { new.backgroundColor = color }
    if let far = new.minScale, let near = new.maxScale, far <= near { throw .invalidScaleRange }
    if let target = update.initialViewpoint { new.initialViewpoint = try checked(target, in: container) }
    if let bookmarks = update.bookmarks { new.bookmarks = try made(bookmarks, in: container) }
    var dropped: [LayerID] = []
    if update.clear.contains("basemap"), let basemap = new.basemap {
      dropped = basemap.baseLayers + basemap.referenceLayers
      new.basemap = nil
    }
    if update.clear.contains("basemap.name") { new.basemap?.name = nil }
    if let basemap = update.basemap {
      new.basemap = new.basemap ?? Basemap()
      if let name = basemap.name { new.basemap?.name = Text(name) }
    }
    for layer in dropped { removeTree(layer) }
    try changeContent(of: container) { (content) throws(ModelError) in content = new }
  }

  // MARK: Bookmarks

  private mutating func made(
    _ bookmarks: [NewBookmark], in container: ViewContent
  ) throws(ModelError) -> [Bookmark] {
    var ids: Set<String> = []
    let given = Set(bookmarks.compactMap(\.id))
    var result: [Bookmark] = []
    for (index, new) in bookmarks.enumerated() {
      let id = new.id ?? mintBookmark(beside: given)
      guard ids.insert(id).inserted else { throw .idRepeated(id, path: "/params/bookmarks/\(index)/id") }
      result.append(Bookmark(id: Text(id), name: Text(new.name), viewpoint: try checked(new.viewpoint, in: container)))
    }
    return result
  }

  private mutating func mintBookmark(beside others: Set<String>) -> String {
    var id = mint("bookmark")
    while others.contains(id) { id = mint("bookmark") }
    return id
  }

  /// - Parameter index: index in the list; last when nil.
  /// - Returns: the id of the bookmark.
  public mutating func addBookmark(
    _ new: NewBookmark, to container: ViewContent, at index: Int?
  ) throws(ModelError) -> String {
    let bookmarks = try content(of: container).bookmarks
    if let id = new.id, bookmarks.contains(where: { $0.id == Text(id) }) { throw .idExists(id) }
    if let index, index > bookmarks.count { throw .indexOutOfRange(count: bookmarks.count) }
    let viewpoint = try checked(new.viewpoint, in: container)
    let id = new.id ?? mintBookmark(beside: Set(bookmarks.map(\.id.string)))
    let bookmark = Bookmark(id: Text(id), name: Text(new.name), viewpoint: viewpoint)
    try changeContent(of: container) { (content) throws(ModelError) in
      content.bookmarks.insert(bookmark, at: index ?? bookmarks.count)
    }
    return bookmark.id.string
  }

  public mutating func removeBookmark(_ id: String, from container: ViewContent) throws(ModelError) {
    let current = try bookmarkIndex(of: id, in: container)
    try changeContent(of: container) { (content) throws(ModelError) in content.bookmarks.remove(at: current) }
  }

  public mutating func moveBookmark(_ id: String, in container: ViewContent, to index: Int) throws(ModelError) {
    let current = try bookmarkIndex(of: id, in: container)
    try changeContent(of: container) { (content) throws(ModelError) in
      guard index < content.bookmarks.count else { throw .indexOutOfRange(count: content.bookmarks.count) }
      content.bookmarks.insert(content.bookmarks.remove(at: current), at: index)
    }
  }

  private func bookmarkIndex(of id: String, in container: ViewContent) throws(ModelError) -> Int {
    guard let current = try content(of: container).bookmarks.firstIndex(where: { $0.id == Text(id) }) else {
      throw .unknownItem(noun: "bookmark", id: id)
    }
    return current
  }

  // MARK: Helpers of all commands

  func describe(_ reference: SpatialReference) throws(ModelError) -> SpatialReferenceInfo {
    do { return try transformer.describe(reference) } catch { throw .transform(error) }
  }

  func check(_ clear: [String], allowed: [String]) throws(ModelError) {
    for name in clear where !allowed.contains(name) { throw .unknownMember(name, allowed: allowed) }
  }
}
