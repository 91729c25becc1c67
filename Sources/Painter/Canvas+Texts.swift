// Texts at a point and along a line.

import CCairo
import Pictures

extension Font {
  fileprivate var hasHalo: Bool { haloWidth > 0 && haloWidth <= 1000 && haloColor & 0xff != 0 }
}

extension Canvas {
  func drawText(
    _ text: String, _ font: Font, at place: (x: Double, y: Double), _ angle: Float, _ anchor: Anchor
  ) throws(PaintFault) {
    let layout = painter.texts.layout(text, font, anchor.horizontal)
    let x =
      switch anchor.horizontal {
      case .left, .justify: 0.0
      case .center: -layout.width / 2
      case .right: -layout.width
      }
    let y =
      switch anchor.vertical {
      case .top: 0.0
      case .middle: -layout.height / 2
      case .baseline: -layout.ascent
      case .bottom: -layout.height
      }
    guard abs(place.x) < 1e6, abs(place.y) < 1e6, try beginShape(font.color | (font.hasHalo ? 0xff : 0)) else { return }
    c.pointee.cairo_save(cairo)
    c.pointee.cairo_translate(cairo, place.x, place.y)
    c.pointee.cairo_rotate(cairo, Double(angle) * .pi / 180)
    c.pointee.cairo_scale(cairo, scale, scale)
    if isOfNumbers {
      c.pointee.cairo_rectangle(cairo, x, y, layout.width, layout.height)
      c.pointee.cairo_fill(cairo)
    } else {
      if font.hasHalo {
        c.pointee.cairo_move_to(cairo, x - layout.left, y - layout.top)
        c.pointee.pango_cairo_layout_path(cairo, layout.handle)
        strokeHalo(font)
      }
      setSource(font.color)
      c.pointee.cairo_move_to(cairo, x - layout.left, y - layout.top)
      c.pointee.pango_cairo_show_layout(cairo, layout.handle)
      c.pointee.cairo_new_path(cairo)
    }
    c.pointee.cairo_restore(cairo)
  }

  /// Strokes the path of a text, in device-independent pixels.
  private func strokeHalo(_ font: Font) {
    setSource(font.haloColor)
    c.pointee.cairo_set_line_width(cairo, 2 * Double(font.haloWidth))
    c.pointee.cairo_set_dash(cairo, nil, 0, 0)
    c.pointee.cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND)
    c.pointee.cairo_stroke(cairo)
  }

  func drawText(_ text: String, _ font: Font, along line: UnsafeBufferPointer<Float>) throws(PaintFault) {
  }
}
