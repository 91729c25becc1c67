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
      let layout = WKB.Layout(hasZ: point.z != nil, hasM: point.m != nil)
      text.appendTag(layout)
      text += " ("
      text.append(point, layout)
      text += ")"
    case .lineString(let positions):
      text += "LINESTRING"
      let layout = text.appendTag(of: [positions])
      text.append(positions, layout)
    case .polygon(let rings):
      text += "POLYGON"
      let layout = text.appendTag(of: rings)
      text.appendList(rings) { $0.append($1, layout) }
    case .multiPoint(let positions):
      text += "MULTIPOINT"
      let layout = text.appendTag(of: [positions])
      text.appendList(positions.points) { text, point in
        text += "("
        text.append(point, layout)
        text += ")"
      }
    case .multiLineString(let parts):
      text += "MULTILINESTRING"
      let layout = text.appendTag(of: parts)
      text.appendList(parts) { $0.append($1, layout) }
    case .multiPolygon(let polygons):
      text += "MULTIPOLYGON"
      let layout = text.appendTag(of: polygons.flatMap { $0 })
      text.appendList(polygons) { text, rings in text.appendList(rings) { $0.append($1, layout) } }
    case .collection(let parts):
      text += "GEOMETRYCOLLECTION"
      text.appendList(parts) { $1.writeWKT(to: &$0) }
    }
  }
}

extension String {
  fileprivate mutating func appendTag(_ layout: WKB.Layout) {
    guard layout.hasZ || layout.hasM else { return }
    self += " \(layout.hasZ ? "Z" : "")\(layout.hasM ? "M" : "")"
  }

  /// Appends the tag of the layout that can represent all runs: a text has one layout, while the runs of WKB may differ.
  fileprivate mutating func appendTag(of runs: [Positions]) -> WKB.Layout {
    let filled = runs.filter { !$0.isEmpty }
    let decisive = filled.isEmpty ? runs : filled
    let layout = WKB.Layout(hasZ: decisive.contains(where: \.hasZ), hasM: decisive.contains(where: \.hasM))
    appendTag(layout)
    return layout
  }

  fileprivate mutating func appendNumber(_ value: Double) {
    let text = value.description
    self += text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  /// Appends a point; a coordinate of the layout that it lacks is written as NaN.
  fileprivate mutating func append(_ point: Point, _ layout: WKB.Layout) {
    appendNumber(point.x)
    let rest = [point.y, layout.hasZ ? point.z ?? .nan : nil, layout.hasM ? point.m ?? .nan : nil]
    for value in rest {
      guard let value else { continue }
      self += " "
      appendNumber(value)
    }
  }

  fileprivate mutating func append(_ positions: Positions, _ layout: WKB.Layout) {
    appendList(positions.points) { $0.append($1, layout) }
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
