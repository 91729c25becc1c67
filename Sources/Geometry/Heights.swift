// Queries of elevation rasters and their results, shared by the model and the room that reads rasters.

/// How heights between the centres of cells are computed.
public enum Interpolation: Hashable, Sendable {
  /// Interpolates between the centres of the four surrounding cells; near an outer edge, between the existing ones.
  case bilinear
  /// The cell that contains the position.
  case nearest
}

/// The height at one position of a raster. 0 is a height, never "unknown".
public enum HeightSample: Hashable, Sendable {
  /// Metres.
  case value(Double)
  /// Inside the raster, without a value.
  case noData
  case outside
}

/// The surface above which heights are.
public enum HeightDatum: Hashable, Sendable {
  /// A level of gravity: a geoid, or mean sea level.
  case geoid
  /// The ellipsoid of the spatial reference.
  case ellipsoid
  case unknown
}

/// How the ground's gradient in a cell is computed from those around it.
public enum SlopeMethod: Hashable, Sendable {
  /// B. K. P. Horn, "Hill shading and the reflectance map", 1981: eight cells.
  case horn
  /// L. W. Zevenbergen and C. R. Thorne, "Quantitative analysis of land surface topography", 1987: four cells.
  case zevenbergenThorne
}
