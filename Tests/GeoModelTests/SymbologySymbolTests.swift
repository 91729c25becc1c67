// Colors and symbols, and how visual variables change them.

import GeoModel
import Testing

struct SymbologySymbolTests {
  @Test(arguments: [("#ff8000", "#FF8000"), ("#FF8000FF", "#FF8000"), ("#01020304", "#01020304")])
  func `colors are read in either case and written in upper case`(text: String, written: String) throws {
    #expect(try #require(Color(text)).text == written)
  }

  @Test(arguments: ["", "#", "ff8000", "#ff800", "#ff80000", "#ff800000f", "#gg8000", "red", "#ff 000", "#ÿ8000"])
  func `other texts are not colors`(text: String) {
    #expect(Color(text) == nil)
  }

  @Test func `interpolation mixes each component of a color`() {
    let black = Color(red: 0, green: 0, blue: 0, alpha: 0)
    let other = Color(red: 255, green: 100, blue: 1)
    #expect(black.mixed(with: other, fraction: 0) == black)
    #expect(black.mixed(with: other, fraction: 1) == other)
    #expect(black.mixed(with: other, fraction: 0.5) == Color(red: 128, green: 50, blue: 1, alpha: 128))
  }

  @Test func `symbols have the defaults of the SDK`() {
    let marker = SimpleMarkerSymbol()
    #expect(marker.style == .circle && marker.size == 8 && marker.color.text == "#D3D3D3" && marker.outline == nil)
    let line = SimpleLineSymbol()
    #expect(line.style == .solid && line.width == 1 && line.color.text == "#D3D3D3")
    let fill = SimpleFillSymbol()
    #expect(fill.style == .solid && fill.color.text == "#D3D3D3" && fill.outline == nil)
    let text = TextSymbol()
    #expect(text.size == 8 && text.color.text == "#000000" && text.haloWidth == 0)
    #expect(text.horizontalAlignment == .center && text.verticalAlignment == .middle)
  }

  @Test func `a resized marker keeps its outline, and its offset grows in proportion`() {
    let pin = Symbol.simpleMarker(
      SimpleMarkerSymbol(size: 10, yOffset: 5, outline: SimpleLineSymbol(width: 2)))
    guard case .simpleMarker(let big) = pin.sized(30) else { return #expect(Bool(false), "no marker") }
    #expect(big.size == 30 && big.yOffset == 15 && big.outline?.width == 2)
  }

  @Test func `a reference scale magnifies all of a symbol, with outlines and halos`() {
    let outline = SimpleLineSymbol(width: 2)
    var text = TextSymbol(text: "A", size: 10)
    text.haloWidth = 1
    let symbol = Symbol.composite([
      .simpleMarker(SimpleMarkerSymbol(size: 10, yOffset: 5, outline: outline)), .text(text), .simpleLine(outline),
      .simpleFill(SimpleFillSymbol(outline: outline)), .simpleMarker(SimpleMarkerSymbol(size: 0, outline: outline)),
    ])
    let wide = SimpleLineSymbol(width: 6)
    var large = TextSymbol(text: "A", size: 30)
    large.haloWidth = 3
    #expect(
      symbol.scaled(by: 3)
        == .composite([
          .simpleMarker(SimpleMarkerSymbol(size: 30, yOffset: 15, outline: wide)), .text(large), .simpleLine(wide),
          .simpleFill(SimpleFillSymbol(outline: wide)), .simpleMarker(SimpleMarkerSymbol(size: 0, outline: wide)),
        ]))
    #expect(symbol.scaled(by: 1) == symbol)
    #expect(symbol.scaled(by: 1e6).size == symbolSizes.upperBound)
  }

  @Test func `the parts of a composite keep their proportions`() {
    let target = Symbol.composite([
      .simpleMarker(SimpleMarkerSymbol(size: 20)),
      .composite([.text(TextSymbol(text: "A", size: 10)), .simpleLine(SimpleLineSymbol(width: 2))]),
    ])
    #expect(target.size == 20)
    let small = target.sized(10)
    #expect(
      small
        == .composite([
          .simpleMarker(SimpleMarkerSymbol(size: 10)),
          .composite([.text(TextSymbol(text: "A", size: 5)), .simpleLine(SimpleLineSymbol(width: 1))]),
        ]))
  }

  @Test func `a symbol of size 0 can be resized, and sizes are clamped`() {
    #expect(Symbol.simpleMarker(SimpleMarkerSymbol(size: 0)).sized(12).size == 12)
    let uneven = Symbol.composite([.simpleLine(SimpleLineSymbol(width: 1)), .simpleLine(SimpleLineSymbol(width: 3))])
    #expect(uneven.sized(5000).size == symbolSizes.upperBound)
  }

  @Test func `the size of an area is the width of its outline`() {
    let area = Symbol.simpleFill(SimpleFillSymbol(outline: SimpleLineSymbol(width: 1)))
    #expect(area.sized(4) == .simpleFill(SimpleFillSymbol(outline: SimpleLineSymbol(width: 4))))
    #expect(Symbol.simpleFill(SimpleFillSymbol()).sized(4) == .simpleFill(SimpleFillSymbol()))
  }

  @Test func `angles apply to markers and texts, also within composites`() {
    let both = Symbol.composite([.simpleMarker(SimpleMarkerSymbol()), .simpleLine(SimpleLineSymbol())])
    #expect(
      both.rotated(to: 90)
        == .composite([.simpleMarker(SimpleMarkerSymbol(angle: 90)), .simpleLine(SimpleLineSymbol())]))
  }

  @Test func `a color leaves outlines alone, an opacity does not`() {
    let red = Color(red: 255, green: 0, blue: 0)
    let area = Symbol.simpleFill(SimpleFillSymbol(outline: SimpleLineSymbol(color: .black)))
    #expect(area.colored(red) == .simpleFill(SimpleFillSymbol(color: red, outline: SimpleLineSymbol(color: .black))))
    #expect(
      area.faded(0.5)
        == .simpleFill(
          SimpleFillSymbol(
            color: Color(red: 0xD3, green: 0xD3, blue: 0xD3, alpha: 128),
            outline: SimpleLineSymbol(color: Color(red: 0, green: 0, blue: 0, alpha: 128)))))
  }
}
