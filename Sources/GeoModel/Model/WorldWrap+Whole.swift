// What is made of a geometry that may be cut at the edge of the world: it is made of the whole.

import Geometry

extension WorldWrap {
  /// What `make` makes of a geometry, of its parts side by side where they are on both sides of the edge; then it has its x in the world.
  ///
  /// - Parameter wrap: of the geometry's reference.
  package static func whole(_ geometry: Geometry, _ wrap: WorldWrap?, _ make: (Geometry) throws -> Geometry?) rethrows -> Geometry? {
    guard let wrap, let joined = wrap.joined(geometry) else { return try make(geometry) }
    return try make(joined)?.mapX(wrap.normalized)
  }
}
