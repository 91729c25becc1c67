// What is measured of geometries; `Proximity` measures it.

/// A geometry that is made of another.
public enum GeometryMaking: Sendable {
  /// The area within a distance in metres.
  case buffer
  /// The centre of gravity of its parts of the highest dimension.
  case centroid
}

/// A measure of one or two geometries.
public enum GeometryMeasure: Sendable {
  /// Square metres within polygons; 0 for points and lines.
  case area
  /// Metres along lines and around polygons; 0 for points.
  case length
  /// Metres between two geometries; 0 where they share a position.
  case distance
}
