// Converts rasters of layers and their renderers between the wire and the model.

import GeoModel
import GeoProtocol
import Geometry

extension Wire {
  // MARK: From the wire

  package static func rasterRenderer(
    _ renderer: SymbologyProtocol.RasterRenderer
  ) throws(SymbologyError) -> RasterRenderer {
    switch renderer {
    case .rgb(let rgb):
      if let index = rgb.bands.firstIndex(where: { $0 < 0 }) {
        throw SymbologyError(.form, at: ["bands", String(index)], expected: "an index of at least 0", found: "\(rgb.bands[index])")
      }
      return .rgb(bands: rgb.bands, try stretch(rgb.stretch))
    case .stretch(let one):
      return .stretch(band: one.band, try stretch(one.stretch) ?? .minMax(nil, nil), ramp(one.colors))
    case .classified(let classified):
      // Checks the order.
      try within("classes") { () throws(SymbologyError) in
        _ = try ClassBreaksRenderer(
          source: .field(""),
          breaks: classified.classes.map {
            .init(minValue: $0.minValue, maxValue: $0.maxValue, entry: SymbolEntry(symbol: .swatch(color($0.color))))
          })
      }
      return .classified(
        band: classified.band,
        classified.classes.map { .init(minValue: $0.minValue, maxValue: $0.maxValue, color: color($0.color), label: $0.label) })
    case .colormap(let map):
      var seen: Set<Double> = []
      if let index = map.colors?.firstIndex(where: { !seen.insert($0.value).inserted }) {
        throw SymbologyError(
          .uniqueValues, at: ["colors", String(index), "value"], expected: "a number that no earlier entry has",
          found: "\(map.colors?[index].value ?? 0)")
      }
      return .colormap(
        band: map.band, map.colors?.map { .init(value: $0.value, color: color($0.color), label: $0.label) })
    case .hillshade(let shade):
      return .hillshade(band: shade.band, azimuth: shade.azimuth, altitude: shade.altitude, zFactor: shade.zFactor)
    case .slope(let slope):
      return .slope(band: slope.band, zFactor: slope.zFactor, maxSlope: slope.maxSlope, ramp(slope.colors))
    }
  }

  private static func ramp(_ colors: [String]?) -> [Color] { colors?.map(color) ?? RasterRenderer.grays }

  private static func stretch(_ stretch: SymbologyProtocol.RasterStretch?) throws(SymbologyError) -> RasterStretch? {
    guard let stretch else { return nil }
    let made: RasterStretch =
      switch stretch {
      case .minMax(let ends): .minMax(ends.minValue, ends.maxValue)
      case .percentClip(let shares): .percentClip(shares.min, shares.max)
      case .standardDeviation(let factor): .standardDeviation(factor)
      }
    return try within("stretch") { () throws(SymbologyError) in try made.checked() }
  }

  // MARK: To the wire

  package static func rasterRenderer(_ renderer: RasterRenderer) -> SymbologyProtocol.RasterRenderer {
    switch renderer {
    case .rgb(let bands, let stretch): .rgb(.init(bands: bands, stretch: stretch.map(self.stretch)))
    case .stretch(let band, let stretch, let colors):
      .stretch(.init(band: band, stretch: self.stretch(stretch), colors: colors.map(\.text)))
    case .classified(let band, let classes):
      .classified(
        .init(
          band: band,
          classes: classes.map { .init(minValue: $0.minValue, maxValue: $0.maxValue, color: $0.color.text, label: $0.label?.string) }))
    case .colormap(let band, let colors):
      .colormap(.init(band: band, colors: colors?.map { .init(value: $0.value, color: $0.color.text, label: $0.label?.string) }))
    case .hillshade(let band, let azimuth, let altitude, let zFactor):
      .hillshade(.init(band: band, azimuth: azimuth, altitude: altitude, zFactor: zFactor))
    case .slope(let band, let zFactor, let maxSlope, let colors):
      .slope(.init(band: band, zFactor: zFactor, maxSlope: maxSlope, colors: colors.map(\.text)))
    }
  }

  private static func stretch(_ stretch: RasterStretch) -> SymbologyProtocol.RasterStretch {
    switch stretch {
    case .minMax(let low, let high): .minMax(.init(minValue: low, maxValue: high))
    case .percentClip(let low, let high): .percentClip(.init(min: low, max: high))
    case .standardDeviation(let factor): .standardDeviation(factor)
    }
  }

  static func rasterInfo(_ info: RasterInfo) -> LayerProtocol.RasterInfo {
    .init(
      width: info.width, height: info.height, transform: info.transform.numbers,
      bands: info.bands.map { .init(type: $0.type, noData: $0.noData.flatMap { $0.isFinite ? $0 : nil }, hasColors: $0.colors != nil) })
  }
}
