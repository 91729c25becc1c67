// The position every other part of the model is made of.

/// A position in the units of a spatial reference that its container names.
///
/// `x` is always easting or longitude and `y` northing or latitude, whatever axis order the reference's authority
/// gives. Absent `z` and `m` are "not known", which 0 never is.
public struct Point: Hashable, Sendable {
  public var x: Double
  public var y: Double
  public var z: Double?
  public var m: Double?

  @inlinable
  public init(x: Double, y: Double, z: Double? = nil, m: Double? = nil) {
    self.x = x
    self.y = y
    self.z = z
    self.m = m
  }
}
