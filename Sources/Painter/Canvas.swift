// One picture while it is painted: its surface, and its commands one by one.

import CCairo
import Pictures
import Platform

/// Takes the bytes of a picture.
final class Sink {
  private var write: (UnsafeRawBufferPointer) -> Bool
  /// Those that are kept to the end.
  var kept: [UInt8]?

  /// - Parameter keeps: whether they are kept, to be changed at the end.
  init(keeps: Bool, _ write: @escaping (UnsafeRawBufferPointer) -> Bool) {
    self.write = write
    if keeps { kept = [] }
  }

  func callAsFunction(_ bytes: UnsafeRawPointer?, _ count: Int) -> Bool {
    let bytes = UnsafeRawBufferPointer(start: bytes, count: count)
    guard kept == nil else {
      kept?.append(contentsOf: bytes)
      return true
    }
    return write(bytes)
  }

  /// Takes what follows elsewhere.
  func begin(_ write: @escaping (UnsafeRawBufferPointer) -> Bool) { self.write = write }

  /// Takes nothing until it begins anew.
  func pause() { write = { _ in false } }

  /// Passes on what was kept.
  func flush(_ bytes: [UInt8]) -> Bool {
    kept = nil
    return bytes.withUnsafeBytes(write)
  }
}

/// A picture. Its unit is a pixel, or what the format has in its place.
final class Canvas {
  /// What ends with a later command.
  private enum Open { case group(opacity: Double), hidden, clip(Box) }

  /// Whole pixels.
  struct Box {
    var left, top, right, bottom: Int32
  }

  let painter: Painter
  let c: UnsafePointer<ccairo_functions>
  let job: PictureJob
  let surface: OpaquePointer
  let cairo: OpaquePointer
  let sink: Sink
  /// Units to a device-independent pixel.
  let scale: Double
  let isVector: Bool
  /// For a picture of numbers: for each number that the pixels have, from 1, the item.
  private(set) var items: [UInt32]?
  private var item: UInt32 = 0
  private var open: [Open] = []
  /// How many open groups are not seen.
  private var hidden = 0
  /// What is visible of an image.
  private(set) var clip: Box

  private var marker: Marker?
  private var stroke: Stroke?
  private var fill: Fill?
  private var font: Font?
  var hasImages = false
  var hatches: [Fill: OpaquePointer] = [:]
  /// Shapes that wait for those that follow them, to be painted by several threads.
  var shapes = ccairo_shapes()

  init(_ painter: Painter, _ job: PictureJob, _ write: @escaping (UnsafeRawBufferPointer) -> Bool) throws(PaintFault) {
    (self.painter, self.job) = (painter, job)
    let c = painter.c
    self.c = c
    sink = Sink(keeps: job.format == .svg, write)
    guard job.isPaintable else { throw .failed(reason: "the picture has no size that can be painted") }
    isVector = job.format == .svg || job.format == .pdf
    let (width, height) = isVector ? (0, 0) : job.pixels
    clip = Box(left: 0, top: 0, right: Int32(width), bottom: Int32(height))
    let stream: cairo_write_func_t = { closure, bytes, count in
      guard let closure else { return CAIRO_STATUS_WRITE_ERROR }
      let sink = Unmanaged<Sink>.fromOpaque(closure).takeUnretainedValue()
      return sink(bytes, Int(count)) ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR
    }
    let closure = Unmanaged.passUnretained(sink).toOpaque()
    let surface: OpaquePointer?
    switch job.format {
    case .svg:
      scale = 1
      surface = c.pointee.cairo_svg_surface_create_for_stream(stream, closure, job.width, job.height)
      c.pointee.cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PX)
    case .pdf:
      scale = 0.75
      surface = c.pointee.cairo_pdf_surface_create_for_stream(stream, closure, job.width * scale, job.height * scale)
      // The same picture has the same bytes whenever it is made.
      c.pointee.cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, "2000-01-01T00:00:00Z")
    case .png:
      scale = job.ratio
      surface = c.pointee.cairo_image_surface_create(CAIRO_FORMAT_ARGB32, CInt(width), CInt(height))
    case .items:
      scale = job.ratio
      surface = c.pointee.cairo_image_surface_create(CAIRO_FORMAT_RGB24, CInt(width), CInt(height))
      items = []
    }
    guard let surface, let cairo = c.pointee.cairo_create(surface) else { throw .failed(reason: "Cairo gives no surface") }
    (self.surface, self.cairo) = (surface, cairo)
    try check()
    c.pointee.cairo_set_fill_rule(cairo, CAIRO_FILL_RULE_EVEN_ODD)
    if items != nil { c.pointee.cairo_set_antialias(cairo, CAIRO_ANTIALIAS_NONE) }
  }

  func beginPage() throws(PaintFault) {
    if job.background & 0xff != 0, items == nil {
      setSource(job.background)
      c.pointee.cairo_paint(cairo)
    }
    try check()
  }

  /// Ends a page that another follows.
  func endPage() throws(PaintFault) {
    c.pointee.cairo_show_page(cairo)
    try check()
    sink.pause()
  }

  deinit {
    free(shapes.places)
    free(shapes.runs)
    free(shapes.shapes)
    for pattern in hatches.values { c.pointee.cairo_pattern_destroy(pattern) }
    c.pointee.cairo_destroy(cairo)
    c.pointee.cairo_surface_destroy(surface)
  }

  func check() throws(PaintFault) {
    for status in [c.pointee.cairo_status(cairo), c.pointee.cairo_surface_status(surface)] where status != CAIRO_STATUS_SUCCESS {
      throw .failed(reason: c.pointee.cairo_status_to_string(status).map { String(cString: $0) } ?? "Cairo failed")
    }
  }

  var isOfNumbers: Bool { items != nil }

  func setSource(_ color: UInt32) { setSource(color, of: cairo) }

  func setSource(_ color: UInt32, of cairo: OpaquePointer?) {
    func channel(_ shift: UInt32) -> Double { Double(color >> shift & 0xff) / 255 }
    c.pointee.cairo_set_source_rgba(cairo, channel(24), channel(16), channel(8), channel(0))
  }

  /// Sets the colour, or in a picture of numbers the next number; false if nothing is to be seen.
  func beginShape(_ color: UInt32) throws(PaintFault) -> Bool {
    guard color & 0xff != 0 else { return false }
    guard isOfNumbers else {
      setSource(color)
      return true
    }
    setSource(try numbers(1) << 8 | 0xff)
    return true
  }

  /// The first of further numbers, for the item, or for points that count on from it.
  func numbers(_ count: Int) throws(PaintFault) -> UInt32 {
    let first = (items?.count ?? 0) + 1
    guard first + count < 1 << 24 else { throw .failed(reason: "more is drawn than a picture of numbers can tell apart") }
    for index in 0..<count { items?.append(item &+ UInt32(truncatingIfNeeded: index)) }
    return UInt32(first)
  }

  // MARK: Commands

  func draw(_ words: UnsafeRawBufferPointer) throws(PaintFault) {
    var reader = PictureReader(words)
    while let next = try reader.next() { try draw(next) }
    try paintShapes()
    guard open.isEmpty else { throw .malformed }
    try check()
  }

  private func draw(_ command: PictureCommand) throws(PaintFault) {
    switch command {
    case .points, .text, .textAlong, .image, .beginGroup, .endGroup, .beginClip, .endClip: try paintShapes()
    default: break
    }
    switch command {
    case .set(let marker): self.marker = marker
    case .setStroke(let stroke): self.stroke = stroke
    case .setFill(let fill): self.fill = fill
    case .setFont(let font): self.font = font
    case .item(let number): item = number
    case .beginGroup(let opacity): beginGroup(opacity.isFinite ? min(max(Double(opacity), 0), 1) : 1)
    case .endGroup, .endClip: try end(command)
    case .beginClip(let low, let high): beginClip(low, high)
    case .points, .lines, .area, .text, .textAlong, .image: if hidden == 0 { try show(command) }
    }
  }

  private func show(_ command: PictureCommand) throws(PaintFault) {
    switch command {
    case .points(let positions):
      guard let marker else { throw .malformed }
      try drawPoints(positions, marker)
    case .lines(let lines):
      guard let stroke else { throw .malformed }
      guard stroke.width > 0 else { return }
      if stroke.dashes == .solid, try add(lines, width: lineWidth(stroke), color: stroke.color) { return }
      guard try beginShape(stroke.color) else { return }
      draw(lines, stroke)
    case .area(let rings):
      guard let fill else { throw .malformed }
      if fill.hatch == .solid, try add(rings, width: 0, color: fill.color) { return }
      guard try beginShape(fill.color) else { return }
      for ring in rings where addPath(ring[...]) != nil { c.pointee.cairo_close_path(cairo) }
      if fill.hatch != .solid, !isOfNumbers { c.pointee.cairo_set_source(cairo, hatch(fill)) }
      c.pointee.cairo_fill(cairo)
    case .text(let text, let position, let angle, let anchor):
      guard let font else { throw .malformed }
      guard position.x.isFinite, position.y.isFinite, angle.isFinite else { return }
      try drawText(text, font, at: (Double(position.x) * scale, Double(position.y) * scale), angle, anchor)
    case .textAlong(let text, let line):
      guard let font else { throw .malformed }
      try drawText(text, font, along: line)
    case .image(let pixels, let width, let height, let low, let high):
      try drawImage(pixels, width, height, low, high)
    default: break
    }
  }

  private func beginGroup(_ opacity: Double) {
    // A picture of numbers has no opacity, and one of 1 needs no picture of its own.
    if opacity == 0 {
      hidden += 1
      open.append(.hidden)
    } else {
      let opacity = isOfNumbers ? 1 : opacity
      if opacity < 1 { c.pointee.cairo_push_group(cairo) }
      open.append(.group(opacity: opacity))
    }
  }

  private func beginClip(_ low: SIMD2<Float>, _ high: SIMD2<Float>) {
    open.append(.clip(clip))
    c.pointee.cairo_save(cairo)
    var edges = [low.x, low.y, high.x, high.y].map { $0.isFinite ? min(max(Double($0) * scale, -1e6), 1e6) : 0 }
    if !isVector {
      // To whole pixels, so that boxes that touch leave no seam.
      edges = edges.map { $0.rounded() }
      let whole = edges.map { Int32($0) }
      clip = Box(
        left: max(clip.left, whole[0]), top: max(clip.top, whole[1]), right: min(clip.right, whole[2]),
        bottom: min(clip.bottom, whole[3]))
    }
    c.pointee.cairo_rectangle(cairo, edges[0], edges[1], max(edges[2] - edges[0], 0), max(edges[3] - edges[1], 0))
    c.pointee.cairo_clip(cairo)
  }

  private func end(_ command: PictureCommand) throws(PaintFault) {
    switch (open.popLast(), command) {
    case (.hidden, .endGroup): hidden -= 1
    case (.group(let opacity), .endGroup):
      guard opacity < 1 else { return }
      c.pointee.cairo_pop_group_to_source(cairo)
      c.pointee.cairo_paint_with_alpha(cairo, opacity)
    case (.clip(let outer), .endClip):
      c.pointee.cairo_restore(cairo)
      clip = outer
    default: throw .malformed
    }
  }
}
