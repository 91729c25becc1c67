// Shared by the tests of the model: a world with the real PROJ, and short ways to write positions.

import GeoModel
import Geometry
import Projection

/// One for all tests, as it is safe for concurrent use.
let proj = PROJTransformer()

extension World {
  /// A world with a manual clock, which starts at 2000-01-01T00:00:00Z.
  static func manual() -> World {
    var world = World(transformer: proj, geodesy: proj, now: Instant(nanoseconds: 1_700_000_000_000_000_000))
    world.setClock(mode: .manual, now: nil, tickRate: nil, realTime: world.clock.now)
    _ = world.takeChanges()
    return world
  }

  /// A command as in the server: one revision, one origin.
  @discardableResult
  mutating func run<R>(origin: Origin = .client(nil), _ command: (inout World) throws -> R) rethrows -> R {
    begin(origin: origin)
    do {
      let result = try command(&self)
      commit("test")
      return result
    } catch {
      rollBack()
      throw error
    }
  }

  /// Makes ticks as `clock/advance` does.
  mutating func advance(seconds: Double) {
    let end = clock.now.advanced(by: seconds)
    for _ in 0..<pendingTicks(until: end) {
      begin(origin: .animation)
      tick()
    }
    begin(origin: .animation)
    skipTicks(to: end)
    advance(to: end)
  }

  /// A view `v` over a map `m`.
  mutating func makeView(
    in reference: SpatialReference = .webMercator, screen: Screen = Screen(), viewpoint: ViewpointTarget? = nil
  ) throws -> ViewID {
    try run { try $0.createMap(id: "m", title: nil, reference: reference) }
    try run { try $0.createView(id: "v", over: .map("m"), screen: screen, viewpoint: viewpoint) }
    _ = takeChanges()
    return "v"
  }

  func view(_ id: ViewID) throws -> View { try views.require(id) }

  /// The changes since the last call, as text.
  mutating func takeChangeDescriptions() -> [String] {
    takeChanges().map { change in
      switch change.event {
      case .replaced: "replaced"
      case .created(let object): "created \(object.collection.rawValue)/\(object.id)"
      case .closed(let object): "closed \(object.collection.rawValue)/\(object.id)"
      case .changed(let object, let property): "\(object.collection.rawValue)/\(object.id).\(property.rawValue)"
      case .member(let object, let name): "\(object.collection.rawValue)/\(object.id).\(name)"
      case .graphics(let overlay, let edit): "overlays/\(overlay).graphics \(edit)"
      case .entities(let source, let edit): "entitySources/\(source).entities \(edit)"
      case .clock(let property): "clock.\(property.rawValue)"
      case .history(let property): "edit.\(property.rawValue)"
      case .document(let property): "document.\(property.rawValue)"
      }
    }
  }
}

extension Insets: ExpressibleByIntegerLiteral {
  public init(integerLiteral padding: Int) { self.init(Double(padding)) }
}

extension World {
  /// Animates as long and as evenly as told.
  mutating func fly(
    _ view: ViewID, to target: ViewpointTarget, duration: Double = 1, easing: Easing = .linear
  ) throws -> ProcessID {
    try run { try $0.animateViewpoint(of: view, to: target, AnimationTiming(duration: duration, easing: easing)) }
  }
}

extension ProcessEnd {
  static func interrupted(by cause: Interruption.Cause, _ origin: Origin = .client(nil)) -> ProcessEnd {
    .interrupted(Interruption(cause: cause, origin: origin))
  }
}

extension ID: ExpressibleByUnicodeScalarLiteral {
  public init(unicodeScalarLiteral value: String) { self.init(value) }
}
extension ID: ExpressibleByExtendedGraphemeClusterLiteral {
  public init(extendedGraphemeClusterLiteral value: String) { self.init(value) }
}
extension ID: ExpressibleByStringLiteral {
  public init(stringLiteral value: String) { self.init(value) }
}

extension ViewpointTarget {
  /// A position by longitude and latitude.
  static func at(_ longitude: Double, _ latitude: Double, scale: Double, rotation: Double? = nil) -> ViewpointTarget {
    .centerAndScale(
      center: Point(x: longitude, y: latitude), scale: scale, rotation: rotation, reference: .wgs84)
  }

  /// A position in Web Mercator, in metres.
  static func mercator(_ x: Double, _ y: Double, scale: Double, rotation: Double? = nil) -> ViewpointTarget {
    .centerAndScale(center: Point(x: x, y: y), scale: scale, rotation: rotation, reference: .webMercator)
  }

  /// A box in Web Mercator, in metres.
  static func box(_ xMin: Double, _ yMin: Double, _ xMax: Double, _ yMax: Double, padding: Insets = 0)
    -> ViewpointTarget
  {
    .boundingGeometry(
      .polygon([
        Positions(values: [xMin, yMin, xMax, yMin, xMax, yMax, xMin, yMax, xMin, yMin])
      ]), padding: padding, rotation: nil, reference: .webMercator)
  }
}
