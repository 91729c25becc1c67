// Views: created over a map or a scene, resized, closed.

import Geometry

extension World {
  @discardableResult
  public mutating func createView(
    id: ViewID?, over content: ViewContent, screen: Screen, viewpoint: ViewpointTarget?
  ) throws(ModelError) -> View {
    try checkFree(id)
    var view = try draft(over: content, screen: screen)
    let initial = try self.content(of: content).initialViewpoint
    if let target = viewpoint ?? initial?.target {
      (view.camera, view.viewpoint, _) = try resolve(target, in: view)
    }
    return insert(
      View(
        id: try claim(id, prefix: "view"), content: content, reference: view.reference, wrap: view.wrap,
        polarLimit: view.polarLimit, screen: screen, viewpoint: view.viewpoint, camera: view.camera))
  }

  /// A view that shows the whole map or scene. It is not inserted in the world.
  func draft(over content: ViewContent, screen: Screen) throws(ModelError) -> View {
    let info: SpatialReferenceInfo
    switch content {
    case .map(let map): info = try maps.require(map).reference
    case .scene(let scene):
      _ = try scenes.require(scene)
      info = try describe(.wgs84)
    }
    let (camera, start) = try worldCamera(in: info, on: screen)
    var view = View(
      id: ViewID(""), content: content, reference: info, wrap: WorldWrap(info, transformer),
      polarLimit: PolarLimit(info, transformer), screen: screen, viewpoint: start, camera: camera)
    (view.camera, view.viewpoint, _) = try limited(camera, start, in: view)
    return view
  }

  /// Shows another map or scene in a view. Ends an animation, and auto-pan if the viewpoint changes.
  ///
  /// - Parameter target: nil for the content's initial viewpoint; if there is none, the view keeps its viewpoint where possible.
  public mutating func setContent(
    of id: ViewID, to content: ViewContent, viewpoint target: ViewpointTarget?
  ) throws(ModelError) {
    let view = try views.require(id)
    guard content != view.content else {
      if let target { try setViewpoint(of: id, to: target) }
      return
    }
    var next = try draft(over: content, screen: view.screen)
    let initial = try self.content(of: content).initialViewpoint
    if let target = target ?? initial?.target {
      (next.camera, next.viewpoint, _) = try resolve(target, in: next)
      endAutoPan(of: id, by: .other)
    } else if let here = try? viewpoint(of: view, over: content), let found = try? resolve(here.target, in: next) {
      (next.camera, next.viewpoint, _) = found
    }
    interruptAnimation(of: id, by: .content)
    changeKnown(id) { $0.show(next) }
  }

  /// The viewpoint of a view, in a kind that the new map or scene allows.
  private func viewpoint(of view: View, over content: ViewContent) throws(ModelError) -> Viewpoint {
    guard view.viewpoint.kind == .camera, content.scene == nil else { return view.viewpoint }
    return try view.viewpoint(as: .centerAndScale, in: nil, transformer)
  }

  /// Closes a view and its overlays. Its animation ends as interrupted.
  public mutating func closeView(_ id: ViewID) throws(ModelError) {
    close(try views.require(id))
  }

  private mutating func close(_ view: View) {
    if let animation = view.animation { end(animation, .closed) }
    for overlay in view.overlays { remove(overlay) }
    remove(view.id)
  }

  /// Closes the views of a map or a scene before that is closed.
  mutating func closeViews(showing content: ObjectReference) {
    for id in referrers(to: content, of: View.self) {
      if let view = views[id], view.content.reference == content { close(view) }
    }
  }

  /// Sets members of a view's screen. Center and scale stay, as far as the maximum extent lets them. A scene camera stays instead,
  /// and the scale follows from it. An animation goes on to its target, fitted to the new screen.
  public mutating func resizeView(_ id: ViewID, _ changes: [MemberChange]) throws(ModelError) {
    var resized = try views.require(id).setting(changes)
    if case .camera(let scene) = resized.viewpoint {
      resized.camera = try flattened(scene, on: resized.screen)
    } else {
      (resized.camera, resized.viewpoint, _) = try limited(resized.camera, resized.viewpoint, in: resized)
    }
    if let running = resized.animation { resized.animation = try refitted(running, in: resized) }
    try change(id) { (view) throws(ModelError) in view = resized }
  }
}
