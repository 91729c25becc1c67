// `state/observePaths`: where something has changed, without values, for clients that read what they need.

import GeoModel
import GeoProtocol
import Geometry
import JSONRPC
import StateTree

/// Observes patterns of the state tree. What is recorded is bounded, however much changes while the client does not read.
package final class PathSubscriber: Subscriber {
  /// Maximum number of paths in a notification.
  private static let limit = 1000

  package let id: String
  package let interests: [StatePattern]
  package let maxRate: Double?
  private var base: Int
  private var paths: [ModelPath] = []
  private var known: Set<ModelPath> = []

  package init(id: String, patterns: [StatePattern], maxRate: Double?, base: Int) {
    (self.id, self.maxRate, self.base) = (id, maxRate, base)
    interests = patterns
  }

  package var isDirty: Bool { !paths.isEmpty }

  package func ends(with object: ObjectReference, in world: World) -> Bool { false }

  package func record(_ change: Change, _ path: ModelPath, _ list: SentList?, _ world: World) -> Int {
    guard known.insert(path).inserted else { return 1 }
    paths.append(path)
    guard paths.count > Self.limit else { return 0 }
    let earlier = paths
    (paths, known) = ([], [])
    for path in earlier {
      let collection = ModelPath(Array(path.names.prefix(1)))
      if known.insert(collection).inserted { paths.append(collection) }
    }
    return earlier.count - paths.count
  }

  package func flush(_ world: World, to session: Session, _ texts: inout PatchTexts) {
    session.notify(
      StateProtocol.Touched.name,
      StateProtocol.Touched.Params(
        subscription: id, base: base, revision: world.revision, paths: paths.map(\.description)))
    base = world.revision
    (paths, known) = ([], [])
  }
}
