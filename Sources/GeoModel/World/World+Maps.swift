// Maps: created, changed, closed; and the members that maps and scenes share: titles, bookmarks, scale ranges, basemaps.

import Geometry

extension World {
  @discardableResult
  public mutating func createMap(id: MapID?, title: String?, reference: SpatialReference) throws(ModelError) -> Map {
    try checkFree(id)
    let info = try describe(reference)
    guard info.kind == .projected || info.kind == .geographic else {
      throw .transform(
        .unknownReference(reference.definition, reason: "a map is projected or geographic, this is \(info.kind)"))
    }
    return insert(Map(id: try claim(id, prefix: "map"), reference: info, content: MapContent(title: title)))
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

  /// Closes a map or a scene with its layers and the views that show it.
  mutating func close<E: LayerContainer>(_ id: ID<E>, _ container: ViewContent) throws(ModelError) {
    let content = try content(of: container)
    closeViews(showing: container.reference)
    for layer in content.directLayers { removeTree(layer) }
    remove(id)
  }

  /// Sets members of a map or a scene. Clearing the basemap removes its layers; `basemap.name` clears only its name.
  ///
  /// - Throws: `idRepeated` for bookmarks, `invalidScaleRange`, and errors of viewpoints.
  public mutating func updateContent(of container: ViewContent, _ changes: [MemberChange]) throws(ModelError) {
    if let basemap = try content(of: container).basemap,
      changes.contains(where: { $0.name == "basemap" && $0.value == nil })
    {
      for layer in [basemap.baseLayers, basemap.referenceLayers].joined() { removeTree(layer) }
    }
    let resolved = try changes.map { (change) throws(ModelError) in try self.resolved(change, in: container) }
    switch container {
    case .map(let id):
      try update(id, resolved) { (map, _, _) throws(ModelError) in try map.content.checkScaleRange() }
    case .scene(let id):
      try update(id, resolved) { (scene, _, _) throws(ModelError) in try scene.content.checkScaleRange() }
    }
  }

  /// Converts a value in a command to the member's stored value.
  private mutating func resolved(_ change: MemberChange, in container: ViewContent) throws(ModelError) -> MemberChange {
    var basemap = try content(of: container).basemap
    switch change.value {
    case .viewpointTarget(let target): return MemberChange(change.name, .viewpoint(try checked(target, in: container)))
    case .envelope(let box):
      let info = if case .map(let id) = container { try maps.require(id).reference } else { try describe(.wgs84) }
      return MemberChange(change.name, .maxExtent(try maxExtent(box, in: info)))
    case .newBookmarks(let new): return MemberChange(change.name, .bookmarks(try made(new, in: container)))
    case .basemapName(let name):
      basemap = basemap ?? Basemap()
      if let name { basemap?.name = name }
      return MemberChange(.basemap, basemap)
    case nil where change.name == "basemap.name":
      basemap?.name = nil
      return MemberChange(.basemap, basemap)
    case .surfaceUpdate(let update):
      guard case .scene(let id) = container else { return change }
      return MemberChange(.baseSurface, try scenes.require(id).surface.applying(update))
    default: return change
    }
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
      guard ids.insert(id).inserted else { throw .idRepeated(id, path: "/bookmarks/\(index)/id") }
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
    if let id = new.id, bookmarks.contains(where: { $0.id == Text(id) }) {
      throw .idExists(id, holder: "bookmark", isClosed: false)
    }
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
