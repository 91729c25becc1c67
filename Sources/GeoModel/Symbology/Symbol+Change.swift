// Changes of symbols by visual variables: size, angle, color, opacity. All parts of a composite change alike.

extension Symbol {
  /// The largest size of the parts: a marker's or text's size, the width of a line or an outline. In device-independent
  /// pixels.
  public var size: Double {
    switch self {
    case .simpleMarker(let marker): marker.size
    case .simpleLine(let line): line.width
    case .simpleFill(let fill): fill.outline?.width ?? 0
    case .text(let text): text.size
    case .composite(let parts): parts.map(\.size).max() ?? 0
    }
  }

  /// The symbol resized so that its largest part has the given size. Other parts and offsets keep their proportions, so
  /// that a pin's tip stays in place. Outlines of markers keep their width.
  public func sized(_ size: Double) -> Symbol {
    let old = self.size
    // A symbol of size 0 has no proportions.
    return scaled(old > 0 ? size / old : nil, to: size)
  }

  /// The symbol magnified by a factor, with outlines and halos, as for a map's reference scale.
  public func scaled(by factor: Double) -> Symbol {
    if factor == 1 { return self }
    func grown(_ outline: SimpleLineSymbol?) -> SimpleLineSymbol? {
      guard var outline else { return nil }
      outline.width = min(outline.width * factor, symbolSizes.upperBound)
      return outline
    }
    switch self {
    case .simpleMarker(var marker):
      marker.outline = grown(marker.outline)
      return Symbol.simpleMarker(marker).scaled(factor, to: 0)
    case .text(var text):
      text.haloWidth = min(text.haloWidth * factor, symbolSizes.upperBound)
      return Symbol.text(text).scaled(factor, to: 0)
    case .composite(let parts): return .composite(parts.map { $0.scaled(by: factor) })
    case .simpleLine, .simpleFill: return scaled(factor, to: 0)
    }
  }

  /// - Parameter size: the new size if there is no factor.
  private func scaled(_ factor: Double?, to size: Double) -> Symbol {
    let limit = symbolSizes.upperBound
    func new(_ old: Double) -> Double { min(factor.map { old * $0 } ?? size, limit) }
    func moved(_ offset: Double) -> Double { max(-limit, min(offset * (factor ?? 1), limit)) }
    switch self {
    case .simpleMarker(var marker):
      marker.size = new(marker.size)
      marker.xOffset = moved(marker.xOffset)
      marker.yOffset = moved(marker.yOffset)
      return .simpleMarker(marker)
    case .simpleLine(var line):
      line.width = new(line.width)
      return .simpleLine(line)
    case .simpleFill(var fill):
      if let outline = fill.outline { fill.outline?.width = new(outline.width) }
      return .simpleFill(fill)
    case .text(var text):
      text.size = new(text.size)
      text.xOffset = moved(text.xOffset)
      text.yOffset = moved(text.yOffset)
      return .text(text)
    case .composite(let parts): return .composite(parts.map { $0.scaled(factor, to: size) })
    }
  }

  /// The symbol with an angle, in degrees clockwise. Lines and areas have none.
  public func rotated(to angle: Double) -> Symbol {
    switch self {
    case .simpleMarker(var marker):
      marker.angle = angle
      return .simpleMarker(marker)
    case .text(var text):
      text.angle = angle
      return .text(text)
    case .composite(let parts): return .composite(parts.map { $0.rotated(to: angle) })
    case .simpleLine, .simpleFill: return self
    }
  }

  /// The symbol in another color; outlines and halos keep theirs.
  public func colored(_ color: Color) -> Symbol {
    switch self {
    case .simpleMarker(var marker):
      marker.color = color
      return .simpleMarker(marker)
    case .simpleLine(var line):
      line.color = color
      return .simpleLine(line)
    case .simpleFill(var fill):
      fill.color = color
      return .simpleFill(fill)
    case .text(var text):
      text.color = color
      return .text(text)
    case .composite(let parts): return .composite(parts.map { $0.colored(color) })
    }
  }

  /// The symbol with the alpha of all colors multiplied by an opacity in 0...1.
  public func faded(_ opacity: Double) -> Symbol {
    switch self {
    case .simpleMarker(var marker):
      marker.color = marker.color.faded(opacity)
      marker.outline = marker.outline?.faded(opacity)
      return .simpleMarker(marker)
    case .simpleLine(let line): return .simpleLine(line.faded(opacity))
    case .simpleFill(var fill):
      fill.color = fill.color.faded(opacity)
      fill.outline = fill.outline?.faded(opacity)
      return .simpleFill(fill)
    case .text(var text):
      text.color = text.color.faded(opacity)
      text.haloColor = text.haloColor?.faded(opacity)
      return .text(text)
    case .composite(let parts): return .composite(parts.map { $0.faded(opacity) })
    }
  }
}

extension SimpleLineSymbol {
  fileprivate func faded(_ opacity: Double) -> SimpleLineSymbol {
    var result = self
    result.color = color.faded(opacity)
    return result
  }
}
