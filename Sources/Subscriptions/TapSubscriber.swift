// `view/observeTaps`: every tap on a view, in order.

import GeoModel
import GeoProtocol
import Geometry
import JSONRPC
import StateTree
import WireCoding

/// Observes the taps on one view. They are no state, so they are kept until they are sent.
package final class TapSubscriber: Subscriber {
  /// Maximum number of unsent taps.
  private static let limit = 1000

  package let id: String
  package let interests: [StatePattern]
  package let maxRate: Double? = nil
  private let scope: ObjectReference
  /// Of the locations; nil for the map's.
  private let reference: SpatialReference?
  private var taps: [Tap] = []
  private var leftOut = 0

  package init(id: String, view: ViewID, reference: SpatialReference?) {
    self.id = id
    self.reference = reference
    scope = ObjectReference(.views, view.rawValue)
    interests = [StatePattern(scope, Self.name)]
  }

  /// The last name of a path by which taps find their observers. The state tree has nothing there.
  private static let name = "tapped"

  static func path(of view: ViewID) -> ModelPath { ModelPath(ObjectReference(.views, view.rawValue), name) }

  package var isDirty: Bool { !taps.isEmpty }

  package func ends(with object: ObjectReference, in world: World) -> Bool { object == scope }

  package func record(_ change: Change, _ path: ModelPath, _ list: SentList?, _ world: World) -> Int { 0 }

  func record(_ tap: Tap) {
    if taps.count == Self.limit {
      taps.removeFirst()
      leftOut += 1
    }
    taps.append(tap)
  }

  package func flush(_ world: World, to session: Session, _ texts: inout PatchTexts) {
    for tap in taps {
      let target = reference ?? tap.reference
      let location = tap.location.flatMap { location in
        let moved = try? world.transformer.transform(
          Point(x: location.x, y: location.y), from: tap.reference, to: target)
        return moved.map { Point(x: $0.x, y: $0.y, z: location.z) }
      }
      session.notify(
        ViewProtocol.Tapped.name,
        ViewProtocol.Tapped.Params(
          subscription: id, view: tap.view.rawValue, revision: world.revision, origin: Wire.origin(tap.origin),
          kind: tap.kind.wire, screenPoint: .init(x: tap.point.x, y: tap.point.y),
          location: location.map { Wire.opaque(.point($0)) }, spatialReference: target.definition,
          leftOut: leftOut > 0 ? leftOut : nil))
      leftOut = 0
    }
    taps = []
  }
}
