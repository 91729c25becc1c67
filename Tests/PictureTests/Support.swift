// Pictures painted here and now, as pixels.

import CCairo
import Glibc
import Painter
import Pictures
import Testing

/// A picture of 8-bit red, green, blue and alpha.
struct Pixels {
  let width: Int
  let height: Int
  let bytes: [UInt8]

  /// 0xRRGGBBAA.
  subscript(x: Int, y: Int) -> UInt32 {
    let start = 4 * (y * width + x)
    return bytes[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }

  func alpha(_ x: Int, _ y: Int) -> Int { Int(self[x, y] & 0xff) }

  /// Of what is not transparent: left, top, right, bottom, the last two beyond it.
  var bounds: (left: Int, top: Int, right: Int, bottom: Int) {
    var bounds = (left: width, top: height, right: 0, bottom: 0)
    for y in 0..<height {
      for x in 0..<width where alpha(x, y) > 0 {
        bounds = (min(bounds.left, x), min(bounds.top, y), max(bounds.right, x + 1), max(bounds.bottom, y + 1))
      }
    }
    return bounds
  }
}

func paintBytes(_ job: PictureJob, _ words: [UInt32], by painter: Painter) throws -> (bytes: [UInt8], notes: PaintNotes) {
  var bytes: [UInt8] = []
  let notes = try words.withUnsafeBytes { words in
    try painter.paint(job, words) { part in
      bytes += part
      return true
    }
  }
  return (bytes, notes)
}

/// Paints on nothing.
func paint(
  _ width: Int, _ height: Int, ratio: Double = 1, background: UInt32 = 0, _ draw: (inout PictureWriter) -> Void
) throws -> Pixels {
  var writer = PictureWriter()
  draw(&writer)
  let job = PictureJob(.png, width: Double(width), height: Double(height), ratio: ratio, background: background)
  return try decode(paintBytes(job, writer.words, by: Painter()).bytes)
}

func paintItems(_ width: Int, _ height: Int, ratio: Double = 1, _ draw: (inout PictureWriter) -> Void) throws -> [[UInt32]] {
  var writer = PictureWriter()
  draw(&writer)
  let job = PictureJob(.items, width: Double(width), height: Double(height), ratio: ratio)
  let bytes = try paintBytes(job, writer.words, by: Painter()).bytes
  let numbers = bytes.withUnsafeBytes { Array($0.bindMemory(to: UInt32.self)) }
  let side = job.pixels.width
  return (0..<job.pixels.height).map { Array(numbers[$0 * side..<($0 + 1) * side]) }
}

private func decode(_ png: [UInt8]) throws -> Pixels {
  let library = try #require(dlopen("libspng.so.0", RTLD_NOW))
  func find<F>(_ name: String, _ type: F.Type) throws -> F { unsafeBitCast(try #require(dlsym(library, name)), to: type) }
  let make = try find("spng_ctx_new", (@convention(c) (CInt) -> OpaquePointer?).self)
  let end = try find("spng_ctx_free", (@convention(c) (OpaquePointer?) -> Void).self)
  let setBytes = try find("spng_set_png_buffer", (@convention(c) (OpaquePointer?, UnsafeRawPointer?, Int) -> CInt).self)
  let head = try find("spng_get_ihdr", (@convention(c) (OpaquePointer?, UnsafeMutablePointer<spng_ihdr>) -> CInt).self)
  let decode = try find(
    "spng_decode_image", (@convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, Int, CInt, CInt) -> CInt).self)
  let context = make(0)
  defer { end(context) }
  return try png.withUnsafeBytes { png in
    try #require(setBytes(context, png.baseAddress, png.count) == 0)
    var ihdr = spng_ihdr()
    try #require(head(context, &ihdr) == 0)
    var bytes = [UInt8](repeating: 0, count: Int(ihdr.width) * Int(ihdr.height) * 4)
    let status = bytes.withUnsafeMutableBytes { decode(context, $0.baseAddress, $0.count, CInt(SPNG_FMT_RGBA8.rawValue), 0) }
    try #require(status == 0)
    return Pixels(width: Int(ihdr.width), height: Int(ihdr.height), bytes: bytes)
  }
}
