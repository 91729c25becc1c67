// Writes geometries as text. Own code because GEOS 3.11 loses M.

extension Geometry {
  /// ISO WKT: `POINT Z (1 2 3)`, `MULTIPOINT ((1 2), (3 4))`, `LINESTRING EMPTY`. Numbers have the fewest digits that
  /// read back the same.
  /// - Complexity: O(n) in positions.
  public var wkt: String {
    var text = ""
    writeWKT(to: &text)
    return text
  }

  private func writeWKT(to text: inout String) {
    switch self {
    case .point(let point):
      text += "POINT"
      guard let point else {
        text += " EMPTY"
        return
      }
      text.appendTag(hasZ: point.z != nil, hasM: point.m != nil)
      text += " ("
      text.append(point)
      text += ")"
    case .lineString(let positions):
      text += "LINESTRING"
      text.appendTag(of: [positions])
      text.append(positions)
    case .polygon(let rings):
      text += "POLYGON"
      text.appendTag(of: rings)
      text.appendList(rings) { $0.append($1) }
    case .multiPoint(let positions):
      text += "MULTIPOINT"
      text.appendTag(of: [positions])
      text.appendList(positions.points) { text, point in
        text += "("
        text.append(point)
        text += ")"
      }
    case .multiLineString(let parts):
      text += "MULTILINESTRING"
      text.appendTag(of: parts)
      text.appendList(parts) { $0.append($1) }
    case .multiPolygon(let polygons):
      text += "MULTIPOLYGON"
      text.appendTag(of: polygons.flatMap { $0 })
      text.appendList(polygons) { text, rings in text.appendList(rings) { $0.append($1) } }
    case .collection(let parts):
      text += "GEOMETRYCOLLECTION"
      text.appendList(parts) { $1.writeWKT(to: &$0) }
    }
  }
}

extension String {
  fileprivate mutating func appendTag(hasZ: Bool, hasM: Bool) {
    guard hasZ || hasM else { return }
    self += " \(hasZ ? "Z" : "")\(hasM ? "M" : "")"
  }

  /// Appends the tag of the first run's layout; a geometry has one layout.
  fileprivate mutating func appendTag(of runs: [Positions]) {
    guard let first = runs.first else { return }
    appendTag(hasZ: first.hasZ, hasM: first.hasM)
  }

  fileprivate mutating func appendNumber(_ value: Double) {
    let text = value.description
    self += text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  fileprivate mutating func append(_ point: Point) {
    appendNumber(point.x)
    for value in [point.y, point.z, point.m] {
      guard let value else { continue }
      self += " "
      appendNumber(value)
    }
  }

  fileprivate mutating func append(_ positions: Positions) {
    appendList(positions.points) { $0.append($1) }
  }

  fileprivate mutating func appendList<T>(_ items: [T], _ body: (inout String, T) -> Void) {
    if last != "(" && last != " " { self += " " }
    guard !items.isEmpty else {
      self += "EMPTY"
      return
    }
    self += "("
    for (index, item) in items.enumerated() {
      if index > 0 { self += ", " }
      body(&self, item)
    }
    self += ")"
  }
}
