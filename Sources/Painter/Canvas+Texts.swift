// Texts at a point and along a line.

import CCairo
import Pictures
import Platform

extension Font {
  fileprivate var hasHalo: Bool { haloWidth > 0 && haloWidth <= 1000 && haloColor & 0xff != 0 }
}

extension Canvas {
  /// Sets the number of a text; false if nothing is to be seen.
  private func begin(_ font: Font) throws(PaintFault) -> Bool { try beginShape(font.hasHalo ? 0xff : font.color) }

  func drawText(
    _ text: String, _ font: Font, at place: (x: Double, y: Double), _ angle: Float, _ anchor: Anchor
  ) throws(PaintFault) {
    let layout = try painter.texts.layout(text, font, anchor.horizontal)
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
    guard abs(place.x) < 1e6, abs(place.y) < 1e6, try begin(font) else { return }
    let angle = Double(angle) * .pi / 180
    if isOfNumbers {
      turned(cairo, place, angle) { c.pointee.cairo_rectangle(cairo, x, y, layout.width, layout.height) }
      fillBoxes(font)
      return
    }
    func draw(_ target: OpaquePointer?, _ show: (OpaquePointer?, OpaquePointer?) -> Void) {
      turned(target, place, angle) {
        c.pointee.cairo_move_to(target, x - layout.left, y - layout.top)
        show(target, layout.handle)
      }
    }
    if font.hasHalo {
      let overhang = layout.overhang
      let corners = [x - overhang, x + layout.width + overhang].flatMap { x in
        [y - overhang, y + layout.height + overhang].map { y in
          (place.x + (x * cos(angle) - y * sin(angle)) * scale, place.y + (x * sin(angle) + y * cos(angle)) * scale)
        }
      }
      drawHalo(
        font, around: corners, text: { draw($0, c.pointee.pango_cairo_show_layout) },
        path: { draw(cairo, c.pointee.pango_cairo_layout_path) })
    }
    setSource(font.color)
    draw(cairo, c.pointee.pango_cairo_show_layout)
    c.pointee.cairo_new_path(cairo)
  }

  /// Fills the boxes of texts and their halos, in pictures of numbers.
  private func fillBoxes(_ font: Font) {
    // Boxes overlap where a line turns.
    c.pointee.cairo_set_fill_rule(cairo, CAIRO_FILL_RULE_WINDING)
    c.pointee.cairo_fill_preserve(cairo)
    c.pointee.cairo_set_fill_rule(cairo, CAIRO_FILL_RULE_EVEN_ODD)
    if font.hasHalo {
      c.pointee.cairo_set_line_width(cairo, 2 * Double(font.haloWidth) * scale)
      c.pointee.cairo_set_dash(cairo, nil, 0, 0)
      c.pointee.cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND)
      c.pointee.cairo_stroke(cairo)
    }
    c.pointee.cairo_new_path(cairo)
  }

  /// Draws in device-independent pixels about a place.
  private func turned(_ target: OpaquePointer?, _ place: (x: Double, y: Double), _ angle: Double, _ draw: () -> Void) {
    c.pointee.cairo_save(target)
    c.pointee.cairo_translate(target, place.x, place.y)
    c.pointee.cairo_rotate(target, angle)
    c.pointee.cairo_scale(target, scale, scale)
    draw()
    c.pointee.cairo_restore(target)
  }

  // MARK: Halos

  /// Draws the halo of a text: in images its widened pixels, which takes a tenth of the time of its outline.
  ///
  /// - Parameters:
  ///   - corners: places, in units, that have the text between them.
  ///   - text: draws it.
  ///   - path: makes the path of its outline.
  private func drawHalo(
    _ font: Font, around corners: [(x: Double, y: Double)], text: (OpaquePointer?) -> Void, path: () -> Void
  ) {
    let radius = Double(font.haloWidth) * scale
    setSource(font.haloColor)
    guard !isVector, radius <= 8 else {
      path()
      c.pointee.cairo_set_line_width(cairo, 2 * radius)
      c.pointee.cairo_set_dash(cairo, nil, 0, 0)
      c.pointee.cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND)
      c.pointee.cairo_stroke(cairo)
      return
    }
    let margin = Int(radius.rounded(.up)) + 1
    func edge(_ value: Double?, _ low: Int32, _ high: Int32, _ side: Int) -> Int {
      min(max(Int((value ?? 0).rounded(.down)) + side, Int(low) - margin), Int(high) + margin)
    }
    // Nothing is painted beyond the clip.
    let left = edge(corners.map(\.x).min(), clip.left, clip.right, -margin)
    let right = edge(corners.map(\.x).max(), clip.left, clip.right, margin + 1)
    let top = edge(corners.map(\.y).min(), clip.top, clip.bottom, -margin)
    let bottom = edge(corners.map(\.y).max(), clip.top, clip.bottom, margin + 1)
    guard left < right, top < bottom else { return }
    let (width, height) = (right - left, bottom - top)
    let plain = c.pointee.cairo_image_surface_create(CAIRO_FORMAT_A8, CInt(width), CInt(height))
    let wide = c.pointee.cairo_image_surface_create(CAIRO_FORMAT_A8, CInt(width), CInt(height))
    defer {
      c.pointee.cairo_surface_destroy(plain)
      c.pointee.cairo_surface_destroy(wide)
    }
    let brush = c.pointee.cairo_create(plain)
    c.pointee.cairo_translate(brush, -Double(left), -Double(top))
    text(brush)
    c.pointee.cairo_destroy(brush)
    c.pointee.cairo_surface_flush(plain)
    c.pointee.cairo_surface_flush(wide)
    guard let from = c.pointee.cairo_image_surface_get_data(plain), let to = c.pointee.cairo_image_surface_get_data(wide) else { return }
    ccairo_widen(from, to, Int(c.pointee.cairo_image_surface_get_stride(plain)), CInt(width), CInt(height), radius)
    c.pointee.cairo_surface_mark_dirty(wide)
    c.pointee.cairo_mask_surface(cairo, wide, Double(left), Double(top))
  }

  // MARK: Along a line

  func drawText(_ text: String, _ font: Font, along positions: UnsafeBufferPointer<Float>) throws(PaintFault) {
    let layout = try painter.texts.layout(text, font, nil)
    guard let line = MeasuredLine(positions, scale), try begin(font) else { return }
    let length = layout.width * scale
    var start = (line.length - length) / 2
    let (first, last) = (line.place(start), line.place(start + length))
    // From the left to the right, or a text would be upside down.
    let isReversed = first.x > last.x
    if isReversed { start += length }
    let step = isReversed ? -scale : scale
    let clusters = layout.clusters()
    let drop = layout.ascent - layout.height / 2
    let places = clusters.map { cluster in
      let place = line.place(start + (cluster.x + cluster.width / 2) * step)
      return (x: place.x, y: place.y, angle: place.angle + (isReversed ? .pi : 0))
    }
    func each(_ target: OpaquePointer?, _ draw: (PangoCluster) -> Void) {
      for (cluster, place) in zip(clusters, places) { turned(target, (place.x, place.y), place.angle) { draw(cluster) } }
    }
    func show(_ target: OpaquePointer?) {
      each(target) { cluster in
        c.pointee.cairo_move_to(target, -cluster.width / 2, drop)
        cluster.withGlyphs { c.pointee.pango_cairo_show_glyph_string(target, cluster.font, $0) }
      }
    }
    if isOfNumbers {
      each(cairo) { cluster in
        c.pointee.cairo_rectangle(cairo, -cluster.width / 2, -layout.height / 2, cluster.width, layout.height)
      }
      fillBoxes(font)
      return
    }
    if font.hasHalo {
      let reach = (layout.height + layout.overhang + (clusters.map(\.width).max() ?? 0)) * scale
      let corners = places.flatMap { [($0.x - reach, $0.y - reach), ($0.x + reach, $0.y + reach)] }
      drawHalo(font, around: corners, text: show) {
        each(cairo) { cluster in
          c.pointee.cairo_move_to(cairo, -cluster.width / 2, drop)
          cluster.withGlyphs { c.pointee.pango_cairo_glyph_string_path(cairo, cluster.font, $0) }
        }
      }
    }
    setSource(font.color)
    show(cairo)
    c.pointee.cairo_new_path(cairo)
  }
}

/// Glyphs that stay together.
struct PangoCluster {
  let font: OpaquePointer?
  fileprivate let glyphs: UnsafeMutableBufferPointer<PangoGlyphInfo>
  /// From the left end of the text to its own.
  let x: Double
  let width: Double

  func withGlyphs(_ body: (UnsafeMutablePointer<PangoGlyphString>) -> Void) {
    // Shapers alone ask for the clusters of a part.
    var clusters = [CInt](repeating: 0, count: glyphs.count)
    clusters.withUnsafeMutableBufferPointer { clusters in
      var part = PangoGlyphString(
        num_glyphs: CInt(glyphs.count), glyphs: glyphs.baseAddress, log_clusters: clusters.baseAddress, space: CInt(glyphs.count))
      body(&part)
    }
  }
}

extension TextLayout {
  /// The clusters of the first line from the left to the right. They are valid as long as the layout.
  func clusters() -> [PangoCluster] {
    var clusters: [PangoCluster] = []
    var x: CInt = 0
    var run = c.pointee.pango_layout_get_line_readonly(handle, 0)?.pointee.runs
    while let list = run?.pointee {
      run = list.next
      guard let item = list.data?.pointee, let string = item.glyphs?.pointee, let glyphs = string.glyphs,
        let starts = string.log_clusters
      else { continue }
      var next = 0
      while next < Int(string.num_glyphs) {
        let first = next
        var width: CInt = 0
        while next < Int(string.num_glyphs), starts[next] == starts[first] {
          width += glyphs[next].width
          next += 1
        }
        let unit = 1 / Double(CCAIRO_PANGO_SCALE)
        clusters.append(
          PangoCluster(
            font: item.item?.pointee.font, glyphs: UnsafeMutableBufferPointer(start: glyphs + first, count: next - first),
            x: Double(x) * unit, width: Double(width) * unit))
        x += width
      }
    }
    return clusters
  }
}

/// A line whose places are found by their distance along it.
private struct MeasuredLine {
  private var points: [(x: Double, y: Double)] = []
  /// Of each point from the first.
  private var distances: [Double] = []
  var length: Double { distances.last ?? 0 }

  /// Nil for a line that has no length.
  init?(_ positions: UnsafeBufferPointer<Float>, _ scale: Double) {
    for index in 0..<positions.count / 2 {
      let (x, y) = (Double(positions[2 * index]) * scale, Double(positions[2 * index + 1]) * scale)
      guard abs(x) < 1e6, abs(y) < 1e6 else { continue }
      guard let last = points.last else {
        points.append((x, y))
        distances.append(0)
        continue
      }
      let step = ((x - last.x) * (x - last.x) + (y - last.y) * (y - last.y)).squareRoot()
      guard step > 1e-6 else { continue }
      points.append((x, y))
      distances.append(length + step)
    }
    guard points.count > 1 else { return nil }
  }

  /// Beyond its ends a line goes straight on. The angle is that of the line.
  func place(_ distance: Double) -> (x: Double, y: Double, angle: Double) {
    var (low, high) = (0, points.count - 2)
    while low < high {
      let middle = (low + high + 1) / 2
      if distances[middle] <= distance { low = middle } else { high = middle - 1 }
    }
    let (from, to) = (points[low], points[low + 1])
    let share = (distance - distances[low]) / (distances[low + 1] - distances[low])
    return (from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share, atan2(to.y - from.y, to.x - from.x))
  }
}
