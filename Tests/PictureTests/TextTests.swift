// Texts as they are measured and painted, in all scripts.

import Painter
import Pictures
import Testing

@Suite struct TextTests {
  private func measure(_ text: String, _ font: Font) throws -> TextSize {
    var writer = PictureWriter()
    writer.set(font)
    writer.text(text, at: .zero, Anchor(.left, .top))
    return try #require(writer.words.withUnsafeBytes { try Painter().measure($0) }.first)
  }

  @Test(arguments: [1.0, 2], ["HxHH", "HamburgH", "H\nHgHH"])
  func `a text is as large as measured`(ratio: Double, text: String) throws {
    let font = Font(size: 24, color: 0x000000ff)
    let size = try measure(text, font)
    let picture = try paint(300, 150, ratio: ratio) { picture in
      picture.set(font)
      picture.text(text, at: SIMD2(50, 50), Anchor(.left, .top))
    }
    let bounds = picture.bounds
    // The sides of an H keep a tenth of the size from its edges.
    let side = 2.6
    func isNear(_ edge: Int, _ expected: Float, _ slack: Double) -> Bool { abs(Double(edge) / ratio - Double(expected)) <= slack }
    #expect(isNear(bounds.left, 50, side + 1) && bounds.left >= Int(50 * ratio))
    #expect(isNear(bounds.right, 50 + size.width, side + 1) && Double(bounds.right) <= (50 + Double(size.width)) * ratio + 1)
    #expect(Double(bounds.top) >= 50 * ratio && Double(bounds.bottom) <= (50 + Double(size.height)) * ratio + 1)
    // H stands on the baseline.
    if text == "HxHH" { #expect(isNear(bounds.bottom, 50 + size.ascent, 1)) }
  }

  @Test func `anchors place the box`() throws {
    let font = Font(size: 20, color: 0x000000ff)
    let size = try measure("HHH", font)
    func bounds(_ anchor: Anchor) throws -> (left: Int, top: Int, right: Int, bottom: Int) {
      try paint(200, 100) { picture in
        picture.set(font)
        picture.text("HHH", at: SIMD2(100, 50), anchor)
      }.bounds
    }
    let origin = try bounds(Anchor(.left, .top))
    let width = Double(size.width), height = Double(size.height)
    for (horizontal, dx) in [(Anchor.Horizontal.center, -width / 2), (.right, -width), (.justify, 0)] {
      for (vertical, dy) in [(Anchor.Vertical.middle, -height / 2), (.baseline, -Double(size.ascent)), (.bottom, -height)] {
        let moved = try bounds(Anchor(horizontal, vertical))
        #expect(abs(Double(moved.left - origin.left) - dx) <= 1 && abs(Double(moved.top - origin.top) - dy) <= 1)
      }
    }
  }

  @Test func `a halo surrounds the text, and a turned text is turned`() throws {
    func draw(_ halo: Float, _ angle: Float) throws -> Pixels {
      try paint(120, 120) { picture in
        picture.set(Font(size: 20, color: 0x000000ff, haloColor: 0xffff00ff, haloWidth: halo))
        picture.text("HHH", at: SIMD2(60, 60), angle: angle, Anchor(.center, .middle))
      }
    }
    let plain = try draw(0, 0).bounds, halo = try draw(3, 0).bounds, turned = try draw(0, 90).bounds
    #expect(abs(plain.left - halo.left - 3) <= 1 && abs(halo.bottom - plain.bottom - 3) <= 1)
    #expect(abs((turned.bottom - turned.top) - (plain.right - plain.left)) <= 1)
  }

  @Test func `a text along a line stands on it, upright in both directions`() throws {
    func draw(_ line: [SIMD2<Float>]) throws -> Pixels {
      try paint(200, 60) { picture in
        picture.set(Font(size: 20, color: 0x000000ff))
        picture.text("LLLLLL", along: line)
      }
    }
    let there = try draw([SIMD2(10, 30), SIMD2(190, 30)]), back = try draw([SIMD2(190, 30), SIMD2(10, 30)])
    #expect(there.bounds == back.bounds)
    #expect(there.bytes == back.bytes)
    let (left, _, right, _) = there.bounds
    #expect(abs((left + right) / 2 - 100) <= 2)
    let steep = try draw([SIMD2(100, 300), SIMD2(100, -240)])
    #expect(steep.bounds.right - steep.bounds.left < 30 && steep.bounds.bottom - steep.bounds.top == 60)
  }

  @Test func `what no font has is a box and counted, and fonts that are missing are named`() throws {
    var writer = PictureWriter()
    let text = "a\u{10FFFD}b\u{10FFFD}"
    writer.set(Font(family: "No Such Font", size: 20, color: 0x000000ff))
    writer.text(text, at: SIMD2(20, 20), Anchor(.left, .top))
    writer.set(Font(family: "No Such Font", size: 10, isBold: true, color: 0x000000ff))
    writer.text("b", at: SIMD2(20, 20), Anchor(.left, .top))
    let painter = try Painter()
    for _ in 0..<2 {
      let notes = try paintBytes(PictureJob(.png, width: 100, height: 50), writer.words, by: painter).notes
      #expect(notes == PaintNotes(missingGlyphs: 2, missingFamilies: ["No Such Font"]))
    }
  }

  @Test(arguments: ["مرحبا بالعالم", "שלום 123 עולם", "日本語テキスト", "नमस्ते", "ภาษาไทย", "👩‍👩‍👧‍👦 a\u{301}\u{302}", "a\r\nb\u{2029}c\u{0}d", "", "\n\n"])
  func `every script is painted`(text: String) throws {
    for format in PictureFormat.allCases {
      var writer = PictureWriter()
      writer.set(Font(size: 16, slant: .italic, isBold: true, color: 0xff, haloColor: 0xffffffff, haloWidth: 1))
      writer.text(text, at: SIMD2(100, 30), angle: 10, Anchor(.center, .middle))
      writer.text(text, along: [SIMD2(150, 50), SIMD2(80, 70), SIMD2(10, 50)])
      let picture = try paintBytes(PictureJob(format, width: 200, height: 100), writer.words, by: Painter())
      #expect(!picture.bytes.isEmpty)
    }
    let size = try measure(text, Font(size: 16, color: 0xff))
    #expect(size.width >= 0 && size.height > 0 && size.ascent > 0)
  }
}
