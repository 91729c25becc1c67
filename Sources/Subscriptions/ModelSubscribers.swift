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
    if case .client(let name?, _) = change.origin, name == Text(exceptOrigin) { return 0 }
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
  private let everyOne: Bool
  /// What is to be sent: each, or only the newest of both streams.
  private var locations = Stream<Location>()
  private var headings = Stream<Double>()
  private var hasStatus = false

  /// One of the two streams.
  private struct Stream<Element> {
    var queue: [(Element, Origin)] = []
    var leftOut = 0
    var isResync = false

    mutating func add(_ element: Element, _ origin: Origin, everyOne: Bool) {
      if everyOne ? queue.count >= LocationSubscriber.queueLimit : !queue.isEmpty { drop(isResync: everyOne) }
      queue.append((element, origin))
    }

    mutating func drop(isResync: Bool) {
      leftOut += queue.count
      if isResync, !queue.isEmpty { self.isResync = true }
      queue = []
    }

    /// Leaves out all but the newest.
    mutating func dropOlder() -> Bool {
      guard queue.count > 1, let last = queue.last else { return false }
      queue.removeLast()
      drop(isResync: true)
      queue = [last]
      return true
    }

    mutating func send(_ body: (Element, Origin, _ leftOut: Int?, _ isResync: Bool?) -> Void) {
      for (element, origin) in queue {
        body(element, origin, leftOut > 0 ? leftOut : nil, isResync ? true : nil)
        (leftOut, isResync) = (0, false)
      }
      queue = []
    }
  }

  /// Number of locations that may wait; beyond it, only the newest is sent.
  fileprivate static let queueLimit = 1000

  /// - Parameter everyOne: whether each location is sent, not only the newest.
  package init(id: String, source: LocationSourceID, maxRate: Double?, everyOne: Bool) {
    self.id = id
    self.source = source
    self.maxRate = maxRate
    self.everyOne = everyOne
    let object = ObjectReference(.locationSources, source.rawValue)
    scope = object
    interests = ["location", "heading", "status"].map { StatePattern(object, $0) }
  }

  private let scope: ObjectReference
  package let interests: [StatePattern]
  package var isDirty: Bool { !locations.queue.isEmpty || !headings.queue.isEmpty || hasStatus }

  package func ends(with object: ObjectReference, in world: World) -> Bool {
    guard object == scope else { return false }
    (locations, headings, hasStatus) = (Stream(), Stream(), false)
    return true
  }

  package func record(_ change: Change, _ path: ModelPath, _ list: SentList?, _ world: World) -> Int {
    guard case .changed(let object, let property) = change.event, object == scope else { return 0 }
    if property == .status { hasStatus = true }
    let before = locations.leftOut + headings.leftOut
    switch change.locationEvent {
    case .location(let location): locations.add(location, change.origin, everyOne: everyOne)
    case .heading(let heading): headings.add(heading, change.origin, everyOne: everyOne)
    case nil: break
    }
    return locations.leftOut + headings.leftOut - before
  }

  package func discardRecorded() -> Bool {
    let hasDropped = locations.dropOlder()
    return headings.dropOlder() || hasDropped
  }

  package func flush(_ world: World, to session: Session, _ texts: inout PatchTexts) {
    guard let source = world.locationSources[source] else { return }
    headings.send { heading, origin, leftOut, isResync in
      session.notify(
        LocationProtocol.HeadingChanged.name,
        LocationProtocol.HeadingChanged.Params(
          subscription: id, locationSource: source.id.rawValue, revision: world.revision, origin: Wire.origin(origin),
          heading: heading, leftOut: leftOut, resync: isResync))
    }
    locations.send { location, origin, leftOut, isResync in
      session.notify(
        LocationProtocol.Changed.name,
        LocationProtocol.Changed.Params(
          subscription: id, locationSource: source.id.rawValue, revision: world.revision, origin: Wire.origin(origin),
          location: Wire.location(location), leftOut: leftOut, resync: isResync))
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
