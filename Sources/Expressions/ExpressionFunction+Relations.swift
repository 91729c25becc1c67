// Functions for relations of geometries, times and arrays, and for measures of geometries.

import Geometry

extension FunctionRecord {
  /// The relation that a function tests.
  enum Relation: Sendable {
    case temporal(TemporalRelation)
    case array(ArrayRelation)
    case spatial(SpatialRelation)
  }
}

extension FunctionRecord {
  static let relations: [FunctionRecord] = [
    spatial("S_INTERSECTS", .intersects, "Whether both share a position."),
    spatial("S_EQUALS", .equals, "Whether both have the same positions, in whatever order."),
    spatial("S_DISJOINT", .disjoint, "Whether both share no position."),
    spatial("S_TOUCHES", .touches, "Whether both share positions, but none of both interiors."),
    spatial("S_WITHIN", .within, "Whether no position of `a` is outside of `b`, and their interiors share one."),
    spatial(
      "S_OVERLAPS", .overlaps,
      "Whether both have the same dimension, as have their common positions, and neither contains the other."),
    spatial(
      "S_CROSSES", .crosses,
      "Whether the interiors share some positions, but not all, of a lower dimension than the greater one of both."),
    spatial("S_CONTAINS", .contains, "Whether `b` is within `a`."),
    times("T_AFTER", .after, "Whether `a` starts after the end of `b`."),
    times("T_BEFORE", .before, "Whether `a` ends before the start of `b`."),
    times("T_DISJOINT", .disjoint, "Whether `a` is before or after `b`."),
    times("T_EQUALS", .equals, "Whether both start and end at once."),
    times("T_INTERSECTS", .intersects, "Whether both share an instant."),
    intervals("T_CONTAINS", .contains, "Whether `a` starts before `b` and ends after it."),
    intervals("T_DURING", .during, "Whether `a` starts after `b` and ends before it."),
    intervals("T_FINISHES", .finishes, "Whether `a` starts after `b` and ends with it."),
    intervals("T_FINISHEDBY", .finishedBy, "Whether `a` starts before `b` and ends with it."),
    intervals("T_MEETS", .meets, "Whether `a` ends where `b` starts."),
    intervals("T_METBY", .metBy, "Whether `a` starts where `b` ends."),
    intervals("T_OVERLAPS", .overlaps, "Whether `a` starts before `b`, and ends in it before its end."),
    intervals("T_OVERLAPPEDBY", .overlappedBy, "Whether `a` starts in `b` after its start, and ends after it."),
    intervals("T_STARTS", .starts, "Whether `a` starts with `b` and ends before it."),
    intervals("T_STARTEDBY", .startedBy, "Whether `a` starts with `b` and ends after it."),
    arrays(
      "A_EQUALS", .equals, "Whether both have the same elements. Arrays are sets: order and repetition do not count."),
    arrays("A_CONTAINS", .contains, "Whether `a` has all elements of `b`."),
    arrays("A_CONTAINEDBY", .containedBy, "Whether `b` has all elements of `a`."),
    arrays("A_OVERLAPS", .overlaps, "Whether both share an element."),
  ]

  private static func spatial(_ name: String, _ relation: SpatialRelation, _ doc: String) -> FunctionRecord {
    FunctionRecord(
      name, .spatial(relation), of: .geometry, doc, example: "geometry, POLYGON ((7 50, 8 50, 8 51, 7 50))")
  }

  private static func times(_ name: String, _ relation: TemporalRelation, _ doc: String) -> FunctionRecord {
    FunctionRecord(
      name, .temporal(relation), of: [.text, .instant, .interval], doc,
      example: "DATE('2000-01-31'), INTERVAL('..', '2000-02-01')")
  }

  private static func intervals(_ name: String, _ relation: TemporalRelation, _ doc: String) -> FunctionRecord {
    FunctionRecord(
      name, .temporal(relation), of: .interval, doc,
      example: "INTERVAL('2000-01-01', '2000-01-31'), INTERVAL('2000-01-10', '..')")
  }

  private static func arrays(_ name: String, _ relation: ArrayRelation, _ doc: String) -> FunctionRecord {
    FunctionRecord(name, .array(relation), of: [.array, .json], doc, example: "('a', 'b'), ('b', 'c')")
  }

  private convenience init(
    _ name: String, _ relation: Relation, of types: ScalarTypes, _ doc: String, example: String
  ) {
    self.init(
      name, .init(name: "a", types: types), .init(name: "b", types: types), result: .boolean, doc: doc,
      example: "\(name)(\(example))", .relation(relation))
  }
}

extension FunctionRecord {
  static let measures: [FunctionRecord] = [
    FunctionRecord(
      "S_AREA", .geometry("geometry"), result: .number,
      doc:
        "The area within polygons in square metres; 0 for points and lines. On the ellipsoid, with sides that are the shortest lines between positions, if the spatial reference is geographic, else in its plane. A side that spans 180 degrees or more, such as those of a BBOX around the world, is straight in longitude and latitude, as for relations. Where an outline crosses itself, parts that it goes around in the other direction count as negative. Null where there is no spatial reference.",
      example: "S_AREA(POLYGON ((7 50, 8 50, 8 51, 7 50)))", .measure(.area)),
    FunctionRecord(
      "S_LENGTH", .geometry("geometry"), result: .number,
      doc: "The length of lines, and of the outlines of polygons, in metres; 0 for points. Measured as by `S_AREA`.",
      example: "S_LENGTH(LINESTRING (7 50, 8 50))", .measure(.length)),
    FunctionRecord(
      "S_DISTANCE", .geometry("a"), .geometry("b"), result: .number,
      doc:
        "The least distance of two geometries in metres; 0 where they share a position. On the ellipsoid, as by `feature/nearest`, if the spatial reference is geographic, else in its plane. Null for empty geometries and where there is no spatial reference.",
      example: "S_DISTANCE(POINT (7 50), LINESTRING (8 50, 8 51))", .measure(.distance)),
    FunctionRecord(
      "S_BUFFER", .geometry("geometry"), .number("distance"), result: .geometry,
      doc:
        "The area within a distance in metres of a geometry; with a negative one what is left of polygons. On the ellipsoid as by `geometry/geodeticBuffer`, if the spatial reference is geographic, else in its plane as by `geometry/buffer` with its defaults. An operand of spatial functions; of constants it is made once for all features. Null where there is no spatial reference, around positions that are not on the earth, and where `geometry/geodeticBuffer` refuses a distance because it reaches too far around the earth. An area with too many positions fails the request.",
      example: "S_BUFFER(POINT (7 50), 1000)", .making(.buffer)),
    FunctionRecord(
      "S_CENTROID", .geometry("geometry"), result: .geometry,
      doc: "The center of gravity of a geometry in the plane of its coordinates, as by `geometry/centroid`. An operand of spatial functions.",
      example: "S_CENTROID(POLYGON ((7 50, 8 50, 8 51, 7 50)))", .making(.centroid)),
  ]
}
