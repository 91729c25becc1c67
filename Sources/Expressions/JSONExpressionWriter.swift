// Writes a parsed expression as CQL2 JSON.

import Geometry
import JSON

struct JSONExpressionWriter: ~Copyable {
  let tree: ExpressionTree
  private var writer = JSONWriter(capacity: 512)
  private var depth = 0
  private var isTooDeep = false

  init(tree: ExpressionTree) { self.tree = tree }

  private var parts: ExpressionTree.Parts { tree.parts }

  var text: String { writer.string }

  /// Writes a node; false if operations are nested too deep.
  mutating func write(_ node: Int) -> Bool {
    value(node)
    return !isTooDeep
  }

  private mutating func value(_ node: Int) {
    guard depth < Expression.jsonDepthLimit, !isTooDeep else {
      isTooDeep = true
      return writer.null()
    }
    depth += 1
    defer { depth -= 1 }
    switch tree.nodes[node] {
    case .literal(let number): literal(parts.literals[number])
    case .instant(let number):
      let instant = parts.instants[number]
      writer.object([(name: instant.time.isDate ? "date" : "timestamp", value: instant.text)])
    case .property(let number), .shape(let number):
      writer.object([(name: "property", value: parts.properties[number])])
    case .geometry(let number): geometry(parts.geometries[number])
    case .interval(let start, let end): interval(start, end)
    case .array(let range, _): array(range)
    case .time, .not, .and, .or, .compare, .isNull, .isIn, .between, .like, .chain, .power, .negate, .call, .choice,
      .format,
      .formatDate:
      operation(node)
    }
  }

  private mutating func literal(_ value: AttributeValue) {
    switch value {
    case .bool(let value): writer.value(value)
    case .integer(let value): writer.value(value)
    case .double(let value): writer.value(value)
    case .string(let text): writer.value(text)
    case .null, .json: writer.null()
    }
  }

  private mutating func array(_ nodes: Range<Int>) {
    writer.beginArray()
    for node in parts.children[nodes] { value(node) }
    writer.endArray()
  }

  private mutating func interval(_ start: Int?, _ end: Int?) {
    writer.beginObject()
    writer.key("interval")
    writer.beginArray()
    for end in [start, end] {
      if let end, case .instant(let number) = tree.nodes[end] {
        writer.value(parts.instants[number].text)
      } else if let end {
        value(end)
      } else {
        writer.value("..")
      }
    }
    writer.endArray()
    writer.endObject()
  }

  // MARK: Operations

  private mutating func begin(_ name: String) {
    writer.beginObject()
    writer.key("op")
    writer.value(name)
    writer.key("args")
    writer.beginArray()
  }

  private mutating func end() {
    writer.endArray()
    writer.endObject()
  }

  private mutating func write(_ name: String, _ arguments: some Sequence<Int>) {
    begin(name)
    for argument in arguments { value(argument) }
    end()
  }

  private mutating func operation(_ node: Int) {
    switch tree.nodes[node] {
    case .not(let operand): write("not", [operand])
    case .and(let range): write("and", parts.children[range])
    case .or(let range): write("or", parts.children[range])
    case .compare(let comparison, let left, let right): write(comparison.rawValue, [left, right])
    case .isNull(let operand, let isNegated): negated(isNegated) { $0.write("isNull", [operand]) }
    case .isIn(let operand, let list, _, let isNegated):
      negated(isNegated) { writer in
        writer.begin("in")
        writer.value(operand)
        writer.array(list)
        writer.end()
      }
    case .between(let operand, let low, let high, let isNegated):
      negated(isNegated) { $0.write("between", [operand, low, high]) }
    case .like(let operand, let pattern, let isNegated):
      negated(isNegated) { writer in
        writer.begin("like")
        writer.value(operand)
        writer.pattern(writer.parts.patternLiterals[pattern])
        writer.end()
      }
    case .chain(let first, let range): chain(first, parts.links[range])
    case .power(let base, let exponent): write("^", [base, exponent])
    case .negate(let operand):
      begin("*")
      writer.value(-1)
      value(operand)
      end()
    case .call(let function, let range): write(function.record.jsonName, parts.children[range])
    case .choice(let range): write("case", parts.children[range])
    case .format(let number, let range): formatted("format", parts.formats[number].pattern, parts.children[range])
    case .formatDate(let number, let operand):
      begin("formatDate")
      value(operand)
      writer.value(parts.dateFormatPatterns[number])
      end()
    // `time` only occurs in compiled expressions; the others are not operations.
    case .literal, .instant, .property, .time, .interval, .array, .geometry, .shape: break
    }
  }

  private mutating func formatted(_ name: String, _ pattern: String, _ values: ArraySlice<Int>) {
    begin(name)
    writer.value(pattern)
    for each in values { value(each) }
    end()
  }

  private mutating func negated(_ isNegated: Bool, _ body: (inout JSONExpressionWriter) -> Void) {
    if isNegated { begin("not") }
    body(&self)
    if isNegated { end() }
  }

  /// Writes operations from left to right, so that the last one is the outermost.
  private mutating func chain(_ first: Int, _ links: ArraySlice<ExpressionTree.Link>) {
    guard depth + links.count <= Expression.jsonDepthLimit else {
      isTooDeep = true
      return writer.null()
    }
    for link in links.reversed() { begin(link.operation.rawValue.lowercased()) }
    depth += links.count
    value(first)
    depth -= links.count
    for (index, link) in links.enumerated() {
      depth += links.count - index
      value(link.operand)
      depth -= links.count - index
      end()
    }
  }

  private mutating func pattern(_ literal: PatternLiteral) {
    for fold in literal.folds { begin(fold.record.name) }
    writer.value(literal.text)
    for _ in literal.folds { end() }
  }

  // MARK: Geometries

  private mutating func geometry(_ literal: GeometryLiteral) {
    guard let box = literal.box else { return geometry(literal.geometry) }
    writer.beginObject()
    writer.key("bbox")
    writer.array(box) { $1.value($0) }
    writer.endObject()
  }

  private mutating func geometry(_ geometry: Geometry) {
    let hasZ = !geometry.lacksZ
    switch geometry {
    case .point(let point):
      members("Point") { writer in
        if let point { Self.position(point, hasZ, &writer) } else { writer.array([Double]()) { $1.value($0) } }
      }
    case .lineString(let line): members("LineString") { Self.line(line, hasZ, &$0) }
    case .multiPoint(let points): members("MultiPoint") { Self.line(points, hasZ, &$0) }
    case .polygon(let rings): members("Polygon") { $0.array(rings) { Self.line($0, hasZ, &$1) } }
    case .multiLineString(let lines): members("MultiLineString") { $0.array(lines) { Self.line($0, hasZ, &$1) } }
    case .multiPolygon(let polygons):
      members("MultiPolygon") { $0.array(polygons) { $1.array($0) { Self.line($0, hasZ, &$1) } } }
    case .collection(let parts):
      writer.beginObject()
      writer.key("type")
      writer.value("GeometryCollection")
      writer.key("geometries")
      writer.beginArray()
      for part in parts { self.geometry(part) }
      writer.endArray()
      writer.endObject()
    }
  }

  private mutating func members(_ type: String, _ coordinates: (inout JSONWriter) -> Void) {
    writer.beginObject()
    writer.key("type")
    writer.value(type)
    writer.key("coordinates")
    coordinates(&writer)
    writer.endObject()
  }

  private static func line(_ positions: Positions, _ hasZ: Bool, _ writer: inout JSONWriter) {
    writer.array(positions.points) { position($0, hasZ, &$1) }
  }

  /// GeoJSON has no M.
  private static func position(_ point: Point, _ hasZ: Bool, _ writer: inout JSONWriter) {
    var numbers = [point.x, point.y]
    if hasZ, let z = point.z, z.isFinite { numbers.append(z) }
    writer.array(numbers) { $1.value($0) }
  }
}
