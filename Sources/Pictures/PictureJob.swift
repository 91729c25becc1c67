// What a picture is made into.

/// A format of pictures.
public enum PictureFormat: String, Sendable, CaseIterable {
  case png, svg, pdf
  /// A number of 32 bits for each pixel, in rows from the top: what ``PictureWriter/item(_:)`` said of what is drawn on top, else 0.
  case items
}

/// The picture that is made of a list.
public struct PictureJob: Hashable, Sendable {
  public var format: PictureFormat
  /// In device-independent pixels.
  public var width: Double
  public var height: Double
  /// Pixels of the picture to a device-independent pixel, each way; of no meaning for SVG and PDF, where 96 pixels are an inch.
  public var ratio: Double
  /// 0xRRGGBBAA; 0 for transparent.
  public var background: UInt32
  /// Whether a file begins and ends with it; else it is one of several pages of a PDF, which one painter paints in their order.
  public var (isFirst, isLast) = (true, true)

  public init(_ format: PictureFormat, width: Double, height: Double, ratio: Double = 1, background: UInt32 = 0) {
    (self.format, self.width, self.height, self.ratio) = (format, width, height, ratio)
    self.background = background
  }

  /// Size in pixels of the picture.
  public var pixels: (width: Int, height: Int) {
    (max(Int((width * ratio).rounded()), 1), max(Int((height * ratio).rounded()), 1))
  }

  /// Whether a picture has a size that can be painted.
  public var isPaintable: Bool {
    let side = 1...16_384.0
    guard width > 0, height > 0, width.isFinite, height.isFinite, ratio.isFinite else { return false }
    let isVector = format == .svg || format == .pdf
    let (across, down) = isVector ? (width, height) : (max((width * ratio).rounded(), 1), max((height * ratio).rounded(), 1))
    return ratio > 0 && side.contains(across) && side.contains(down) && across * down <= 268_435_456
  }
}

/// What is to be said of a picture.
public struct PaintNotes: Hashable, Sendable {
  /// Characters that no font has, which are drawn as boxes.
  public var missingGlyphs = 0
  /// Names of fonts that are not installed, in order; texts are drawn in another.
  public var missingFamilies: [String] = []

  public init(missingGlyphs: Int = 0, missingFamilies: [String] = []) {
    (self.missingGlyphs, self.missingFamilies) = (missingGlyphs, missingFamilies)
  }
}
