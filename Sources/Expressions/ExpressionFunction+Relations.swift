// Which functions are relations of times, arrays and geometries.

import Geometry

extension ExpressionFunction {
  enum Relation {
    case temporal(TemporalRelation)
    case array(ArrayRelation)
    case spatial(SpatialRelation)
  }

  /// The relation that holds where the function is true; nil for other functions.
  var relation: Relation? {
    switch self {
    case .sIntersects: .spatial(.intersects)
    case .sEquals: .spatial(.equals)
    case .sDisjoint: .spatial(.disjoint)
    case .sTouches: .spatial(.touches)
    case .sWithin: .spatial(.within)
    case .sOverlaps: .spatial(.overlaps)
    case .sCrosses: .spatial(.crosses)
    case .sContains: .spatial(.contains)
    case .tAfter: .temporal(.after)
    case .tBefore: .temporal(.before)
    case .tDisjoint: .temporal(.disjoint)
    case .tEquals: .temporal(.equals)
    case .tIntersects: .temporal(.intersects)
    case .tContains: .temporal(.contains)
    case .tDuring: .temporal(.during)
    case .tFinishes: .temporal(.finishes)
    case .tFinishedBy: .temporal(.finishedBy)
    case .tMeets: .temporal(.meets)
    case .tMetBy: .temporal(.metBy)
    case .tOverlaps: .temporal(.overlaps)
    case .tOverlappedBy: .temporal(.overlappedBy)
    case .tStarts: .temporal(.starts)
    case .tStartedBy: .temporal(.startedBy)
    case .aEquals: .array(.equals)
    case .aContains: .array(.contains)
    case .aContainedBy: .array(.containedBy)
    case .aOverlaps: .array(.overlaps)
    default: nil
    }
  }

  var isOfArrays: Bool { if case .array = relation { true } else { false } }
  var isOfGeometries: Bool { if case .spatial = relation { true } else { false } }
}
