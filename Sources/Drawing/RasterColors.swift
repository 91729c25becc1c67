// The colors of the numbers of pixels, by a raster renderer.

import GeoModel
import Geometry
import Sorting

/// A renderer with all that it needs of the raster.
struct RasterColors {
  private enum Rule {
    /// The number that is 0, and the factor of the others, for each band.
    case rgb([(low: Float, scale: Float)])
    /// The number at the first color, the factor of the others, and colors evenly apart, premultiplied.
    case ramp(Float, Float, [UInt32])
    case classes([(low: Float, isLowIncluded: Bool, high: Float, color: UInt32)])
    case map([Float: UInt32])
  }
  private static let rampSize = 1024

  private let rule: Rule

  /// Nil if no pixel has a color.
  init?(_ renderer: RasterRenderer, _ source: any RasterSource, isCancelled: () -> Bool) throws {
    let bands = source.info.bands
    switch renderer {
    case .rgb(let own, let stretch):
      var parts: [(low: Float, scale: Float)] = []
      for band in own {
        let stretch = stretch ?? (bands[band].isBytes ? .minMax(0, 255) : .minMax(nil, nil))
        let ends = try stretch.ends(ofBand: band, in: source, isCancelled: isCancelled) ?? (0, 1)
        parts.append((Float(ends.low), Float(255 / (ends.high - ends.low))))
      }
      rule = .rgb(parts)
    case .stretch(let band, let stretch, let colors):
      guard let ends = try stretch.ends(ofBand: band, in: source, isCancelled: isCancelled) else { return nil }
      rule = Self.ramp(colors, ends.low, ends.high)
    case .classified(_, let classes):
      var end: Double?
      rule = .classes(
        classes.map { one in
          let low = one.minValue ?? end ?? -.infinity
          let isIncluded = end.map { low > $0 } ?? true
          end = one.maxValue
          return (Float(low), isIncluded, Float(one.maxValue), one.color.premultiplied())
        })
    case .colormap(let band, let entries):
      let pairs =
        entries?.map { (Float($0.value), $0.color.premultiplied()) }
        ?? (bands[band].colors ?? []).enumerated().map { (Float($0), Color(rgba: $1).premultiplied()) }
      rule = .map(Dictionary(pairs) { first, _ in first })
    case .hillshade: rule = Self.ramp(RasterRenderer.grays, 0, 255)
    case .slope(_, _, let maxSlope, let colors): rule = Self.ramp(colors, 0, maxSlope)
    }
  }

  private static func ramp(_ colors: [Color], _ low: Double, _ high: Double) -> Rule {
    let table = (0..<rampSize).map { index in
      let place = Double(index) / Double(rampSize - 1) * Double(colors.count - 1)
      let step = min(Int(place), colors.count - 2)
      return colors[step].mixed(with: colors[step + 1], fraction: place - Double(step)).premultiplied()
    }
    return .ramp(Float(low), Float(Double(rampSize - 1) / (high - low)), table)
  }

  /// The color of the numbers of a pixel, premultiplied: `0xAARRGGBB`.
  ///
  /// Where a stretch is so narrow that its factor is infinite, the number at its low end becomes NaN, and `max(0, NaN)` is 0.
  @inline(__always)
  func color(_ numbers: SIMD4<Float>, _ alpha: Float) -> UInt32 {
    switch rule {
    case .rgb(let bands):
      var color = UInt32((alpha * 255).rounded())
      for (index, band) in bands.enumerated() {
        let part = min(max(0, (numbers[index] - band.low) * band.scale), 255)
        color = color << 8 | UInt32((part * alpha).rounded())
      }
      return color
    case .ramp(let low, let scale, let table):
      return Self.faded(table[Int(min(max(0, (numbers.x - low) * scale), Float(Self.rampSize - 1)).rounded())], alpha)
    case .classes(let classes):
      let index = classes.partitioningIndex { $0.high >= numbers.x }
      guard index < classes.count, case let found = classes[index], numbers.x > found.low || found.isLowIncluded && numbers.x == found.low
      else { return 0 }
      return Self.faded(found.color, alpha)
    case .map(let colors): return Self.faded(colors[numbers.x] ?? 0, alpha)
    }
  }

  private static func faded(_ color: UInt32, _ alpha: Float) -> UInt32 {
    guard alpha < 1 else { return color }
    var result: UInt32 = 0
    for shift in stride(from: UInt32(0), to: 32, by: 8) {
      result |= UInt32((Float(color >> shift & 255) * alpha).rounded()) << shift
    }
    return result
  }
}
