// What is painted where: markers, lines, areas, images, groups and clips, at known pixels.

import CCairo
import Glibc
import Painter
import Pictures
import Testing

private let red: UInt32 = 0xff0000ff
private let blue: UInt32 = 0x0000ffff

@Suite struct PaintingTests {
  private func square(_ low: Float, _ high: Float) -> [SIMD2<Float>] {
    [SIMD2(low, low), SIMD2(high, low), SIMD2(high, high), SIMD2(low, high)]
  }

  @Test(arguments: Marker.Shape.allCases, [12.0, 120.0])
  func `a marker has its shape, as a stamp and as a large one`(shape: Marker.Shape, size: Double) throws {
    let side = Int(size * 1.5) + 4
    let middle = Float(side) / 2
    let picture = try paint(side, side) { picture in
      let outline = Stroke(color: red, width: 2)
      let isOfLines = shape == .cross || shape == .x
      picture.set(Marker(shape, color: red, size: Float(size), outline: isOfLines ? outline : nil))
      picture.point(SIMD2(middle, middle))
    }
    func isPainted(_ x: Double, _ y: Double) -> Bool {
      // Shares of the half size from the middle.
      picture.alpha(Int(Double(middle) + x * size / 2), Int(Double(middle) + y * size / 2)) > 127
    }
    #expect(isPainted(0, 0))
    let corner = isPainted(-0.8, -0.8), top = isPainted(0, -0.8), low = isPainted(0.8, 0.8), inside = isPainted(0.4, 0.1)
    switch shape {
    case .circle: #expect(!corner && top && !low && inside)
    case .cross: #expect(!corner && top && !low && !isPainted(0.4, 0.4))
    case .diamond: #expect(!corner && top && !low && inside)
    case .square: #expect(corner && top && low && inside)
    case .triangle: #expect(!corner && low && inside)
    case .x: #expect(corner && !top && low && !isPainted(0.6, 0))
    }
    #expect(!isPainted(1.3, 0) && !isPainted(0, 1.3))
  }

  @Test func `an outline lies on the edge, and offset and angle move and turn the marker`() throws {
    let picture = try paint(40, 40) { picture in
      picture.set(Marker(.square, color: red, size: 10, offset: SIMD2(4, -3), outline: Stroke(color: blue, width: 2)))
      picture.point(SIMD2(16, 23))
    }
    let bounds = picture.bounds
    #expect(bounds == (14, 14, 26, 26))
    #expect(picture[20, 20] == red && picture[14, 20] == blue && picture[15, 20] == blue && picture[16, 20] == red)
    let turned = try paint(40, 40) { picture in
      picture.set(Marker(.square, color: red, size: 10, angle: 45))
      picture.point(SIMD2(20, 20))
    }
    #expect(turned.alpha(20, 14) > 200 && turned.alpha(16, 16) < 200)
  }

  @Test func `what comes later lies on top, point by point`() throws {
    let picture = try paint(30, 10) { picture in
      picture.set(Marker(.square, color: red, size: 6))
      picture.point(SIMD2(5, 5))
      picture.set(Marker(.square, color: blue, size: 6))
      picture.points([SIMD2(8, 5), SIMD2(20, 5)])
      picture.set(Stroke(color: red, width: 2))
      picture.lines([[SIMD2(15, 5), SIMD2(25, 5)]])
    }
    #expect(picture[4, 5] == red && picture[6, 5] == blue && picture[20, 5] == red && picture[20, 3] == blue)
  }

  @Test func `lines that overlap in one figure are painted once, and rings leave holes`() throws {
    let picture = try paint(40, 40) { picture in
      picture.set(Stroke(color: 0xff000080, width: 4))
      picture.lines([[SIMD2(0, 10), SIMD2(40, 10)], [SIMD2(20, 0), SIMD2(20, 30)]])
      picture.set(Fill(color: blue))
      picture.area([square(22, 38), square(26, 34)])
    }
    #expect(picture[20, 10] == 0xff000080 && picture[5, 10] == 0xff000080)
    #expect(picture[24, 24] == blue && picture.alpha(30, 30) == 0)
  }

  @Test(arguments: [CInt(2), 3, 8]) func `small shapes have the same pixels for any number of threads`(threads: CInt) throws {
    func painted(_ threads: CInt) throws -> [UInt32] {
      var shapes = ccairo_shapes()
      defer {
        free(shapes.places)
        free(shapes.runs)
        free(shapes.shapes)
      }
      for index in 0..<2000 {
        // Some reach beyond the picture, and all beyond the rows of one thread.
        let middle = SIMD2(Float(index * 37 % 211), Float(index * 53 % 157))
        let places = (0...6).flatMap { corner in
          let angle = Float(corner % 6) + Float(index) / 7, radius = Float(1 + (index + corner % 6) % 23)
          return [middle.x + radius * cos(angle), middle.y + radius * sin(angle)]
        }
        #expect(ccairo_begin_shape(&shapes) && ccairo_add_run(&shapes, places, 7, 1.3))
        #expect(ccairo_end_shape(&shapes, 0, 0, 200, 150, index % 3 == 0 ? 0 : Double(index % 5), index % 2 == 0 ? red : 0x0000ff80))
      }
      var pixels = [UInt32](repeating: 0, count: 200 * 150)
      let isDone = try pixels.withUnsafeMutableBufferPointer { pixels in
        var target = ccairo_target(pixels: try #require(pixels.baseAddress), stride: 200, left: 0, top: 0, right: 200, bottom: 150)
        return ccairo_paint_shapes(&shapes, &target, 0, 0, threads)
      }
      #expect(isDone)
      return pixels
    }
    #expect(try painted(threads) == painted(1))
  }

  @Test func `a small shape looks as it does among large ones, which Cairo paints`() throws {
    let star = (0...10).map { corner in
      let angle = Float(corner % 10) * .pi / 5, radius: Float = corner % 2 == 0 ? 24 : 9
      return SIMD2(30 + radius * cos(angle), 30 + radius * sin(angle))
    }
    for width: Float in [0.6, 1, 3, 9] {
      func draw(_ far: [[SIMD2<Float>]]) throws -> Pixels {
        try paint(400, 400, background: 0xffffffff) { picture in
          picture.set(Fill(color: blue))
          picture.area([star] + far)
          picture.set(Stroke(color: red, width: width))
          picture.lines([star] + far)
        }
      }
      let far = [SIMD2<Float>(380, 380), SIMD2(399, 380), SIMD2(399, 399), SIMD2(380, 380)]
      let (own, other) = (try draw([]), try draw([far]))
      var differences: [Int] = []
      for place in 0..<3600 {
        let (one, two) = (own[place % 60, place / 60], other[place % 60, place / 60])
        differences += [0, 8, 16, 24].map { abs(Int(one >> $0 & 255) - Int(two >> $0 & 255)) }
      }
      // Where both sides of a sharp corner cover parts of one pixel, the parts are added.
      #expect(differences.count { $0 > 40 } < 30 && differences.allSatisfy { $0 < 110 }, "\(width)")
    }
  }

  @Test(arguments: [UInt32(0xff0000ff), 0xff000080], [Stroke.Dashes.solid, .dash])
  func `a long line, which is painted in pieces, looks like a short one`(color: UInt32, dashes: Stroke.Dashes) throws {
    func draw(_ count: Int) throws -> Pixels {
      try paint(220, 20) { picture in
        picture.set(Stroke(dashes: dashes, color: color, width: 4))
        picture.lines([(0...count).map { SIMD2(10 + 200 * Float($0) / Float(count), 10) }, [SIMD2(100, 0), SIMD2(100, 20)]])
      }
    }
    let short = try draw(100), long = try draw(20_000)
    let differences = zip(short.bytes, long.bytes).map { abs(Int($0) - Int($1)) }
    #expect(differences.count { $0 > 40 } < 100 && short[50, 10] == color)
  }

  @Test(arguments: [1.0, 1.5, 2, 3])
  func `a hatch is crisp at any ratio`(ratio: Double) throws {
    let picture = try paint(40, 40, ratio: ratio) { picture in
      picture.set(Fill(.horizontal, color: red))
      picture.area([square(-10, 50)])
    }
    let step = Int((8 * ratio).rounded()), width = max(Int(ratio.rounded()), 1)
    for y in 0..<picture.height { #expect(picture[7, y] == (y % step < width ? red : 0), "row \(y)") }
  }

  @Test func `a group is one picture with its opacity`() throws {
    let picture = try paint(20, 20, background: 0xffffffff) { picture in
      picture.beginGroup(opacity: 0.5)
      picture.set(Fill(color: red))
      picture.area([square(0, 10)])
      picture.set(Marker(.square, color: blue, size: 8))
      picture.point(SIMD2(5, 5))
      picture.endGroup()
      picture.beginGroup(opacity: 0)
      picture.area([square(10, 20)])
      picture.endGroup()
    }
    #expect([0x7f7fffff, 0x8080ffff].contains(picture[5, 5]) && [0xff7f7fff, 0xff8080ff].contains(picture[0, 0]))
    #expect(picture[15, 15] == 0xffffffff)
  }

  @Test func `a clip cuts shapes and stamps alike`() throws {
    let picture = try paint(40, 40) { picture in
      picture.beginClip((min: SIMD2(10, 10), max: SIMD2(20, 20)))
      picture.beginGroup(opacity: 0.9)
      picture.set(Fill(color: red))
      picture.area([square(0, 15)])
      picture.set(Marker(.square, color: blue, size: 12))
      picture.points([SIMD2(20, 20), SIMD2(0, 0)])
      picture.endGroup()
      picture.endClip()
      picture.set(Marker(.square, color: blue, size: 2))
      picture.point(SIMD2(35, 35))
    }
    #expect(picture.alpha(9, 12) == 0 && picture.alpha(10, 12) > 200 && picture.alpha(19, 19) > 200 && picture.alpha(20, 19) == 0)
    #expect(picture[35, 35] == blue)
  }

  @Test func `an image is put into its box`() throws {
    let pixels: [UInt32] = [0xffff0000, 0xff00ff00, 0xff0000ff, 0xff000000]
    let plain = try paint(10, 10) { $0.image(pixels, width: 2, in: (min: SIMD2(3, 4), max: SIMD2(5, 6))) }
    #expect(plain[3, 4] == red && plain[4, 4] == 0x00ff00ff && plain[3, 5] == blue && plain[4, 5] == 0x000000ff)
    #expect(plain.bounds == (3, 4, 5, 6))
    let scaled = try paint(20, 20) { $0.image(pixels, width: 2, in: (min: SIMD2(0, 0), max: SIMD2(20, 20))) }
    #expect(scaled[0, 0] == red && scaled[19, 0] == 0x00ff00ff && scaled.alpha(10, 10) == 255)
    #expect(scaled[10, 0] != red && scaled[10, 0] != 0x00ff00ff)
  }

  @Test(arguments: [1.0, 2]) func `a picture of numbers agrees with what is painted`(ratio: Double) throws {
    func draw(_ picture: inout PictureWriter) {
      for (index, shape) in Marker.Shape.allCases.enumerated() {
        picture.item(UInt32(10 + index))
        picture.set(Marker(shape, color: red, size: 10.5, angle: 10, outline: Stroke(color: red, width: 2)))
        picture.points([SIMD2(Float(10 + 20 * index), 10.3)])
      }
      picture.item(4_000_000_000)
      picture.set(Fill(color: red))
      picture.area([[SIMD2(5, 30), SIMD2(50, 33), SIMD2(40, 55)]])
      picture.item(70)
      picture.set(Stroke(dashes: .dash, color: red, width: 3))
      picture.lines([[SIMD2(60, 25), SIMD2(110, 55)]])
    }
    let painted = try paint(130, 60, ratio: ratio, draw)
    let items = try paintItems(130, 60, ratio: ratio, draw)
    var seen = Set<UInt32>()
    for y in 0..<painted.height {
      for x in 0..<painted.width {
        seen.insert(items[y][x])
        // Between, an edge goes through the pixel.
        if painted.alpha(x, y) > 230 { #expect(items[y][x] != 0, "\(x) \(y)") }
        if painted.alpha(x, y) < 25 { #expect(items[y][x] == 0, "\(x) \(y)") }
      }
    }
    #expect(seen == [0, 10, 11, 12, 13, 14, 15, 70, 4_000_000_000])
  }

  @Test func `points of a list count on, and what is hollow or hatched counts as a whole`() throws {
    let items = try paintItems(60, 20) { picture in
      picture.item(7)
      picture.set(Marker(.circle, color: 0, size: 10, outline: Stroke(color: red, width: 1)))
      picture.points([SIMD2(10, 10), SIMD2(25, 10)])
      picture.set(Fill(.horizontal, color: red))
      picture.area([[SIMD2(40, 0), SIMD2(60, 0), SIMD2(60, 20), SIMD2(40, 20)]])
      picture.item(9)
      picture.set(Fill(color: 0xff000000))
      picture.area([square(0, 3)])
    }
    #expect(items[10][10] == 7 && items[10][25] == 8 && items[5][50] == 7 && items[1][1] == 0)
  }

  @Test(arguments: PictureFormat.allCases)
  func `the same words have the same bytes, whatever was painted before`(format: PictureFormat) throws {
    var writer = PictureWriter()
    writer.set(Marker(.diamond, color: red, size: 9, outline: Stroke(dashes: .dot, color: blue, width: 1)))
    writer.points((0..<100).map { SIMD2(Float($0), Float($0 * 7 % 60)) })
    writer.set(Fill(.diagonalCross, color: blue))
    writer.area([square(10, 50)])
    writer.set(Font(size: 14, color: red, haloColor: 0xffffffff, haloWidth: 1))
    writer.text("Ein Text", at: SIMD2(50, 30), angle: 30, Anchor(.center, .middle))
    let job = PictureJob(format, width: 100, height: 60)
    let warm = try Painter()
    let first = try paintBytes(job, writer.words, by: warm)
    #expect(try paintBytes(job, writer.words, by: warm) == first)
    #expect(try paintBytes(job, writer.words, by: Painter()) == first)
    #expect(!first.bytes.isEmpty)
  }

  @Test func `pages of a PDF are painted one after the other, and what is no page of one is refused`() throws {
    let painter = try Painter()
    var writer = PictureWriter()
    writer.set(Font(size: 14, color: red))
    writer.text("Seite", at: SIMD2(50, 30), Anchor(.center, .middle))
    var job = PictureJob(.pdf, width: 100, height: 60, background: 0xffffffff)
    var bytes: [UInt8] = []
    for page in 0..<3 {
      (job.isFirst, job.isLast) = (page == 0, page == 2)
      bytes += try paintBytes(job, writer.words, by: painter).bytes
    }
    #expect(bytes.starts(with: Array("%PDF".utf8)))
    #expect(String(decoding: bytes, as: UTF8.self).contains("/Count 3"))
    #expect(String(decoding: bytes.suffix(16), as: UTF8.self).contains("%%EOF"))
    #expect(throws: PaintFault.self) { try paintBytes(job, writer.words, by: painter) }
    // One that was begun and left leaves nothing in the next picture.
    (job.isFirst, job.isLast) = (true, false)
    _ = try paintBytes(job, writer.words, by: painter)
    let single = PictureJob(.pdf, width: 100, height: 60)
    #expect(try paintBytes(single, writer.words, by: painter).bytes == paintBytes(single, writer.words, by: Painter()).bytes)
  }

  @Test func `a size that cannot be painted, and words that are none, are failures`() throws {
    let painter = try Painter()
    for (width, height, ratio) in [(0.0, 1.0, 1.0), (.nan, 1, 1), (20_000, 1, 1), (10_000, 10, 2), (16_384, 16_385, 1), (1, 1, -1)] {
      #expect(throws: PaintFault.self) {
        _ = try paintBytes(PictureJob(.png, width: width, height: height, ratio: ratio), [], by: painter)
      }
    }
    var writer = PictureWriter()
    writer.beginGroup(opacity: 0.5)
    writer.set(Marker(.circle, color: red, size: 8))
    writer.points([SIMD2(5, 5), SIMD2(.nan, .infinity), SIMD2(-1e30, 3)])
    writer.set(Stroke(color: red, width: .nan))
    writer.lines([[SIMD2(.nan, 5), SIMD2(1e30, 1e30), SIMD2(-1e30, 8)]])
    writer.set(Font(size: 10, color: red))
    writer.text("Text", at: SIMD2(5, 5), Anchor(.left, .top))
    writer.text("along", along: [SIMD2(0, 5), SIMD2(10, 5)])
    writer.image([1, 2, 3, 4], width: 2, in: (min: SIMD2(1, 1), max: SIMD2(3, 3)))
    writer.endGroup()
    let job = PictureJob(.png, width: 20, height: 20)
    _ = try paintBytes(job, writer.words, by: painter)
    // The group does not end in any part.
    for count in 1..<writer.words.count {
      #expect(throws: PaintFault.self) { _ = try paintBytes(job, Array(writer.words.prefix(count)), by: painter) }
    }
    for place in writer.words.indices {
      for value in [UInt32(0), 1, 7, 0x7fff_ffff, 0xffff_ffff] {
        var words = writer.words
        words[place] = value
        _ = try? paintBytes(job, words, by: painter)
        _ = try? words.withUnsafeBytes { try painter.measure($0) }
      }
    }
  }
}
