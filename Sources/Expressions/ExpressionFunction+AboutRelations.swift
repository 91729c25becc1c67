// What the reference and `session/describe` say of relations.

extension ExpressionFunction {
  var docOfRelation: String {
    switch self {
    case .sIntersects: "Whether both share a position."
    case .sEquals: "Whether both have the same positions, in whatever order."
    case .sDisjoint: "Whether both share no position."
    case .sTouches: "Whether both share positions, but none of both interiors."
    case .sWithin: "Whether no position of `a` is outside of `b`, and their interiors share one."
    case .sOverlaps:
      "Whether both have the same dimension, as have their common positions, and neither contains the other."
    case .sCrosses:
      "Whether the interiors share some positions, but not all, of a lower dimension than the greater one of both."
    case .sContains: "Whether `b` is within `a`."
    case .tAfter: "Whether `a` starts after the end of `b`."
    case .tBefore: "Whether `a` ends before the start of `b`."
    case .tDisjoint: "Whether `a` is before or after `b`."
    case .tEquals: "Whether both start and end at once."
    case .tIntersects: "Whether both share an instant."
    case .tContains: "Whether `a` starts before `b` and ends after it."
    case .tDuring: "Whether `a` starts after `b` and ends before it."
    case .tFinishes: "Whether `a` starts after `b` and ends with it."
    case .tFinishedBy: "Whether `a` starts before `b` and ends with it."
    case .tMeets: "Whether `a` ends where `b` starts."
    case .tMetBy: "Whether `a` starts where `b` ends."
    case .tOverlaps: "Whether `a` starts before `b`, and ends in it before its end."
    case .tOverlappedBy: "Whether `a` starts in `b` after its start, and ends after it."
    case .tStarts: "Whether `a` starts with `b` and ends before it."
    case .tStartedBy: "Whether `a` starts with `b` and ends after it."
    case .aEquals: "Whether both have the same elements. Arrays are sets: order and repetition do not count."
    case .aContains: "Whether `a` has all elements of `b`."
    case .aContainedBy: "Whether `b` has all elements of `a`."
    case .aOverlaps: "Whether both share an element."
    default: ""
    }
  }

  var exampleOfRelation: String {
    switch self.relation {
    case .spatial: "\(rawValue)(geometry, POLYGON ((7 50, 8 50, 8 51, 7 50)))"
    case .temporal where signature.argument(0) == .interval:
      "\(rawValue)(INTERVAL('2000-01-01', '2000-01-31'), INTERVAL('2000-01-10', '..'))"
    case .temporal: "\(rawValue)(DATE('2000-01-31'), INTERVAL('..', '2000-02-01'))"
    case .array: "\(rawValue)(('a', 'b'), ('b', 'c'))"
    case nil: ""
    }
  }
}
