// Visual variables: properties of a symbol that depend on a number of the feature.

/// Sets one property of the renderer's symbol by a number of the feature. Without a number the symbol is unchanged.
public struct VisualVariable: Hashable, Sendable {
  public enum Rotation: Hashable, Sendable, CaseIterable {
    /// Clockwise from north.
    case geographic
    /// Counterclockwise from east: 90 is upright.
    case arithmetic
  }
  public enum Effect: Hashable, Sendable {
    /// In device-independent pixels.
    case size(Ramp<Double>)
    case color(Ramp<Color>)
    /// In 0...1, multiplied with the alpha of the colors.
    case opacity(Ramp<Double>)
    /// In degrees.
    case rotation(Rotation)
  }
  public let source: AttributeSource
  public let effect: Effect

  public init(source: AttributeSource, effect: Effect) {
    self.source = source
    self.effect = effect
  }
}

extension VisualVariable.Effect {
  /// The order of application, whatever the order of the list: opacity is applied after color, since it multiplies the color's alpha.
  var rank: Int {
    switch self {
    case .size: 0
    case .color: 1
    case .opacity: 2
    case .rotation: 3
    }
  }

  /// The symbol changed according to a number.
  func applied(to symbol: Symbol, _ number: Double) -> Symbol {
    switch self {
    case .size(let ramp): symbol.sized(ramp.output(at: number))
    case .color(let ramp): symbol.colored(ramp.output(at: number))
    case .opacity(let ramp): symbol.faded(ramp.output(at: number))
    case .rotation(.geographic): symbol.rotated(to: Camera.normalized(degrees: number))
    case .rotation(.arithmetic): symbol.rotated(to: Camera.normalized(degrees: 90 - number))
    }
  }
}
