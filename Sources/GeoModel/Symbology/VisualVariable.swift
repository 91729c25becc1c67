// Visual variables: what a feature's numbers change about its symbol.

import Query

/// Changes one property of the renderer's symbol by a number of the feature. Without a number the symbol stays as it is.
public struct VisualVariable: Hashable, Sendable {
  public enum Rotation: String, Hashable, Sendable, CaseIterable {
    /// Clockwise from north: the symbol's angle as it is.
    case geographic
    /// Counterclockwise from east: 90 is upright.
    case arithmetic
  }
  public enum Effect: Hashable, Sendable {
    /// Device-independent pixels.
    case size(Ramp<Double>)
    case color(Ramp<Color>)
    /// 0...1; multiplies what the symbol's colours have.
    case opacity(Ramp<Double>)
    /// Degrees.
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
  /// The symbol as a number makes it.
  func applied(to symbol: Symbol, _ number: Double) -> Symbol {
    switch self {
    case .size(let ramp): symbol.sized(ramp.output(at: number))
    case .color(let ramp): symbol.colored(ramp.output(at: number))
    case .opacity(let ramp): symbol.faded(ramp.output(at: number))
    case .rotation(.geographic): symbol.rotated(to: Self.circle(number))
    case .rotation(.arithmetic): symbol.rotated(to: Self.circle(90 - number))
    }
  }

  /// The same angle in 0..<360 degrees.
  private static func circle(_ angle: Double) -> Double {
    let rest = angle.truncatingRemainder(dividingBy: 360)
    let turned = rest < 0 ? rest + 360 : rest
    return turned == 360 ? 0 : turned
  }
}
