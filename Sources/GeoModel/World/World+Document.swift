// Documents: begins an empty one, opens another, records saves.

import Clusters
import Geometry

extension World {
  /// Closes all objects and drops history: an empty document begins.
  ///
  /// - Complexity: O(1).
  public mutating func beginDocument() { replace(by: emptied()) }

  /// Closes all objects and takes over those of another document.
  ///
  /// - Parameter next: the result of ``opening(_:path:_:)`` after propagation.
  /// - Complexity: O(1); linear in the objects if the model has changed since ``emptied()``.
  public mutating func open(_ next: World) { replace(by: next) }

  /// A world with the state of the session, but without objects.
  public func emptied() -> World {
    var empty = World(transformer: transformer, geodesy: geodesy, timeZones: timeZones, now: realTime)
    empty.continueSession(of: self)
    empty.document = DocumentState()
    empty.viewModelTypes = viewModelTypes
    empty.environmentKeys = environmentKeys
    empty.clients = clients
    return empty
  }

  /// Makes the world that results from opening a document, including derived state other than what ``propagated`` covers, so that
  /// little work is left for the loop. The command stays open for propagation.
  ///
  /// - Parameters:
  ///   - other: the world that was read from the document; no animation or location source runs in it.
  ///   - path: the absolute path of the document's file; nil for an untitled document.
  /// - Complexity: linear in the objects; contents are shared, not copied.
  public func opening(_ other: World, path: String?, _ unknown: UnknownMembers) -> World {
    var next = self
    next.document.path = path
    next.document.unknownMembers = unknown
    next.begin(origin: .task)
    next.takeOver(other)
    next.recordDerived()
    return next
  }

  /// Takes over the objects of a document that was saved in place of the unsaved model of an earlier server.
  ///
  /// - Parameter next: the result of ``opening(_:path:_:)``, with the path of that model's document.
  public mutating func openRecovered(_ next: World) {
    replace(by: next)
    changeHistory { world in
      world.history.recordOtherChange()
      world.document.recovery = nil
      world.record(.document(.recovery))
    }
  }

  /// Sets, before all commands, what an earlier server has left.
  public mutating func setRecovery(_ recovery: (file: String, path: String?)?) { document.recovery = recovery }

  private mutating func replace(by next: World) {
    // Opening a document is not undone.
    isStep = false
    for id in moving(View.self) { if let animation = views[id]?.animation { end(animation, .closed) } }
    for process in locationSources.values.flatMap(\.waiting) { interrupt(process) }
    changeHistory { world in
      let before = world.document
      world.replaceObjects(by: next)
      world.clusters.removeAll()
      world.history.forgetAll()
      world.history.markSaved()
      world.document = before
      world.document.number += 1
      // A save of the earlier document must not name this one.
      world.document.pendingName = nil
      world.document.unknownMembers = next.document.unknownMembers
      world.setPath(next.document.path)
    }
  }

  private mutating func takeOver(_ other: World) {
    var other = other
    // New sources must not get the numbers of sources in the document.
    skipNumbers(of: other)
    // Registered keys stay; values that a registered key does not accept are dropped.
    for scope in other.environments.values {
      let values = scope.values.filter { name, value in
        guard let key = environmentKeys[EnvironmentKeyID(name)] else { return true }
        return (try? key.accepted(value)) != nil && !other.isDangling(value, of: key.definition)
      }
      _ = other.environments.modify(scope.id) { $0.values = values }
    }
    for collection in Collection.allCases { takeOver(collection.kind, from: other) }
  }

  private mutating func takeOver<E: Entity>(_ kind: E.Type, from other: World) {
    for element in other[keyPath: E.registry].values {
      if E.collection.hasUniqueIDs {
        reclaim(element.id.rawValue)
      } else if self[keyPath: E.registry][element.id] != nil {
        // Types and keys stay; the values of the session's environment are replaced.
        if E.isUndoable { changeKnown(element.id) { $0 = element.undone(from: $0) } }
        continue
      }
      if let scene = element as? Scene { for source in scene.surface.elevationSources { reclaim(source.id) } }
      insert(element)
    }
  }

  private mutating func setPath(_ path: String?) {
    guard Text(path) != Text(document.path) else { return }
    document.path = path
    record(.document(.path))
  }

  // MARK: Saving

  /// Whether documents contain the object: false if it, or the object that it belongs to, is live.
  public func isSaved(_ object: ObjectReference) -> Bool {
    object.collection.isSaved && (owner(of: object.id, object.collection.kind).map(isSaved) ?? true)
  }

  private func owner<E: Entity>(of id: String, _ kind: E.Type) -> ObjectReference? {
    self[keyPath: kind.registry][ID(id)]?.owner
  }

  /// Begins a save of the current content.
  ///
  /// - Parameter name: the file name of a save under a new name; nil for the current file.
  public mutating func beginSave(as name: String? = nil) -> SaveTicket {
    document.savesBegun += 1
    if let name { document.pendingName = (name, document.savesBegun) }
    return SaveTicket(document: document.number, content: history.contentTag, number: document.savesBegun)
  }

  /// Ends a save. Changes since it began stay unsaved.
  ///
  /// - Parameter path: the written file, which becomes the document's.
  /// - Returns: whether the saved document is still the current one.
  public mutating func finishSave(_ ticket: SaveTicket, path: String) -> Bool {
    abandonSave(ticket)
    guard ticket.document == document.number else { return false }
    guard ticket.number > document.lastSave else { return true }
    isStep = false
    document.lastSave = ticket.number
    changeHistory { world in
      world.history.markSaved(ticket.content)
      world.setPath(path)
    }
    return true
  }

  /// Ends a save that failed or was cancelled.
  public mutating func abandonSave(_ ticket: SaveTicket) {
    if ticket.document == document.number, document.pendingName?.number == ticket.number { document.pendingName = nil }
  }

  // MARK: Cameras

  /// Whether a new view with this screen and viewpoint would get the same camera and keep the viewpoint. Otherwise documents also
  /// save the camera, so that opening does not move the view.
  public func viewpointDeterminesCamera(_ view: View) -> Bool {
    var new = view
    do {
      (new.camera, _) = try worldCamera(in: view.reference, on: view.screen)
      let (camera, viewpoint, _) = try resolve(view.viewpoint.target, in: new)
      return (camera, viewpoint) == (view.camera, view.viewpoint)
    } catch { return false }
  }

  /// Restores a view's camera. The viewpoint alone may not determine it: a resize keeps center and scale, and a view
  /// may keep a scale outside a range that was set later.
  ///
  /// - Parameters:
  ///   - camera: in units of the view's spatial reference.
  ///   - target: the viewpoint; the view's current one when nil.
  public mutating func restoreCamera(
    of id: ViewID, to camera: Camera, with target: ViewpointTarget?
  ) throws(ModelError) {
    guard camera.isValid else { throw .invalidGeometry(expected: "a position with finite coordinates") }
    let view = try views.require(id)
    let viewpoint =
      try target.map { (target) throws(ModelError) in try unchecked(target, in: view).1 } ?? view.viewpoint
    try change(id) { (view) throws(ModelError) in
      view.camera = camera
      view.viewpoint = viewpoint
    }
  }
}
