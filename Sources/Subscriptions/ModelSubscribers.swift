// `view/observeViewpoint` and `location/observe`: subscriptions to one object with notifications of their own.

import GeoModel
import GeoProtocol
import Geometry
import JSONRPC
import StateTree
import WireCoding

/// Observes one view's viewpoint.
package final class ViewpointSubscriber: Subscriber {
  package let id: String
  package let view: ViewID
  package let kinds: [Viewpoint.Kind]
  package let exceptOrigin: String?
  package let maxRate: Double?
  private var base: Int
  private var origin: Origin?
  /// Last sent values of a rate-limited subscription: equal ones are not sent again.
  private var sent: (viewpoint: Viewpoint, camera: Camera, isNavigating: Bool)?

  package init(id: String, view: ViewID, kinds: [Viewpoint.Kind], exceptOrigin: String?, maxRate: Double?, base: Int) {
    self.id = id
    self.view = view
    self.kinds = kinds
    self.exceptOrigin = exceptOrigin
    self.maxRate = maxRate
    self.base = base
    let object = ObjectReference(.views, view.rawValue)
    scope = object
    interests = [StatePattern(object, "viewpoint"), StatePattern(object, "isNavigating")]
  }

  private let scope: ObjectReference
  package let interests: [StatePattern]
  package var isDirty: Bool { origin != nil }

  package func ends(with object: ObjectReference, in world: World) -> Bool {
    guard object == scope else { return false }
    self.origin = nil
    return true
  }

  package func record(_ change: Change, _ path: ModelPath, _ list: SentList?, _ world: World) -> Int {
    guard case .changed(let object, let property) = change.event, object == scope,
      property == .viewpoint || property == .isNavigating
    else { return 0 }
    if case .client(let name?) = change.origin, name == Text(exceptOrigin) { return 0 }
    defer { origin = change.origin }
    return origin == nil ? 0 : 1
  }

  package func flush(_ world: World, to session: Session, _ texts: inout PatchTexts) {
    guard let origin, let view = world.views[view] else { return }
    self.origin = nil
    let now = (view.viewpoint, view.camera, view.isNavigating)
    if let sent, sent == now { return }
    if maxRate != nil { sent = now }
    let viewpoints = Self.viewpoints(of: view, kinds, world)
    session.notify(
      ViewProtocol.ViewpointChanged.name,
      ViewProtocol.ViewpointChanged.Params(
        subscription: id, view: view.id.rawValue, base: base, revision: world.revision, origin: Wire.origin(origin),
        viewpoints: viewpoints, isNavigating: view.isNavigating))
    base = world.revision
  }

  /// The viewpoint in the requested kinds, except those that cannot be computed.
  package static func viewpoints(of view: View, _ kinds: [Viewpoint.Kind], _ world: World) -> [ViewProtocol.Viewpoint] {
    kinds.compactMap { try? view.viewpoint(as: $0, in: nil, world.transformer) }.map(Wire.viewpoint)
  }
}

/// Observes one location source.
package final class LocationSubscriber: Subscriber {
  package let id: String
  package let source: LocationSourceID
  package let maxRate: Double?
  private var hasLocation = false
  private var hasStatus = false

  package init(id: String, source: LocationSourceID, maxRate: Double?) {
    self.id = id
    self.source = source
    self.maxRate = maxRate
    let object = ObjectReference(.locationSources, source.rawValue)
    scope = object
    interests = [StatePattern(object, "location"), StatePattern(object, "status")]
  }

  private let scope: ObjectReference
  package let interests: [StatePattern]
  package var isDirty: Bool { hasLocation || hasStatus }

  package func ends(with object: ObjectReference, in world: World) -> Bool {
    guard object == scope else { return false }
    (hasLocation, hasStatus) = (false, false)
    return true
  }

  package func record(_ change: Change, _ path: ModelPath, _ list: SentList?, _ world: World) -> Int {
    guard case .changed(let object, let property) = change.event, object == scope else { return 0 }
    switch property {
    case .status: hasStatus = true
    case .location:
      defer { hasLocation = true }
      return hasLocation ? 1 : 0
    default: break
    }
    return 0
  }

  package func flush(_ world: World, to session: Session, _ texts: inout PatchTexts) {
    guard let source = world.locationSources[source] else { return }
    if hasLocation, let location = source.location {
      hasLocation = false
      session.notify(
        LocationProtocol.Changed.name,
        LocationProtocol.Changed.Params(
          subscription: id, locationSource: source.id.rawValue, revision: world.revision,
          location: Wire.location(location)))
    }
    guard hasStatus else { return }
    hasStatus = false
    session.notify(
      LocationProtocol.StatusChanged.name,
      LocationProtocol.StatusChanged.Params(
        subscription: id, locationSource: source.id.rawValue, revision: world.revision,
        status: Wire.locationStatus(source.status)))
  }
}
