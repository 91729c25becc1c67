// The types and dimensions of an export's geometries, which formats declare before the first feature.

import FeatureStore
import Geometry
import Planning

struct GeometryProfile {
  /// Names of the types that occur.
  private var types: Set<String> = []
  private(set) var hasZ = false
  /// Whether any geometry has no Z.
  private(set) var lacksZ = false
  private(set) var hasM = false
  /// Whether any feature has no geometry or an empty one.
  private(set) var hasHoles = false
  /// Whether any geometry has a position.
  private(set) var hasPositions = false

  /// - Complexity: O(positions), or O(rows) for points.
  init(of rows: ArraySlice<UInt32>, in store: FeatureStore, _ share: WorkShare) throws {
    for (index, row) in rows.enumerated() {
      if index.isMultiple(of: 256) { try share.checkpoint(index, of: rows.count) }
      guard let feature = store[row] else { continue }
      if let point = feature.point {
        types.insert("Point")
        hasPositions = true
        if point.z.isNaN { lacksZ = true } else { hasZ = true }
      } else if let geometry = feature.geometry {
        note(geometry)
      } else {
        hasHoles = true
      }
    }
  }

  private mutating func note(_ geometry: Geometry) {
    types.insert(geometry.typeName)
    var isEmpty = true
    geometry.forEachPositions { positions in
      guard !positions.isEmpty else { return }
      isEmpty = false
      if positions.hasZ { hasZ = true } else { lacksZ = true }
      if positions.hasM { hasM = true }
    }
    if isEmpty { hasHoles = true } else { hasPositions = true }
  }

  /// The type of a layer that can hold all geometries; nil without any.
  var typeName: String? { types.count < 2 ? types.first : "Unknown" }

  /// Whether columns of coordinates can hold all geometries.
  var isOfPlainPoints: Bool { !hasM && types.isSubset(of: ["Point"]) }
}
