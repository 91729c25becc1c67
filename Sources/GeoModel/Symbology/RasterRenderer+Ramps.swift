// What renderers of rasters need of the raster: the ends of ramps; and their legends.

import Geometry
import TextFormatting

extension RasterStretch {
  /// The numbers at the ends, the second above the first; nil if no pixel has data.
  public func ends(
    ofBand band: Int, in source: any RasterSource, isCancelled: () -> Bool
  ) throws -> (low: Double, high: Double)? {
    if case .minMax(let low?, let high?) = self { return (low, high) }
    guard let statistics = try source.statistics(ofBand: band, isCancelled: isCancelled) else { return nil }
    let (low, high): (Double, Double) =
      switch self {
      case .minMax(let low, let high): (low ?? statistics.least, high ?? statistics.greatest)
      case .percentClip(let below, let above): (statistics.quantile(below), statistics.quantile(100 - above))
      case .standardDeviation(let factor):
        (statistics.mean - factor * statistics.standardDeviation, statistics.mean + factor * statistics.standardDeviation)
      }
    return (low, high > low ? high : low + 1)
  }
}

extension RasterRenderer {
  private static let legendLimit = 100

  /// One line for each color of a ramp, with its number, and for each class; at most a hundred.
  ///
  /// - Parameter conventions: for numbers in labels.
  public func legend(
    of source: any RasterSource, by conventions: TextConventions, isCancelled: () -> Bool
  ) throws -> [LegendEntry] {
    func line(_ color: Color, _ label: Text?, _ value: Double) -> LegendEntry {
      let digits = (value.magnitude < 1e15) ? (value * 1e6).rounded() / 1e6 : value
      return LegendEntry(label: label ?? Text(conventions.pointed(shown(digits))), description: nil, symbol: .swatch(color))
    }
    func ramp(_ colors: [Color], _ low: Double, _ high: Double) -> [LegendEntry] {
      colors.prefix(Self.legendLimit).enumerated().map { index, color in
        line(color, nil, low + (high - low) * Double(index) / Double(max(colors.count - 1, 1)))
      }
    }
    switch self {
    case .rgb, .hillshade: return []
    case .stretch(let band, let stretch, let colors):
      return try stretch.ends(ofBand: band, in: source, isCancelled: isCancelled).map { ramp(colors, $0.low, $0.high) } ?? []
    case .slope(_, _, let maxSlope, let colors): return ramp(colors, 0, maxSlope)
    case .classified(_, let classes):
      let breaks = classes.prefix(Self.legendLimit).map {
        ClassBreaksRenderer.Break(
          minValue: $0.minValue, maxValue: $0.maxValue, entry: SymbolEntry(symbol: .swatch($0.color), label: $0.label?.string))
      }
      return Renderer(.classBreaks(try ClassBreaksRenderer(source: .field(""), breaks: breaks))).legend(by: conventions)
    case .colormap(_, let entries?): return entries.prefix(Self.legendLimit).map { line($0.color, $0.label, $0.value) }
    case .colormap(let band, nil):
      return (source.info.bands[band].colors ?? []).prefix(Self.legendLimit).enumerated().map {
        line(Color(rgba: $1), nil, Double($0))
      }
    }
  }
}

extension Symbol {
  /// The symbol of a color in a legend.
  public static func swatch(_ color: Color) -> Symbol { .simpleFill(SimpleFillSymbol(style: .solid, color: color, outline: nil)) }
}

extension Color {
  /// - Parameter rgba: `0xRRGGBBAA`.
  public init(rgba: UInt32) {
    self.init(
      red: UInt8(rgba >> 24), green: UInt8(truncatingIfNeeded: rgba >> 16), blue: UInt8(truncatingIfNeeded: rgba >> 8),
      alpha: UInt8(truncatingIfNeeded: rgba))
  }

  /// `0xAARRGGBB`, the components multiplied by an alpha that is the color's times `opacity`, which is in 0...1.
  public func premultiplied(_ opacity: Double = 1) -> UInt32 {
    let alpha = Double(self.alpha) * opacity
    func part(_ component: UInt8) -> UInt32 { UInt32((Double(component) * alpha / 255).rounded()) }
    return UInt32(alpha.rounded()) << 24 | part(red) << 16 | part(green) << 8 | part(blue)
  }
}
