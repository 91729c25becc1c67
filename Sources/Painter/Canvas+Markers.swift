// Markers: stamps in images, shapes elsewhere.

import CCairo
import Pictures

/// The stamps of one marker, each painted when it is needed.
final class StampSet {
  fileprivate let stamps: UnsafeMutablePointer<ccairo_stamp>
  fileprivate static let count = CCAIRO_PHASES * CCAIRO_PHASES

  fileprivate init() {
    stamps = .allocate(capacity: Self.count)
    stamps.initialize(repeating: ccairo_stamp(), count: Self.count)
  }

  deinit {
    for index in 0..<Self.count {
      stamps[index].pixels?.deallocate()
      stamps[index].runs?.deallocate()
    }
    stamps.deallocate()
  }
}

/// Stamps that were painted, kept from picture to picture.
final class StampStore {
  fileprivate struct Key: Hashable {
    let marker: Marker
    let scale: Double
  }
  /// What pixels a shape covers: its inside and its edge. Colouring it takes a tenth of the time of painting it.
  fileprivate struct Cover {
    let inside: [UInt8]
    let edge: [UInt8]
  }
  fileprivate struct CoverKey: Hashable {
    let marker: Marker
    let scale: Double
    let phase: Int
  }
  fileprivate var sets: [Key: StampSet] = [:]
  private var covers: [CoverKey: Cover] = [:]
  private var coverBytes = 0
  /// Of the sets and their pixels.
  fileprivate var bytes = 0
  fileprivate static let limit = 16 << 20

  fileprivate func set(_ key: Key) -> StampSet {
    if let known = sets[key] { return known }
    if bytes > Self.limit { (sets, bytes) = ([:], 0) }
    let set = StampSet()
    bytes += StampSet.count * MemoryLayout<ccairo_stamp>.stride
    sets[key] = set
    return set
  }

  fileprivate func cover(_ key: CoverKey, make: () -> Cover) -> Cover {
    if let known = covers[key] { return known }
    let cover = make()
    if coverBytes > Self.limit { (covers, coverBytes) = ([:], 0) }
    coverBytes += 2 * cover.inside.count + 256
    covers[key] = cover
    return cover
  }
}

extension Marker {
  /// Whether anything of it is seen.
  fileprivate var isVisible: Bool { size > 0 && size <= 10_000 && (color & 0xff != 0 || visibleOutline != nil) }

  fileprivate var visibleOutline: Stroke? { outline.flatMap { $0.color & 0xff != 0 && $0.width > 0 ? $0 : nil } }

  /// Whether it is made of lines, in the style of the outline.
  fileprivate var isOfLines: Bool { shape == .cross || shape == .x }

  /// From its middle to its farthest edge; corners of outlines included.
  fileprivate var reach: Double { Double(size) * 0.7072 + Double(outline?.width ?? 1) * 1.2 }
}

extension Canvas {
  /// Markers of more pixels are painted one by one.
  private static let largestStamp = 64.0

  func drawPoints(_ positions: UnsafeBufferPointer<Float>, _ marker: Marker) throws(PaintFault) {
    guard marker.isVisible, marker.angle.isFinite, let start = positions.baseAddress else { return }
    let count = positions.count / 2
    let first = isOfNumbers ? try numbers(count) : 0
    let shift = (x: Double(marker.offset.x) * scale, y: Double(marker.offset.y) * scale)
    if !isVector, marker.reach * scale <= Self.largestStamp { return stamp(start, count, marker, shift, first) }
    let margin = marker.reach * scale + 1
    for index in 0..<count {
      let (x, y) = (Double(start[2 * index]) * scale + shift.x, Double(start[2 * index + 1]) * scale + shift.y)
      guard x > -margin, y > -margin, x < job.width * scale + margin, y < job.height * scale + margin else { continue }
      draw(marker, x, y, number: isOfNumbers ? first + UInt32(index) : nil, in: cairo)
    }
  }

  private func stamp(
    _ positions: UnsafePointer<Float>, _ count: Int, _ marker: Marker, _ shift: (x: Double, y: Double), _ first: UInt32
  ) {
    var plain = marker
    plain.offset = .zero
    if isOfNumbers {
      plain.color |= 0xff
      plain.outline = marker.visibleOutline.map { Stroke(dashes: $0.dashes, color: 0xff, width: $0.width) }
    }
    let set = painter.stamps.set(StampStore.Key(marker: plain, scale: scale))
    withPixels { target, offset in
      var done = 0
      while done < count {
        var missing = 0
        done += ccairo_stamp(
          &target, set.stamps, positions + 2 * done, count - done, scale, shift.x + offset.x, shift.y + offset.y,
          isOfNumbers ? first + UInt32(done) : 0, &missing)
        if done < count { set.stamps[missing] = makeStamp(plain, phase: missing) }
      }
    }
  }

  /// Has the pixels of an image, or of its innermost group, changed without Cairo; nil if there are none.
  ///
  /// - Parameter body: gets them with the offset of the picture's corner in them.
  @discardableResult
  func withPixels<R>(_ body: (inout ccairo_target, _ offset: (x: Double, y: Double)) -> R) -> R? {
    guard let image = c.pointee.cairo_get_group_target(cairo) else { return nil }
    c.pointee.cairo_surface_flush(image)
    var offset = (x: 0.0, y: 0.0)
    c.pointee.cairo_surface_get_device_offset(image, &offset.x, &offset.y)
    guard let pixels = c.pointee.cairo_image_surface_get_data(image) else { return nil }
    let (left, top) = (Int32(offset.x), Int32(offset.y))
    var target = ccairo_target(
      pixels: UnsafeMutableRawPointer(pixels).assumingMemoryBound(to: UInt32.self),
      stride: Int(c.pointee.cairo_image_surface_get_stride(image)) / 4, left: max(clip.left + left, 0), top: max(clip.top + top, 0),
      right: min(clip.right + left, c.pointee.cairo_image_surface_get_width(image)),
      bottom: min(clip.bottom + top, c.pointee.cairo_image_surface_get_height(image)))
    defer { c.pointee.cairo_surface_mark_dirty(image) }
    return body(&target, offset)
  }

  private func makeStamp(_ marker: Marker, phase: Int) -> ccairo_stamp {
    let reach = Int32((marker.reach * scale).rounded(.up)) + 1
    let side = Int(2 * reach + 1)
    let cover = self.cover(of: marker, phase: phase, reach: reach)
    let pixels = UnsafeMutablePointer<UInt32>.allocate(capacity: side * side)
    let stroke = marker.visibleOutline?.color ?? (marker.isOfLines ? marker.color : 0)
    ccairo_color(cover.inside, cover.edge, side * side, marker.color, stroke, pixels)
    let runs = UnsafeMutablePointer<ccairo_run>.allocate(capacity: side)
    ccairo_find_runs(pixels, Int32(side), Int32(side), runs)
    painter.stamps.bytes += side * (side * 4 + MemoryLayout<ccairo_run>.stride)
    return ccairo_stamp(pixels: pixels, runs: runs, left: -reach, top: -reach, width: Int32(side), height: Int32(side))
  }

  /// What a marker covers with its point at a phase of the pixel `reach` from the top left.
  private func cover(of marker: Marker, phase: Int, reach: Int32) -> StampStore.Cover {
    var shape = marker
    shape.color = 0xff
    shape.outline = marker.visibleOutline.map { Stroke(dashes: $0.dashes, color: 0xff, width: $0.width) }
    let key = StampStore.CoverKey(marker: shape, scale: scale, phase: phase)
    let phases = Double(CCAIRO_PHASES)
    let place = (x: Double(reach) + Double(phase & 7) / phases, y: Double(reach) + Double(phase >> 3) / phases)
    let side = Int(2 * reach + 1)
    func painted(_ marker: Marker) -> [UInt8] {
      let image = c.pointee.cairo_image_surface_create(CAIRO_FORMAT_A8, CInt(side), CInt(side))
      let brush = c.pointee.cairo_create(image)
      draw(marker, place.x, place.y, number: nil, in: brush)
      c.pointee.cairo_destroy(brush)
      c.pointee.cairo_surface_flush(image)
      defer { c.pointee.cairo_surface_destroy(image) }
      guard let start = c.pointee.cairo_image_surface_get_data(image) else { return [UInt8](repeating: 0, count: side * side) }
      let stride = Int(c.pointee.cairo_image_surface_get_stride(image))
      return (0..<side).flatMap { UnsafeBufferPointer(start: start + $0 * stride, count: side) }
    }
    var (inside, edge) = (shape, shape)
    inside.outline = nil
    if !marker.isOfLines { edge.color = 0 }
    return painter.stamps.cover(key) {
      let nothing = [UInt8](repeating: 0, count: side * side)
      return StampStore.Cover(
        inside: marker.isOfLines ? nothing : painted(inside),
        edge: marker.isOfLines || shape.outline != nil ? painted(edge) : nothing)
    }
  }

  /// Draws a marker with its point at a place.
  private func draw(_ marker: Marker, _ x: Double, _ y: Double, number: UInt32?, in cairo: OpaquePointer?) {
    func setSource(_ color: UInt32) { self.setSource(number.map { $0 << 8 | 0xff } ?? color, of: cairo) }
    addShape(marker, x, y, cairo)
    let outline = marker.visibleOutline ?? (marker.isOfLines ? Stroke(color: marker.color, width: 1) : nil)
    if !marker.isOfLines {
      setSource(marker.color)
      c.pointee.cairo_fill_preserve(cairo)
    }
    if let outline {
      setSource(outline.color)
      let width = Double(outline.width) * scale
      c.pointee.cairo_set_line_width(cairo, width)
      let dashes = outline.dashes.pattern.map { $0 * max(width, scale) }
      c.pointee.cairo_set_dash(cairo, dashes, CInt(dashes.count), 0)
      c.pointee.cairo_set_line_cap(cairo, CAIRO_LINE_CAP_BUTT)
      c.pointee.cairo_set_line_join(cairo, CAIRO_LINE_JOIN_MITER)
      c.pointee.cairo_stroke(cairo)
    }
    c.pointee.cairo_new_path(cairo)
  }

  private func addShape(_ marker: Marker, _ x: Double, _ y: Double, _ cairo: OpaquePointer?) {
    let half = Double(marker.size) * scale / 2
    c.pointee.cairo_new_path(cairo)
    guard marker.shape != .circle else { return c.pointee.cairo_arc(cairo, x, y, half, 0, 2 * .pi) }
    c.pointee.cairo_save(cairo)
    c.pointee.cairo_translate(cairo, x, y)
    c.pointee.cairo_rotate(cairo, Double(marker.angle) * .pi / 180)
    let lines: [[(Double, Double)]] =
      switch marker.shape {
      case .circle: []
      case .square: [[(-1, -1), (1, -1), (1, 1), (-1, 1)]]
      case .diamond: [[(0, -1), (1, 0), (0, 1), (-1, 0)]]
      case .triangle: [[(0, -1), (1, 1), (-1, 1)]]
      case .cross: [[(-1, 0), (1, 0)], [(0, -1), (0, 1)]]
      case .x: [[(-1, -1), (1, 1)], [(-1, 1), (1, -1)]]
      }
    for line in lines {
      for (index, place) in line.enumerated() {
        let add = index == 0 ? c.pointee.cairo_move_to : c.pointee.cairo_line_to
        add(cairo, place.0 * half, place.1 * half)
      }
      if !marker.isOfLines { c.pointee.cairo_close_path(cairo) }
    }
    c.pointee.cairo_restore(cairo)
  }
}
