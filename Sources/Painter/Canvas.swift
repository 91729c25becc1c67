// One picture while it is painted: its surface, and its commands one by one.

import CCairo
import Pictures

/// Takes the bytes of a picture.
final class Sink {
  private let write: (UnsafeRawBufferPointer) -> Bool
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
  private let sink: Sink
  /// Units to a device-independent pixel.
  let scale: Double
  let isVector: Bool
  /// For a picture of numbers: for each number that the pixels have, from 1, the item.
  private var items: [UInt32]?
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
  private var hasImages = false
  private var hatches: [Fill: OpaquePointer] = [:]

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
    if job.background & 0xff != 0, items == nil {
      setSource(job.background)
      c.pointee.cairo_paint(cairo)
    }
  }

  deinit {
    for pattern in hatches.values { c.pointee.cairo_pattern_destroy(pattern) }
    c.pointee.cairo_destroy(cairo)
    c.pointee.cairo_surface_destroy(surface)
  }

  private func check() throws(PaintFault) {
    for status in [c.pointee.cairo_status(cairo), c.pointee.cairo_surface_status(surface)] where status != CAIRO_STATUS_SUCCESS {
      throw .failed(reason: c.pointee.cairo_status_to_string(status).map { String(cString: $0) } ?? "Cairo failed")
    }
  }

  var isOfNumbers: Bool { items != nil }

  func setSource(_ color: UInt32) {
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
    guard open.isEmpty else { throw .malformed }
    try check()
  }

  private func draw(_ command: PictureCommand) throws(PaintFault) {
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
      guard stroke.width > 0, try beginShape(stroke.color) else { return }
      draw(lines, stroke)
    case .area(let rings):
      guard let fill else { throw .malformed }
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

  // MARK: The end

  func finish() throws(PaintFault) {
    switch job.format {
    case .svg, .pdf:
      c.pointee.cairo_surface_finish(surface)
      try check()
      if let kept = sink.kept, !sink.flush(renumbered(kept)) { throw .failed(reason: "the picture cannot be stored") }
    case .png: try encode()
    case .items: try writeItems()
    }
  }

  /// Cairo's SVG with the parts that it numbers through all pictures of a process numbered by themselves.
  private func renumbered(_ svg: [UInt8]) -> [UInt8] {
    let words = ["surface", "image"].map { Array($0.utf8) }
    var made: [UInt8] = []
    made.reserveCapacity(svg.count)
    var numbers: [ArraySlice<UInt8>: Int] = [:]
    var next = 0
    while next < svg.count {
      made.append(svg[next])
      next += 1
      // The name of a part is quoted, or follows a sign.
      guard svg[next - 1] == UInt8(ascii: "\"") || svg[next - 1] == UInt8(ascii: "#"),
        let word = words.first(where: { svg[next...].starts(with: $0) })
      else { continue }
      let start = next + word.count
      let end = svg[start...].firstIndex { $0 < UInt8(ascii: "0") || $0 > UInt8(ascii: "9") } ?? svg.count
      guard end > start else { continue }
      let number = numbers[svg[next..<end], default: numbers.count]
      numbers[svg[next..<end]] = number
      made += word + Array(String(number).utf8)
      next = end
    }
    return made
  }

  /// The pixels of the picture, row by row.
  private func eachRow(_ body: (UnsafeMutableBufferPointer<UInt32>) throws(PaintFault) -> Void) throws(PaintFault) {
    c.pointee.cairo_surface_flush(surface)
    guard let start = c.pointee.cairo_image_surface_get_data(surface) else { throw .failed(reason: "the picture has no pixels") }
    let stride = Int(c.pointee.cairo_image_surface_get_stride(surface))
    let (width, height) = job.pixels
    for row in 0..<height {
      let pixels = UnsafeMutableRawPointer(start + row * stride).assumingMemoryBound(to: UInt32.self)
      try body(UnsafeMutableBufferPointer(start: pixels, count: width))
    }
  }

  private func writeItems() throws(PaintFault) {
    let items = [0] + (items ?? [])
    try eachRow { row throws(PaintFault) in
      for column in row.indices { row[column] = items[Int(row[column] & 0xff_ffff)] }
      guard sink(row.baseAddress, row.count * 4) else { throw .failed(reason: "the picture cannot be stored") }
    }
  }

  private func encode() throws(PaintFault) {
    let isOpaque = job.background & 0xff == 0xff
    guard let context = c.pointee.spng_ctx_new(CInt(SPNG_CTX_ENCODER.rawValue)) else { throw .failed(reason: "libspng has no memory") }
    defer { c.pointee.spng_ctx_free(context) }
    var head = spng_ihdr()
    (head.width, head.height) = (UInt32(job.pixels.width), UInt32(job.pixels.height))
    head.bit_depth = 8
    head.color_type = UInt8((isOpaque ? SPNG_COLOR_TYPE_TRUECOLOR : SPNG_COLOR_TYPE_TRUECOLOR_ALPHA).rawValue)
    var status = c.pointee.spng_set_ihdr(context, &head)
    func proceed(_ next: CInt) { if status == 0 { status = next } }
    proceed(
      c.pointee.spng_set_png_stream(
        context,
        { _, closure, bytes, count in
          guard let closure, let bytes else { return CInt(SPNG_IO_ERROR.rawValue) }
          return Unmanaged<Sink>.fromOpaque(closure).takeUnretainedValue()(bytes, count) ? 0 : CInt(SPNG_IO_ERROR.rawValue)
        }, Unmanaged.passUnretained(sink).toOpaque()))
    proceed(c.pointee.spng_set_option(context, SPNG_IMG_COMPRESSION_LEVEL, 2))
    // Differences of neighbours make images small, and drawings large.
    let filter = hasImages ? SPNG_FILTER_CHOICE_SUB : SPNG_FILTER_CHOICE_NONE
    proceed(c.pointee.spng_set_option(context, SPNG_FILTER_CHOICE, CInt(filter.rawValue)))
    proceed(
      c.pointee.spng_encode_image(
        context, nil, 0, CInt(SPNG_FMT_PNG.rawValue), CInt(SPNG_ENCODE_PROGRESSIVE.rawValue | SPNG_ENCODE_FINALIZE.rawValue)))
    var bytes = [UInt8](repeating: 0, count: job.pixels.width * (isOpaque ? 3 : 4))
    try eachRow { row throws(PaintFault) in
      guard status == 0, let pixels = row.baseAddress else { return }
      ccairo_unpack_row(pixels, row.count, isOpaque, &bytes)
      status = c.pointee.spng_encode_row(context, bytes, bytes.count)
    }
    // SPNG_EOI: the last row was written.
    guard status == SPNG_EOI.rawValue else {
      throw .failed(reason: c.pointee.spng_strerror(status).map { String(cString: $0) } ?? "libspng failed")
    }
  }

  // MARK: Shapes

  /// Appends a run of positions to the path, without those that are too near to the last to be seen. Returns its length; nil if there is none.
  @discardableResult
  private func addPath(_ positions: Slice<UnsafeBufferPointer<Float>>) -> Double? {
    let near = isVector ? 0.1 : 0.25
    let limit = 4e6
    var last: (x: Double, y: Double)?
    var length = 0.0
    for index in stride(from: positions.startIndex, to: positions.endIndex - 1, by: 2) {
      let (x, y) = (Double(positions[index]) * scale, Double(positions[index + 1]) * scale)
      guard x.isFinite, y.isFinite else { continue }
      if let last {
        let (dx, dy) = (x - last.x, y - last.y)
        if abs(dx) < near, abs(dy) < near, index + 3 < positions.endIndex { continue }
        length += (dx * dx + dy * dy).squareRoot()
        c.pointee.cairo_line_to(cairo, min(max(x, -limit), limit), min(max(y, -limit), limit))
      } else {
        c.pointee.cairo_move_to(cairo, min(max(x, -limit), limit), min(max(y, -limit), limit))
      }
      last = (x, y)
    }
    return last.map { _ in length }
  }

  /// Strokes lines as one figure, with the source.
  private func draw(_ lines: [UnsafeBufferPointer<Float>], _ stroke: Stroke) {
    let all = lines.reduce(0) { $0 + $1.count / 2 }
    c.pointee.cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND)
    setStroke(stroke)
    guard !isVector, all > 2 * Self.pieceLimit else {
      for line in lines { addPath(line[...]) }
      c.pointee.cairo_stroke(cairo)
      return
    }
    // Cairo takes a kilobyte for each position of a stroke, so a long one is made of pieces, opaque ones.
    let opacity = Double(stroke.color & 0xff) / 255
    let isGroup = opacity < 1 && !isOfNumbers
    if isGroup {
      c.pointee.cairo_push_group(cairo)
      setSource(stroke.color | 0xff)
    }
    drawPieces(lines, stroke)
    if isGroup {
      c.pointee.cairo_pop_group_to_source(cairo)
      c.pointee.cairo_paint_with_alpha(cairo, opacity)
    }
  }

  private static let pieceLimit = 4096

  private func drawPieces(_ lines: [UnsafeBufferPointer<Float>], _ stroke: Stroke) {
    var waiting = 0
    for line in lines {
      var start = 0
      var length = 0.0
      while start < line.count / 2 {
        let end = min(start + Self.pieceLimit, line.count / 2)
        let added = addPath(line[2 * start..<2 * end])
        waiting += end - start
        if waiting >= Self.pieceLimit || stroke.dashes != .solid {
          setStroke(stroke, from: length)
          c.pointee.cairo_stroke(cairo)
          waiting = 0
        }
        length += added ?? 0
        // The next piece begins where this one ends.
        start = end == line.count / 2 ? end : end - 1
      }
    }
    c.pointee.cairo_stroke(cairo)
  }

  /// - Parameter start: how far the path is from the beginning of the dashes.
  private func setStroke(_ stroke: Stroke, from start: Double = 0) {
    // A picture of numbers shows no line that is thinner than a pixel.
    let width = max(Double(min(stroke.width, 10_000)) * scale, isOfNumbers ? 1 : 0)
    c.pointee.cairo_set_line_width(cairo, width)
    let dashes = stroke.dashes.pattern.map { $0 * max(width, scale) }
    c.pointee.cairo_set_dash(cairo, dashes, CInt(dashes.count), start)
    c.pointee.cairo_set_line_cap(cairo, dashes.isEmpty ? CAIRO_LINE_CAP_ROUND : CAIRO_LINE_CAP_BUTT)
  }

  private func drawImage(
    _ pixels: UnsafeBufferPointer<UInt32>, _ width: Int, _ height: Int, _ low: SIMD2<Float>, _ high: SIMD2<Float>
  ) throws(PaintFault) {
    let edges = [low.x, low.y, high.x, high.y].map { Double($0) * scale }
    let (across, down) = (edges[2] - edges[0], edges[3] - edges[1])
    guard width > 0, height > 0, width < 1 << 15, height < 1 << 15 else { throw .malformed }
    guard edges.allSatisfy({ abs($0) < 1e6 }), across > 0, down > 0, try beginShape(0xff) else { return }
    c.pointee.cairo_rectangle(cairo, edges[0], edges[1], across, down)
    guard !isOfNumbers else { return c.pointee.cairo_fill(cairo) }
    hasImages = true
    // Cairo only reads an image that is a source.
    let bytes = UnsafeMutableRawPointer(mutating: pixels.baseAddress)?.assumingMemoryBound(to: UInt8.self)
    let image = c.pointee.cairo_image_surface_create_for_data(
      bytes, CAIRO_FORMAT_ARGB32, CInt(width), CInt(height), CInt(width * 4))
    let pattern = c.pointee.cairo_pattern_create_for_surface(image)
    var matrix = cairo_matrix_t()
    (matrix.xx, matrix.yy) = (Double(width) / across, Double(height) / down)
    (matrix.x0, matrix.y0) = (-edges[0] * matrix.xx, -edges[1] * matrix.yy)
    c.pointee.cairo_pattern_set_matrix(pattern, &matrix)
    // Beyond its edge an image goes on, so that the edge is not mixed with nothing.
    c.pointee.cairo_pattern_set_extend(pattern, CAIRO_EXTEND_PAD)
    c.pointee.cairo_pattern_set_filter(pattern, matrix.xx == 1 && matrix.yy == 1 ? CAIRO_FILTER_FAST : CAIRO_FILTER_BILINEAR)
    c.pointee.cairo_set_source(cairo, pattern)
    c.pointee.cairo_fill(cairo)
    c.pointee.cairo_set_source_rgba(cairo, 0, 0, 0, 0)
    c.pointee.cairo_pattern_destroy(pattern)
    c.pointee.cairo_surface_destroy(image)
  }

  /// A pattern of lines 1 px wide and about 8 px apart, of whole pixels.
  private func hatch(_ fill: Fill) -> OpaquePointer? {
    if let known = hatches[fill] { return known }
    let isDiagonal = [.forwardDiagonal, .backwardDiagonal, .diagonalCross].contains(fill.hatch)
    let unit = isVector ? 1 : scale
    let side = max((8 * unit * (isDiagonal ? 2.0.squareRoot() : 1)).rounded(), 2)
    let width = isVector ? 1 : max(unit.rounded(), 1)
    let tile = c.pointee.cairo_surface_create_similar(surface, CAIRO_CONTENT_COLOR_ALPHA, CInt(side), CInt(side))
    defer { c.pointee.cairo_surface_destroy(tile) }
    let cairo = c.pointee.cairo_create(tile)
    func channel(_ shift: UInt32) -> Double { Double(fill.color >> shift & 0xff) / 255 }
    c.pointee.cairo_set_source_rgba(cairo, channel(24), channel(16), channel(8), channel(0))
    if [.horizontal, .cross].contains(fill.hatch) { c.pointee.cairo_rectangle(cairo, 0, 0, side, width) }
    if [.vertical, .cross].contains(fill.hatch) { c.pointee.cairo_rectangle(cairo, 0, 0, width, side) }
    c.pointee.cairo_fill(cairo)
    // Beyond the corners too, so that the tiles fit together.
    for shift in [-side, 0, side] where isDiagonal {
      if fill.hatch != .forwardDiagonal {
        c.pointee.cairo_move_to(cairo, shift - side, -side)
        c.pointee.cairo_line_to(cairo, shift + 2 * side, 2 * side)
      }
      if fill.hatch != .backwardDiagonal {
        c.pointee.cairo_move_to(cairo, shift - side, 2 * side)
        c.pointee.cairo_line_to(cairo, shift + 2 * side, -side)
      }
    }
    c.pointee.cairo_set_line_width(cairo, width)
    c.pointee.cairo_stroke(cairo)
    c.pointee.cairo_destroy(cairo)
    let pattern = c.pointee.cairo_pattern_create_for_surface(tile)
    c.pointee.cairo_pattern_set_extend(pattern, CAIRO_EXTEND_REPEAT)
    c.pointee.cairo_pattern_set_filter(pattern, CAIRO_FILTER_NEAREST)
    var matrix = cairo_matrix_t()
    (matrix.xx, matrix.yy) = isVector ? (1 / scale, 1 / scale) : (1, 1)
    c.pointee.cairo_pattern_set_matrix(pattern, &matrix)
    if let pattern { hatches[fill] = pattern }
    return pattern
  }
}
