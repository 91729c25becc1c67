// The direction of rings, which some formats prescribe.

extension Geometry {
  /// The same shape with outer rings counterclockwise and holes clockwise, as RFC 7946, section 3.1.6, requires. O(n) in
  /// positions.
  public var withRightHandRings: Geometry {
    switch self {
    case .polygon(let rings): .polygon(Self.rightHand(rings))
    case .multiPolygon(let polygons): .multiPolygon(polygons.map(Self.rightHand))
    case .collection(let parts): .collection(parts.map(\.withRightHandRings))
    case .point, .lineString, .multiPoint, .multiLineString: self
    }
  }

  private static func rightHand(_ rings: [Positions]) -> [Positions] {
    func isWrong(_ index: Int) -> Bool {
      let area = rings[index].doubledArea
      return index == 0 ? area < 0 : area > 0
    }
    guard rings.indices.contains(where: isWrong) else { return rings }
    return rings.indices.map { isWrong($0) ? rings[$0].reversed : rings[$0] }
  }
}

extension Positions {
  /// Twice the area within a ring, positive if it is counterclockwise: the shoelace formula, about the first position.
  package var doubledArea: Double {
    let stride = stride
    return values.withUnsafeBufferPointer { values in
      guard values.count >= 3 * stride else { return 0 }
      let (x, y) = (values[0], values[1])
      var area = 0.0
      for base in Swift.stride(from: stride, to: values.count - stride, by: stride) {
        area +=
          (values[base] - x) * (values[base + stride + 1] - y) - (values[base + stride] - x) * (values[base + 1] - y)
      }
      return area
    }
  }

  /// The length of the line in the plane.
  package var length: Double {
    let stride = stride
    return values.withUnsafeBufferPointer { values in
      var length = 0.0
      for base in Swift.stride(from: stride, to: values.count, by: stride) {
        let way = SIMD2(values[base] - values[base - stride], values[base + 1] - values[base - stride + 1])
        length += (way * way).sum().squareRoot()
      }
      return length
    }
  }

  /// The positions in the opposite order.
  package var reversed: Positions {
    let (stride, count) = (stride, values.count)
    let reversed = [Double](unsafeUninitializedCapacity: count) { buffer, filled in
      for base in Swift.stride(from: 0, to: count, by: stride) {
        for ordinate in 0..<stride { buffer[base &+ ordinate] = values[count &- stride &- base &+ ordinate] }
      }
      filled = count
    }
    return Positions(values: reversed, hasZ: hasZ, hasM: hasM)
  }
}
