// Changes of symbols by visual variables: size, angle, color, opacity. A change applies to all parts of a composite.

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

  /// The symbol resized so that its largest part has the given size. Other parts and offsets keep their proportions, so that a
  /// pin's tip stays in place. Outlines of markers keep their width.
  public func sized(_ size: Double) -> Symbol {
    let old = self.size
    // A symbol of size 0 has no proportions.
    return scaled(old > 0 ? size / old : nil, to: size)
  }

  /// The symbol with all sizes multiplied by a factor, including outlines and halos, as for a map's reference scale.
  public func scaled(by factor: Double) -> Symbol {
    if factor == 1 { return self }
    func grown(_ width: Double) -> Double { min(width * factor, symbolSizes.upperBound) }
    return mapped(
      marker: { if let outline = $0.outline { $0.outline?.width = grown(outline.width) } },
      text: { $0.haloWidth = grown($0.haloWidth) }
    ).scaled(factor, to: 0)
  }

  /// - Parameter size: the new size; used if `factor` is nil.
  private func scaled(_ factor: Double?, to size: Double) -> Symbol {
    let limit = symbolSizes.upperBound
    func new(_ old: Double) -> Double { min(factor.map { old * $0 } ?? size, limit) }
    func moved(_ offset: Double) -> Double { max(-limit, min(offset * (factor ?? 1), limit)) }
    return mapped(
      marker: {
        $0.size = new($0.size)
        ($0.xOffset, $0.yOffset) = (moved($0.xOffset), moved($0.yOffset))
      }, line: { $0.width = new($0.width) },
      fill: { if let outline = $0.outline { $0.outline?.width = new(outline.width) } },
      text: {
        $0.size = new($0.size)
        ($0.xOffset, $0.yOffset) = (moved($0.xOffset), moved($0.yOffset))
      })
  }

  /// The symbol with an angle, in degrees clockwise. Lines and areas have none.
  public func rotated(to angle: Double) -> Symbol {
    mapped(marker: { $0.angle = angle }, text: { $0.angle = angle })
  }

  /// The symbol in another color; outlines and halos keep theirs.
  public func colored(_ color: Color) -> Symbol {
    mapped(
      marker: { $0.color = color }, line: { $0.color = color }, fill: { $0.color = color }, text: { $0.color = color })
  }

  /// The symbol with the alpha of all colors multiplied by an opacity in 0...1.
  public func faded(_ opacity: Double) -> Symbol {
    func fade(_ color: inout Color) { color = color.faded(opacity) }
    func fade(_ outline: inout SimpleLineSymbol?) {
      if let color = outline?.color { outline?.color = color.faded(opacity) }
    }
    return mapped(
      marker: {
        fade(&$0.color)
        fade(&$0.outline)
      }, line: { fade(&$0.color) },
      fill: {
        fade(&$0.color)
        fade(&$0.outline)
      },
      text: {
        fade(&$0.color)
        $0.haloColor = $0.haloColor?.faded(opacity)
      })
  }

  /// The symbol with the function for its kind applied to each part.
  private func mapped(
    marker: (inout SimpleMarkerSymbol) -> Void = { _ in }, line: (inout SimpleLineSymbol) -> Void = { _ in },
    fill: (inout SimpleFillSymbol) -> Void = { _ in }, text: (inout TextSymbol) -> Void = { _ in }
  ) -> Symbol {
    switch self {
    case .simpleMarker(let part): .simpleMarker(changed(part, marker))
    case .simpleLine(let part): .simpleLine(changed(part, line))
    case .simpleFill(let part): .simpleFill(changed(part, fill))
    case .text(let part): .text(changed(part, text))
    case .composite(let parts): .composite(parts.map { $0.mapped(marker: marker, line: line, fill: fill, text: text) })
    }
  }
}

/// A value with a change.
func changed<Value>(_ value: Value, _ change: (inout Value) -> Void) -> Value {
  var value = value
  change(&value)
  return value
}
