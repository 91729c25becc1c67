// Names of members that GeoJSON defines.

/// A member name of GeoJSON, or one that resembles it.
enum GeoJSONName {
  case type, id, geometry, properties, bbox, coordinates, geometries, features, name, crs
  /// A name that GDAL takes for one of the above, because it ignores case.
  case similar
  case other

  @inline(__always)
  init(_ name: RawString) {
    let (first, second) = Self.ofLength(name.count)
    if name.hasEscapes {
      self = .similar
    } else if let first, name.equals(first.text) {
      self = first.name
    } else if let second, name.equals(second.text) {
      self = second.name
    } else if name.count == 4, name.equals("bbox") {
      self = .bbox
    } else {
      self = Self.isSimilar(name) ? .similar : .other
    }
  }

  private typealias Known = (name: GeoJSONName, text: StaticString)

  /// The names with a given length, the more frequent one first.
  @inline(__always)
  private static func ofLength(_ count: Int) -> (Known?, Known?) {
    switch count {
    case 2: ((.id, "id"), nil)
    case 3: ((.crs, "crs"), nil)
    case 4: ((.type, "type"), (.name, "name"))
    case 8: ((.geometry, "geometry"), (.features, "features"))
    case 10: ((.properties, "properties"), (.geometries, "geometries"))
    case 11: ((.coordinates, "coordinates"), nil)
    default: (nil, nil)
    }
  }

  private static func isSimilar(_ name: RawString) -> Bool {
    let (first, second) = ofLength(name.count)
    return (first.map { name.equalsWithoutCase($0.text) } ?? false)
      || (second.map { name.equalsWithoutCase($0.text) } ?? false)
  }
}

extension RawString {
  @inline(__always)
  func equals(_ text: StaticString) -> Bool {
    guard count == text.utf8CodeUnitCount else { return false }
    for index in 0..<count where start[index] != text.utf8Start[index] { return false }
    return true
  }

  /// - Parameter text: in lower case, and of the same length.
  func equalsWithoutCase(_ text: StaticString) -> Bool {
    for index in 0..<count where start[index] | 0x20 != text.utf8Start[index] { return false }
    return true
  }
}
