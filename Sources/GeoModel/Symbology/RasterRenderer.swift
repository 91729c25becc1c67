// Renderers of rasters: rules that map the numbers of a pixel to a color.

import Geometry

/// Which numbers of a band are the ends of its ramp.
public enum RasterStretch: Hashable, Sendable {
  /// The least or greatest number of the band where nil.
  case minMax(Double?, Double?)
  /// Percent of the pixels that are left out at the lower and the upper end.
  case percentClip(Double, Double)
  case standardDeviation(Double)

  /// - Throws: ``SymbologyError`` of reason `stops` for ends out of order.
  public func checked() throws(SymbologyError) -> RasterStretch {
    if case .minMax(let low?, let high?) = self, low >= high {
      throw SymbologyError(.stops, at: ["maxValue"], expected: "a number greater than minValue", found: shown(high))
    }
    return self
  }
}

/// The rule that gives each pixel of a raster its color.
public enum RasterRenderer: Hashable, Sendable {
  public struct Class: Hashable, Sendable {
    public let minValue: Double?
    /// Inclusive.
    public let maxValue: Double
    public let color: Color
    public let label: Text?
    public init(minValue: Double?, maxValue: Double, color: Color, label: String?) {
      (self.minValue, self.maxValue, self.color, self.label) = (minValue, maxValue, color, Text(label))
    }
  }
  public struct Entry: Hashable, Sendable {
    public let value: Double
    public let color: Color
    public let label: Text?
    public init(value: Double, color: Color, label: String?) {
      (self.value, self.color, self.label) = (value, color, Text(label))
    }
  }

  case rgb(bands: [Int], RasterStretch?)
  case stretch(band: Int, RasterStretch, [Color])
  case classified(band: Int, [Class])
  /// The colors of the file where nil.
  case colormap(band: Int, [Entry]?)
  /// Degrees.
  case hillshade(band: Int, azimuth: Double, altitude: Double, zFactor: Double)
  case slope(band: Int, zFactor: Double, maxSlope: Double, [Color])

  public static let grays = [Color.black, Color(red: 255, green: 255, blue: 255)]

  /// The renderer of a layer without one.
  public static func standard(for info: RasterInfo) -> RasterRenderer {
    if info.bands.first?.colors != nil { return .colormap(band: 0, nil) }
    if info.bands.count >= 3 { return .rgb(bands: [0, 1, 2], nil) }
    let isBytes = info.bands.first?.isBytes == true
    return .stretch(band: 0, isBytes ? .minMax(0, 255) : .minMax(nil, nil), grays)
  }

  /// The bands that it reads.
  public var bands: [Int] {
    switch self {
    case .rgb(let bands, _): bands
    case .stretch(let band, _, _), .classified(let band, _), .colormap(let band, _), .hillshade(let band, _, _, _),
      .slope(let band, _, _, _):
      [band]
    }
  }

  /// Whether numbers between two pixels mean nothing, as those of classes.
  public var isDiscrete: Bool {
    switch self {
    case .classified, .colormap: true
    case .rgb, .stretch, .hillshade, .slope: false
    }
  }

  /// Throws if the raster lacks a band, or colors that are to be those of the file.
  public func check(for info: RasterInfo, at path: String) throws(ModelError) {
    for (index, band) in bands.enumerated() where band >= info.bands.count {
      let member = if case .rgb = self { "bands/\(index)" } else { "band" }
      throw .outOfRange(Double(band), expected: "an index below \(info.bands.count), the number of bands", path: "\(path)/\(member)")
    }
    if case .colormap(let band, nil) = self, info.bands[band].colors == nil {
      throw .symbology(
        SymbologyError(
          .uniqueValues, at: path.split(separator: "/").map(String.init) + ["colors"], expected: "colors, as the file has none",
          found: "nothing"))
    }
  }
}

extension RasterRenderer: MemberSettable {
  public var memberValue: MemberValue { .rasterRenderer(self) }
}

extension RasterInfo: MemberReadable {
  public var memberValue: MemberValue { .rasterInfo(self) }
}
