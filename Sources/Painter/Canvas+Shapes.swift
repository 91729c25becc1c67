// Lines, areas, hatches and images.

import CCairo
import Pictures
import Platform

extension Canvas {
  /// Appends a run of positions to the path, without those that are too near to the last to be seen. Returns its length; nil if there is none.
  @discardableResult
  func addPath(_ positions: Slice<UnsafeBufferPointer<Float>>) -> Double? {
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

  /// The positions that wait at most.
  private static var waitingLimit: Int { 1 << 16 }

  /// Has rings filled or, if the width is not 0, lines of an image stroked without Cairo. Where Cairo is to do it, paints what waits; returns false.
  func add(_ runs: [UnsafeBufferPointer<Float>], width: Double, color: UInt32) throws(PaintFault) -> Bool {
    guard !isVector, !isOfNumbers else { return false }
    guard color & 0xff != 0 else { return true }
    var hasMemory = ccairo_begin_shape(&shapes)
    for run in runs where hasMemory {
      if let start = run.baseAddress { hasMemory = ccairo_add_run(&shapes, start, run.count / 2, scale) }
    }
    guard hasMemory else { throw .failed(reason: "no memory") }
    let isOwn = ccairo_end_shape(&shapes, clip.left, clip.top, clip.right, clip.bottom, width, color)
    if !isOwn || shapes.count > Self.waitingLimit { try paintShapes() }
    return isOwn
  }

  /// Paints the shapes that wait.
  func paintShapes() throws(PaintFault) {
    guard shapes.shape_count > 0 else { return }
    let threads = CInt(clamping: processorCount())
    guard withPixels({ target, offset in ccairo_paint_shapes(&shapes, &target, offset.x, offset.y, threads) }) == true else {
      throw .failed(reason: "no memory")
    }
  }

  /// The width of a line in the picture's units.
  func lineWidth(_ stroke: Stroke) -> Double {
    // A picture of numbers shows no line that is thinner than a pixel.
    max(Double(min(stroke.width, 10_000)) * scale, isOfNumbers ? 1 : 0)
  }

  /// Strokes lines as one figure, with the source.
  func draw(_ lines: [UnsafeBufferPointer<Float>], _ stroke: Stroke) {
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

  private static var pieceLimit: Int { 4096 }

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
    let width = lineWidth(stroke)
    c.pointee.cairo_set_line_width(cairo, width)
    let dashes = stroke.dashes.pattern.map { $0 * max(width, scale) }
    c.pointee.cairo_set_dash(cairo, dashes, CInt(dashes.count), start)
    c.pointee.cairo_set_line_cap(cairo, dashes.isEmpty ? CAIRO_LINE_CAP_ROUND : CAIRO_LINE_CAP_BUTT)
  }

  func drawImage(
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
  func hatch(_ fill: Fill) -> OpaquePointer? {
    if let known = hatches[fill] { return known }
    let isDiagonal = [.forwardDiagonal, .backwardDiagonal, .diagonalCross].contains(fill.hatch)
    let unit = isVector ? 1 : scale
    let side = max((8 * unit * (isDiagonal ? 2.0.squareRoot() : 1)).rounded(), 2)
    let width = isVector ? 1 : max(unit.rounded(), 1)
    let tile = c.pointee.cairo_surface_create_similar(surface, CAIRO_CONTENT_COLOR_ALPHA, CInt(side), CInt(side))
    defer { c.pointee.cairo_surface_destroy(tile) }
    let cairo = c.pointee.cairo_create(tile)
    setSource(fill.color, of: cairo)
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
