// Documents: the model begins anew, becomes another one, or has been saved.

import Geometry

extension World {
  /// Closes all of the model and forgets history: an empty document begins.
  public mutating func beginDocument() { become(nil, path: nil, UnknownMembers()) }

  /// Closes all of the model and takes over what another world holds, under the same ids.
  ///
  /// - Parameters:
  ///   - other: what was read from a document; nothing runs in it.
  ///   - path: the document's file, absolute.
  ///   - saves: how many saves had begun before it was read. Where a later one has written the file, nobody knows which was read.
  /// - Complexity: linear in the objects; contents are shared, not copied.
  public mutating func open(_ other: World, path: String, _ unknown: UnknownMembers, after saves: Int) {
    become(other, path: path, unknown)
    if document.written[ExactText(path)] ?? 0 > saves { noteForeignSave() }
  }

  /// Something else may stand in the document's file than the document.
  private mutating func noteForeignSave() {
    let before = history.state
    isStep = false
    history.noteOtherChange()
    recordHistory(since: before)
  }

  private mutating func become(_ other: World?, path: String?, _ unknown: UnknownMembers) {
    let before = history.state
    // Nothing of it is undone.
    isStep = false
    for id in views.ids { try? closeView(id) }
    for collection in Collection.allCases where collection.hasUniqueIDs { closeAll(of: collection.kind) }
    clearEnvironment()
    retireIDs()
    if let other { takeOver(other) }
    history.forgetAll()
    history.noteSaved()
    document.number += 1
    // A save of the old one names this one no more.
    document.naming = nil
    document.unknownMembers = unknown
    setPath(path)
    recordHistory(since: before)
  }

  /// Which document of the session it is: what was begun for an earlier one does not concern objects that have the same ids now.
  public var documentNumber: Int { document.number }

  private mutating func closeAll<E: Entity>(of kind: E.Type) {
    for id in self[keyPath: E.registry].ids.reversed() { remove(id) }
  }

  private mutating func takeOver(_ other: World) {
    var other = other
    // Keys are there for good: what this session's cannot hold counts as not set.
    for scope in other.environments.values {
      let values = scope.values.filter { name, value in
        guard let key = environmentKeys[EnvironmentKeyID(name)] else { return true }
        return (try? key.accepted(value)) != nil && !other.isLost(value, of: key.definition)
      }
      _ = other.environments.modify(scope.id) { $0.values = values }
    }
    let known = environmentKeys.count
    for collection in Collection.allCases { takeOver(collection.kind, from: other) }
    // The session sees the defaults of new keys; all other nodes are new.
    if environmentKeys.count > known {
      record(.changed(ObjectReference(.environments, EnvironmentScope.session.rawValue), .environment))
    }
  }

  private mutating func takeOver<E: Entity>(_ kind: E.Type, from other: World) {
    for element in other[keyPath: E.registry].values {
      if E.collection.hasUniqueIDs {
        reclaim(element.id.rawValue)
      } else if self[keyPath: E.registry][element.id] != nil {
        // Types and keys are there for good; what the session's environment holds is another's from now on.
        if E.isUndoable { changeKnown(element.id) { $0 = element.undone(from: $0) } }
        continue
      }
      if let scene = element as? Scene { for source in scene.surface.elevationSources { reclaim(source.id) } }
      insert(element)
    }
  }

  private mutating func setPath(_ path: String?) {
    guard !path.isWritten(as: document.path) else { return }
    document.path = path
    record(.document(.path))
  }

  // MARK: Saving

  /// Whether documents keep the object: not what is live, nor what goes with such a thing.
  public func isSaved(_ object: ObjectReference) -> Bool {
    guard object.collection == .viewModels, let owner = viewModels[ViewModelID(object.id)]?.owner else {
      return object.collection.isSaved
    }
    return isSaved(owner)
  }

  /// Begins to save what the world holds now.
  ///
  /// - Parameter name: the file that the document is given by it; nil for the one it has.
  public mutating func beginSave(as name: String? = nil) -> SaveTicket {
    document.savesBegun += 1
    if let name { document.naming = (name, document.savesBegun) }
    return SaveTicket(document: document.number, content: history.contentTag, number: document.savesBegun)
  }

  /// Notes that a save has come to its end; what was changed since it began is still to be saved.
  ///
  /// - Parameter path: the file it went to, the document's from now on.
  /// - Returns: whether the document is still the one that was saved.
  public mutating func finishSave(_ ticket: SaveTicket, path: String) -> Bool {
    abandonSave(ticket)
    document.written[ExactText(path)] = max(ticket.number, document.written[ExactText(path)] ?? 0)
    guard ticket.document == document.number else {
      if document.path?.isWritten(as: path) == true { noteForeignSave() }
      return false
    }
    guard ticket.number > document.lastSave else { return true }
    let before = history.state
    isStep = false
    document.lastSave = ticket.number
    history.noteSaved(ticket.content)
    setPath(path)
    recordHistory(since: before)
    return true
  }

  /// A save did not come to its end.
  public mutating func abandonSave(_ ticket: SaveTicket) {
    if ticket.document == document.number, document.naming?.number == ticket.number { document.naming = nil }
  }

  /// How many saves have begun in the session.
  public var savesBegun: Int { document.savesBegun }

  /// The file that the document is about to have, as the client named it.
  public var nameUnderWay: String? { document.naming?.name }

  // MARK: Positions

  /// Whether a new view with this one's screen and viewpoint would stand where this one stands.
  public func standsWhereViewpointSays(_ view: View) -> Bool {
    var fresh = view
    do {
      (fresh.camera, _) = try worldCamera(in: view.reference, on: view.screen)
      return try resolve(view.viewpoint.target, in: fresh).0 == view.camera
    } catch { return false }
  }

  /// Puts a view where it stood, which its viewpoint alone may not tell: after a resize center and scale stay, and a view may
  /// stand out of a range of scales that was set later.
  ///
  /// - Parameters:
  ///   - camera: in the units of the view's reference.
  ///   - target: the viewpoint it had; nil for that which it has.
  public mutating func setPosition(
    of id: ViewID, to camera: Camera, with target: ViewpointTarget?
  ) throws(ModelError) {
    guard camera.isSound else { throw .invalidGeometry(expected: "a position with finite coordinates") }
    let view = try views.require(id)
    let viewpoint =
      try target.map { (target) throws(ModelError) in try unchecked(target, in: view).1 } ?? view.viewpoint
    try change(id) { (view) throws(ModelError) in
      view.camera = camera
      view.viewpoint = viewpoint
    }
  }
}
