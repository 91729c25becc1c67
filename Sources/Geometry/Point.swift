// A position: the element of every geometry.

/// A position in the units of a spatial reference that its container names.
///
/// `x` is easting or longitude and `y` northing or latitude, whatever axis order the reference's authority defines. An
/// absent `z` or `m` means unknown, not 0.
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
