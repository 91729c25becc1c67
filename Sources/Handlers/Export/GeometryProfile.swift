// The types and dimensions of an export's geometries, which formats declare before the first feature.

import FeatureStore
import Geometry
import Planning
import Reading

struct GeometryProfile {
  /// Names of the types that occur.
  private var types: Set<String> = []
  private var hasZ = false
  /// Whether any position has no Z.
  private var lacksZ = false
  private var hasM = false
  private var lacksM = false
  /// Whether any feature has no geometry or an empty one.
  private(set) var hasHoles = false
  /// Whether any geometry has a position.
  private(set) var hasPositions = false

  /// - Complexity: O(positions), or O(rows) for points; the time of changing geometries where some may be cut.
  init(of rows: ArraySlice<UInt32>, in output: FeatureOutput, _ share: WorkShare) throws {
    let mayCut = output.mayCut
    for (index, row) in rows.enumerated() {
      if index.isMultiple(of: 256) { try share.checkpoint(index, of: rows.count) }
      guard let feature = output.features.store[row] else { continue }
      if let point = feature.point {
        types.insert("Point")
        hasPositions = true
        if point.z.isNaN { lacksZ = true } else { hasZ = true }
        lacksM = true
      } else if let geometry = mayCut ? try output.geometry(of: row, share) : feature.geometry {
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
      if positions.hasZ { hasZ = true }
      if positions.hasM { hasM = true }
      if !lacksZ { lacksZ = !positions.hasZ || positions.lacksZ }
      if !lacksM { lacksM = !positions.hasM || positions.lacksM }
    }
    if isEmpty { hasHoles = true } else { hasPositions = true }
  }

  var z: WriteJob.Occurrence { Self.occurrence(hasZ, lacksZ) }
  var m: WriteJob.Occurrence { Self.occurrence(hasM, lacksM) }

  private static func occurrence(_ has: Bool, _ lacks: Bool) -> WriteJob.Occurrence {
    has ? lacks ? .some : .all : .none
  }

  /// The type of a layer that holds all geometries, as those of one type where `mixture` asks for that.
  ///
  /// - Parameter declared: the type if there are no geometries.
  /// - Returns: nil if no layer holds them.
  func typeName(_ mixture: ExportFormat.Mixture, declared: String) -> String? {
    if case .families(let families) = mixture {
      let types = types.isEmpty && declared != "Unknown" ? [declared] : types
      return families.first { types.isSubset(of: $0.types) }?.layer
    }
    guard types.count > 1 else { return types.first ?? declared }
    if case .any = mixture { return "Unknown" }
    if !hasZ, !hasM { return "Unknown" }
    let single = types.filter { !$0.hasPrefix("Multi") }
    guard types.count == 2, let name = single.first, types.contains("Multi" + name) else { return "GeometryCollection" }
    return "Multi" + name
  }

  /// Whether columns of coordinates can hold all geometries.
  var isOfPlainPoints: Bool { m == .none && types.isSubset(of: ["Point"]) }
}

extension Geometry {
  /// As a geometry of the type of a layer that can hold it: multipart or not, or a collection of one; nil if it keeps its type.
  func wrapped(for typeName: String?) -> Geometry? {
    switch (typeName, self) {
    case ("MultiPoint", .point(let point)): .multiPoint(point.map { Positions([$0]) } ?? Positions())
    case ("MultiLineString", .lineString(let positions)): .multiLineString(positions.isEmpty ? [] : [positions])
    case ("MultiPolygon", .polygon(let rings)): .multiPolygon(rings.isEmpty ? [] : [rings])
    case ("LineString", .multiLineString(let parts)) where parts.count == 1: .lineString(parts[0])
    case ("Polygon", .multiPolygon(let parts)) where parts.count == 1: .polygon(parts[0])
    case ("GeometryCollection", .collection): nil
    case ("GeometryCollection", _): .collection([self])
    default: nil
    }
  }
}
