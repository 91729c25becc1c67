// A picture as a list of what is to be drawn, bottom first, in 32-bit words: how it is made.

/// What a word says that follows; each is read by ``PictureReader``.
enum Code: UInt32 {
  case marker, stroke, fill, font, item, points, lines, area, text, textAlong, image, beginGroup, endGroup, beginClip, endClip
}

/// Writes what is to be drawn. Styles hold until the next of their kind. Positions are in device-independent pixels from the
/// top left corner of the picture.
///
/// ```swift
/// var picture = PictureWriter()
/// picture.set(Marker(.circle, color: 0xff0000ff, size: 8))
/// picture.points([SIMD2(10, 20), SIMD2(30, 40)])
/// ```
public struct PictureWriter: Sendable {
  public private(set) var words: [UInt32] = []
  private var marker: Marker?
  private var stroke: Stroke?
  private var fill: Fill?
  private var font: Font?
  /// Where the list of points begins that further points are appended to.
  private var openPoints: Int?

  public init() {}

  private mutating func begin(_ code: Code) {
    openPoints = nil
    words.append(code.rawValue)
  }

  private mutating func append(_ number: Float) { words.append(number.bitPattern) }

  private mutating func append(_ position: SIMD2<Float>) {
    words.append(position.x.bitPattern)
    words.append(position.y.bitPattern)
  }

  /// The number of bytes, then the bytes, filled up to whole words.
  private mutating func append(_ text: String) {
    let bytes = Array(text.utf8)
    words.append(UInt32(bytes.count))
    for start in stride(from: 0, to: bytes.count, by: 4) {
      words.append(bytes[start..<min(start + 4, bytes.count)].reversed().reduce(0) { $0 << 8 | UInt32($1) })
    }
  }

  private mutating func append(_ stroke: Stroke?) {
    words.append(stroke == nil ? 0 : 1)
    guard let stroke else { return }
    words.append(stroke.dashes.rawValue)
    words.append(stroke.color)
    append(stroke.width)
  }

  // MARK: Styles

  public mutating func set(_ marker: Marker) {
    guard marker != self.marker else { return }
    self.marker = marker
    begin(.marker)
    words.append(marker.shape.rawValue)
    words.append(marker.color)
    append(marker.size)
    append(marker.angle)
    append(marker.offset)
    append(marker.outline)
  }

  public mutating func set(_ stroke: Stroke) {
    guard stroke != self.stroke else { return }
    self.stroke = stroke
    begin(.stroke)
    append(stroke)
  }

  public mutating func set(_ fill: Fill) {
    guard fill != self.fill else { return }
    self.fill = fill
    begin(.fill)
    words.append(fill.hatch.rawValue)
    words.append(fill.color)
  }

  public mutating func set(_ font: Font) {
    guard font != self.font else { return }
    self.font = font
    begin(.font)
    append(font.family)
    append(font.size)
    words.append(font.slant.rawValue)
    words.append(font.isBold ? 1 : 0)
    words.append(font.color)
    words.append(font.haloColor)
    append(font.haloWidth)
  }

  // MARK: What is drawn

  /// Numbers what is drawn next, for pictures of numbers: each point of a list counts on by one; all else keeps the number.
  public mutating func item(_ number: UInt32) {
    begin(.item)
    words.append(number)
  }

  /// Draws a marker at each position, in order.
  public mutating func points(_ positions: some Collection<SIMD2<Float>>) {
    guard !positions.isEmpty else { return }
    let start = beginPoints()
    words.reserveCapacity(words.count + 2 * positions.count)
    for position in positions { append(position) }
    words[start] += UInt32(positions.count)
  }

  /// Draws a marker, in one list with the last if nothing came between.
  public mutating func point(_ position: SIMD2<Float>) {
    let start = beginPoints()
    append(position)
    words[start] += 1
  }

  /// The index of the word that counts the points.
  private mutating func beginPoints() -> Int {
    if let openPoints { return openPoints }
    begin(.points)
    words.append(0)
    openPoints = words.count - 1
    return words.count - 1
  }

  /// Strokes lines; all are one figure, so that what overlaps is not drawn twice.
  public mutating func lines(_ lines: [[SIMD2<Float>]]) { append(.lines, lines) }

  /// Fills the inside of rings; they are closed when drawn.
  public mutating func area(_ rings: [[SIMD2<Float>]]) { append(.area, rings) }

  private mutating func append(_ code: Code, _ runs: [[SIMD2<Float>]]) {
    let runs = runs.filter { !$0.isEmpty }
    guard !runs.isEmpty else { return }
    begin(code)
    words.append(UInt32(runs.count))
    for run in runs {
      words.append(UInt32(run.count))
      for position in run { append(position) }
    }
  }

  /// Draws a text, turned about its point. Lines are separated by U+000A.
  public mutating func text(_ text: String, at position: SIMD2<Float>, angle: Float = 0, _ anchor: Anchor) {
    begin(.text)
    append(text)
    append(position)
    append(angle)
    words.append(anchor.horizontal.rawValue)
    words.append(anchor.vertical.rawValue)
  }

  /// Draws one line of text along a line, centered on the middle of its length, its vertical middle on the line.
  public mutating func text(_ text: String, along line: [SIMD2<Float>]) {
    begin(.textAlong)
    append(text)
    words.append(UInt32(line.count))
    for position in line { append(position) }
  }

  /// Draws pixels, premultiplied 0xAARRGGBB in rows from the top, into a box.
  public mutating func image(_ pixels: [UInt32], width: Int, in box: (min: SIMD2<Float>, max: SIMD2<Float>)) {
    guard width > 0, pixels.count >= width else { return }
    begin(.image)
    append(box.min)
    append(box.max)
    words.append(UInt32(width))
    words.append(UInt32(pixels.count / width))
    words += pixels.prefix(pixels.count / width * width)
  }

  /// Draws what follows, to the end of the group, as one picture with an opacity from 0 to 1.
  public mutating func beginGroup(opacity: Float) {
    begin(.beginGroup)
    append(opacity)
  }

  public mutating func endGroup() { begin(.endGroup) }

  /// Draws what follows, to the end of the clip, only within a box.
  public mutating func beginClip(_ box: (min: SIMD2<Float>, max: SIMD2<Float>)) {
    begin(.beginClip)
    append(box.min)
    append(box.max)
  }

  public mutating func endClip() { begin(.endClip) }
}
