// Interactions with a view's screen: gestures and flings move it, taps are told to those who observe them.

import Geometry

extension World {
  /// Applies an interaction. One that moves ends an animation and auto-pan, as a viewpoint that is set does.
  ///
  /// - Returns: whether limits moved what was asked for.
  public mutating func interact(with id: ViewID, _ interaction: Interaction) throws(ModelError) -> Bool {
    let view = try views.require(id)
    switch interaction {
    case .move(let gesture, let ends): return try move(view, by: gesture, ends: ends)
    case .fling(let x, let y, let deceleration):
      return try fling(view, by: (x, y), deceleration: deceleration)
    case .tap(let kind, let point):
      for (number, length, axis, side) in [
        (point.x, view.screen.width, "x", "width"), (point.y, view.screen.height, "y", "height"),
      ] where !(0...length).contains(number) {
        throw .outOfRange(
          number, expected: "number from 0 to the view's \(side)", path: "/interaction/screenPoint/\(axis)")
      }
      let tap = Tap(kind, on: view, at: point, by: origin, in: self)
      let isConstrained =
        kind == .doubleTap ? try move(view, by: Gesture(factor: 2, anchor: point), ends: true) : false
      taps.append(tap)
      return isConstrained
    }
  }

  /// Taps since the last call.
  public mutating func takeTaps() -> [Tap] {
    guard !taps.isEmpty else { return [] }
    defer { taps = [] }
    return taps
  }

  private mutating func move(_ view: View, by gesture: Gesture, ends: Bool) throws(ModelError) -> Bool {
    if let isLimited = try steer(view, by: gesture) { return isLimited }
    let content = try content(of: view.content)
    let asked = (
      scale: view.camera.scale / gesture.factor, rotation: Camera.normalized(degrees: view.camera.rotation + gesture.angle)
    )
    let scale = content.clamped(ends ? content.snapped(scale: asked.scale) : asked.scale)
    let rotation = ends ? content.snapped(rotation: asked.rotation) : asked.rotation
    let moved = view.camera.moved(
      by: gesture, scale: scale, rotation: rotation, on: view.screen, metersPerUnit: view.metersPerUnit)
    let (camera, viewpoint, isLimited) = try place(moved, in: view)
    if camera != view.camera {
      interruptAnimation(of: view.id, by: .interaction)
      endAutoPan(of: view.id, by: gesture.onlyZooms ? .zoom : .other)
      setCamera(of: view.id, camera, viewpoint, by: origin)
      if case .lookAt? = view.cameraController { try setCameraController(of: view.id, to: view.cameraController) }
    }
    return isLimited || scale != asked.scale || rotation != asked.rotation
  }

  /// Lets the picture run on, more slowly each second by the same velocity.
  private mutating func fling(
    _ view: View, by velocity: (x: Double, y: Double), deceleration: Double
  ) throws(ModelError) -> Bool {
    let speed = (velocity.x * velocity.x + velocity.y * velocity.y).squareRoot()
    guard speed > 0 else { return false }
    let duration = min(speed / deceleration, AnimationTiming.longest)
    let gesture = Gesture(x: velocity.x * duration / 2, y: velocity.y * duration / 2)
    let (scale, rotation) = (view.camera.scale, view.camera.rotation)
    let end = view.camera.moved(
      by: gesture, scale: scale, rotation: rotation, on: view.screen, metersPerUnit: view.metersPerUnit)
    let (camera, viewpoint, isConstrained) = try place(end, in: view)
    let timing = AnimationTiming(duration: duration, easing: .easeOut)
    var animation = try animation(
      nil, of: view, to: (camera, viewpoint), timing, fit: nil, isConstrained: isConstrained)
    // The whole way, even if it is longer than a turn of the world or leads out of the extent.
    if animation.sceneCameras == nil { animation.to = end }
    interruptAnimation(of: view.id, by: .interaction)
    endAutoPan(of: view.id, by: .other)
    changeKnown(view.id) { $0.animation = animation }
    return isConstrained
  }

  /// The camera within the world and its limits, and the viewpoint that the view keeps for it: a camera if it has one.
  func place(_ camera: Camera, in view: View) throws(ModelError) -> (Camera, Viewpoint, isConstrained: Bool) {
    var placed = view.placed(camera)
    guard placed.isValid else { throw .invalidGeometry(expected: "a movement within the map") }
    let target = placed
    if let content = try? content(of: view.content) { placed = content.limited(placed, in: view) }
    let isConstrained = placed != target
    guard case .camera(let scene) = view.viewpoint else {
      return (placed, viewpoint(of: placed, in: view, view.viewpoint.reference), isConstrained)
    }
    let moved = try sceneCamera(over: placed, like: scene, on: view.screen)
    return (try flattened(moved, on: view.screen), .camera(moved), isConstrained)
  }
}

extension View {
  /// The camera with x in the first turn of the world and y up to the poles.
  func placed(_ camera: Camera) -> Camera {
    var camera = camera
    if let wrap { camera.x = wrap.normalized(camera.x) }
    let limit = polarLimit?.y ?? (reference.kind == .geographic ? -90...90 : nil)
    if let limit { camera.y = min(max(camera.y, limit.lowerBound), limit.upperBound) }
    return camera
  }
}
