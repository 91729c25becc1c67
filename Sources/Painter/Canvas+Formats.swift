// What a picture becomes when all is painted: the bytes of its format.

import CCairo
import Pictures

extension Canvas {
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
}
