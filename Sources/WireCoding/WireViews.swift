// Converts views and viewpoints between the wire and the model.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC

extension Wire {
  package static func viewpoint(_ viewpoint: Viewpoint) -> ViewProtocol.Viewpoint {
    switch viewpoint {
    case .centerAndScale(let center, let scale, let rotation, let reference):
      .centerAndScale(
        .init(
          center: opaque(.point(center)), targetScale: scale, rotation: rotation, spatialReference: reference.definition
        ))
    case .boundingGeometry(let geometry, let rotation, let reference):
      .boundingGeometry(
        .init(geometry: opaque(geometry), spatialReference: reference.definition, rotation: rotation))
    case .boundingBox(let box, let rotation, let reference):
      .boundingGeometry(
        .init(geometry: opaque(box), spatialReference: reference.definition, rotation: rotation))
    case .camera(let it):
      .camera(
        .init(
          longitude: it.longitude, latitude: it.latitude, altitude: it.altitude, heading: it.heading, pitch: it.pitch,
          roll: it.roll))
    }
  }

  /// - Parameter keepsEmptyPoints: whether empty members of a multipoint are positions of NaN; otherwise they are dropped.
  package static func geometry(
    _ opaque: JSONOpaque, keepsEmptyPoints: Bool = false
  ) throws(WireFault) -> Geometry {
    guard let value = opaque.value else { return .collection([]) }
    return try GeometryReader.read(value, keepsEmptyPoints: keepsEmptyPoints)
  }

  /// The box, if the geometry was given as one; nil for others.
  package static func envelope(ofGeometry value: JSONValue) throws(WireFault) -> Envelope? {
    try GeometryReader.envelope(value)
  }

  package static func point(_ opaque: JSONOpaque) throws(WireFault) -> Point {
    guard let value = opaque.value else { return Point(x: 0, y: 0) }
    return try GeometryReader.point(value)
  }

  package static func target(_ viewpoint: ViewProtocol.Viewpoint) throws(WireFault) -> ViewpointTarget {
    switch viewpoint {
    case .centerAndScale(let it):
      .centerAndScale(
        center: try point(it.center), scale: it.targetScale, rotation: it.rotation,
        reference: SpatialReference(it.spatialReference))
    case .boundingGeometry(let it):
      try bounding(it.geometry, padding: Insets(), it.rotation, it.spatialReference)
    case .camera(let it):
      .camera(
        SceneCamera(
          longitude: it.longitude, latitude: it.latitude, altitude: it.altitude, heading: it.heading, pitch: it.pitch,
          roll: it.roll))
    }
  }

  package static func target(_ target: ViewProtocol.ViewpointTarget) throws(WireFault) -> ViewpointTarget {
    switch target {
    case .centerAndScale(let it):
      .centerAndScale(
        center: try point(it.center), scale: it.targetScale, rotation: it.rotation,
        reference: SpatialReference(it.spatialReference))
    case .boundingGeometry(let it):
      try bounding(it.geometry, padding: insets(it.padding, it.insets), it.rotation, it.spatialReference)
    case .center(let it): .center(try point(it.center), reference: SpatialReference(it.spatialReference))
    case .scale(let scale): .scale(scale)
    case .rotation(let rotation): .rotation(rotation)
    case .camera(let it):
      .camera(
        SceneCamera(
          longitude: it.longitude, latitude: it.latitude, altitude: it.altitude, heading: it.heading, pitch: it.pitch,
          roll: it.roll))
    case .bookmark(let id): .bookmark(id)
    }
  }

  private static func insets(_ padding: Double, _ sides: ViewProtocol.Insets?) -> Insets {
    var insets = Insets(padding)
    insets.left += sides?.left ?? 0
    insets.top += sides?.top ?? 0
    insets.right += sides?.right ?? 0
    insets.bottom += sides?.bottom ?? 0
    return insets
  }

  package static func interaction(_ interaction: ViewProtocol.Interaction) -> Interaction {
    func position(_ point: ViewProtocol.ScreenPoint) -> ScreenPosition { ScreenPosition(x: point.x, y: point.y) }
    func move(_ gesture: Gesture, _ anchor: ViewProtocol.ScreenPoint?, _ ends: Bool) -> Interaction {
      var gesture = gesture
      gesture.anchor = anchor.map(position)
      return .move(gesture, ends: ends)
    }
    return switch interaction {
    case .pan(let it): move(Gesture(x: it.x, y: it.y), nil, it.ends)
    case .zoom(let it): move(Gesture(factor: it.factor), it.anchor, it.ends)
    case .rotate(let it): move(Gesture(angle: it.angle), it.anchor, it.ends)
    case .pinch(let it): move(Gesture(x: it.x, y: it.y, factor: it.factor, angle: it.angle), it.anchor, it.ends)
    case .fling(let it): .fling(x: it.x, y: it.y, deceleration: it.deceleration)
    case .tap(let point): .tap(.tap, at: position(point))
    case .doubleTap(let point): .tap(.doubleTap, at: position(point))
    case .longPress(let point): .tap(.longPress, at: position(point))
    }
  }

  package static func cameraController(_ controller: CameraController) -> ViewProtocol.CameraController {
    switch controller {
    case .orbit(let it):
      .orbit(
        .init(
          longitude: it.target.x, latitude: it.target.y, altitude: it.target.z ?? 0, heading: it.heading, pitch: it.pitch,
          distance: it.distance, turnRate: it.turnRate))
    case .globe(let it):
      .globe(
        .init(
          longitude: it.target.x, latitude: it.target.y, heading: it.heading, pitch: it.pitch, distance: it.distance,
          turnRate: it.turnRate))
    case .lookAt(let it): .lookAt(.init(longitude: it.x, latitude: it.y, altitude: it.z ?? 0))
    }
  }

  package static func cameraController(_ controller: ViewProtocol.CameraController) -> CameraController {
    switch controller {
    case .orbit(let it):
      .orbit(
        CameraOrbit(
          target: Point(x: it.longitude, y: it.latitude, z: it.altitude), heading: it.heading, pitch: it.pitch,
          distance: it.distance, turnRate: it.turnRate))
    case .globe(let it):
      .globe(
        CameraOrbit(
          target: Point(x: it.longitude, y: it.latitude), heading: it.heading, pitch: it.pitch, distance: it.distance,
          turnRate: it.turnRate))
    case .lookAt(let it): .lookAt(Point(x: it.longitude, y: it.latitude, z: it.altitude))
    }
  }

  package static func interruption(_ end: ProcessEnd) -> ViewProtocol.Interruption? {
    guard case .interrupted(let interruption) = end else { return nil }
    return .init(cause: interruption.cause.wire, origin: origin(interruption.origin))
  }

  /// Keeps a box a box, so that results have the form that was given.
  private static func bounding(
    _ geometry: JSONOpaque, padding: Insets, _ rotation: Double?, _ reference: String
  ) throws(WireFault) -> ViewpointTarget {
    let reference = SpatialReference(reference)
    if let box = try geometry.value.flatMap({ value throws(WireFault) in try GeometryReader.envelope(value) }) {
      return .boundingBox(box, padding: padding, rotation: rotation, reference: reference)
    }
    return .boundingGeometry(
      try self.geometry(geometry), padding: padding, rotation: rotation, reference: reference)
  }

  package static func locationDisplay(_ display: LocationDisplay) -> ViewProtocol.LocationDisplay {
    .init(
      source: display.source?.rawValue, autoPanMode: display.autoPanMode.wire,
      wanderExtentFactor: display.wanderExtentFactor, initialZoomScale: display.initialZoomScale,
      navigationPointHeightFactor: display.navigationPointHeightFactor, display: display.shared?.rawValue)
  }

  /// The transformed positions, with null for those that failed.
  package static func list<V: JSONEncodable & SendableMetatype>(
    _ results: [Result<Point, TransformError>], _ value: @escaping @Sendable (Point) -> V
  ) -> JSONOpaque {
    .written { writer in
      writer.beginArray()
      for result in results {
        if case .success(let point) = result { value(point).encode(to: &writer) } else { writer.null() }
      }
      writer.endArray()
    }
  }

  /// The positions without coordinates in the target; nil if there are none.
  package static func failures(_ results: [Result<Point, TransformError>]) -> [ErrorsProtocol.ItemFailure]? {
    let failures = results.enumerated().compactMap { index, result -> ErrorsProtocol.ItemFailure? in
      guard case .failure(let error) = result else { return nil }
      let failure = RPCError(error).failure
      return .init(index: index, kind: failure.kind.string, message: failure.message.string)
    }
    return failures.isEmpty ? nil : failures
  }
}
