// simplestyle-spec 1.1 in properties, and symbols of layers and overlays without a renderer.

import FeatureStore
import GeoModel
import Geometry
import Testing

struct SymbologySimpleStyleTests {
  private func symbol(_ properties: [String: AttributeValue], _ kind: ShapeKind) -> Symbol? {
    SimpleStyle { properties[$0] ?? .null }?.symbol(for: kind)
  }

  @Test func `a marker has its color and size`() {
    #expect(
      symbol(["marker-color": "#fc0", "marker-size": "small"], .point)
        == .simpleMarker(SimpleMarkerSymbol(color: Color(red: 255, green: 204, blue: 0), size: 20)))
    #expect(
      symbol(["marker-size": "large"], .point)
        == .simpleMarker(SimpleMarkerSymbol(color: Color(red: 0x7E, green: 0x7E, blue: 0x7E), size: 35)))
  }

  @Test(arguments: ["a", 7] as [AttributeValue])
  func `a letter or digit is drawn on the marker`(sign: AttributeValue) throws {
    guard case .composite(let parts)? = symbol(["marker-symbol": sign], .point), case .text(let text)? = parts.last
    else { return #expect(Bool(false), "no text on a marker") }
    #expect(text.text.string == sign.shownText(by: .neutral)?.uppercased() && parts.count == 2)
  }

  @Test func `a named icon is a plain marker`() {
    guard case .simpleMarker? = symbol(["marker-symbol": "bus"], .point) else {
      return #expect(Bool(false), "no plain marker")
    }
  }

  @Test func `lines and areas have strokes, areas a fill, by the defaults of the spec`() {
    let gray = Color(red: 0x55, green: 0x55, blue: 0x55)
    #expect(
      symbol(["stroke": "ff0000", "stroke-width": 3, "stroke-opacity": 0.5], .line)
        == .simpleLine(SimpleLineSymbol(color: Color(red: 255, green: 0, blue: 0, alpha: 128), width: 3)))
    #expect(
      symbol(["fill": "#00FF00"], .area)
        == .simpleFill(
          SimpleFillSymbol(
            color: Color(red: 0, green: 255, blue: 0, alpha: 153), outline: SimpleLineSymbol(color: gray, width: 2))))
  }

  @Test func `invalid values count as absent`() {
    #expect(
      symbol(
        ["stroke": "red", "stroke-width": -1, "stroke-opacity": 7, "fill": 5, "fill-opacity": "x", "marker-size": 9],
        .line)
        == .simpleLine(SimpleLineSymbol(color: Color(red: 0x55, green: 0x55, blue: 0x55), width: 2)))
  }

  @Test func `a title alone is not a style`() {
    #expect(symbol(["title": "A", "description": "B", "name": "C"], .point) == nil)
  }

  @Test func `a graphic's own symbol precedes the renderer's; without either it is not drawn`() throws {
    var batch = FeatureBatch()
    batch.begin()
    batch.setPoint(x: 0, y: 0)
    "{\"own\":1}".utf8.withContiguousStorageIfAvailable { batch.setSymbol(utf8: UnsafeRawBufferPointer($0)) }
    batch.begin()
    batch.setPoint(x: 1, y: 1)
    var store = FeatureStore()
    _ = try store.append(batch)
    let rendered = BoundSymbols(Renderer(.simple(entry(5))), fallback: .nothing, schema: store.schema)
    #expect(rendered.symbol(of: try store.row(0)) == .own(Text("{\"own\":1}")))
    #expect(rendered.symbol(of: try store.row(1)) == .made(marker(5)))
    let bare = BoundSymbols(nil, fallback: .nothing, schema: store.schema)
    #expect(bare.symbol(of: try store.row(1)) == nil)
  }

  @Test func `without a renderer a feature is drawn by its properties, or by its shape`() throws {
    let store = try FeatureStore.of([["marker-size": "small"], [:]])
    let bound = BoundSymbols(nil, fallback: .simpleStyle, schema: store.schema)
    guard case .made(let styled)? = bound.symbol(of: try store.row(0)) else { return #expect(Bool(false)) }
    #expect(styled.size == 20)
    #expect(bound.symbol(of: try store.row(1)) == .made(.standard(for: .point)))
    let plain = BoundSymbols(nil, fallback: .plain, schema: store.schema)
    #expect(plain.symbol(of: try store.row(0)) == .made(.standard(for: .point)))
  }

  @Test(
    arguments: [
      ("Point", .point), ("MultiPoint Z", .point), ("LINESTRING", .line), ("MultiCurve", .line),
      ("MultiPolygon", .area), ("CurvePolygon", .area), ("Unknown", nil), (nil, nil),
    ] as [(String?, ShapeKind?)])
  func `the kind of shape follows from the type's name`(name: String?, kind: ShapeKind?) {
    #expect(ShapeKind(geometryType: name) == kind)
  }
}
