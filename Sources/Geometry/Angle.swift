// Angles in degrees, whose quarters of a turn are exact.

import Platform

public enum Angle {
  /// The sine and the cosine of an angle: -1, 0 and 1 at quarters of a turn.
  public static func unit(degrees: Double) -> (sine: Double, cosine: Double) {
    let quarters = (degrees / 90).remainder(dividingBy: 4)
    return switch quarters {
    case 0: (0, 1)
    case 1: (1, 0)
    case -1: (-1, 0)
    case 2, -2: (0, -1)
    default: (sin(quarters * .pi / 2), cos(quarters * .pi / 2))
    }
  }
}
