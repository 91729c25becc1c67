// Legends: the label of each symbol of a renderer.

import Geometry
import Platform
import TextFormatting

/// One line of a legend.
public struct LegendEntry: Hashable, Sendable {
  public let label: Text
  public let description: Text?
  public let symbol: Symbol
}

extension Renderer {
  /// One line per entry, the default last.
  ///
  /// Default labels are the values for unique values, `low – high` with as many digits as needed for class breaks, and
  /// "Other" for the default entry.
  ///
  /// - Parameter conventions: for numbers in default labels.
  public func legend(by conventions: TextConventions) -> [LegendEntry] {
    zip(entries, names(by: conventions)).map {
      LegendEntry(label: $0.label ?? Text($1), description: $0.description, symbol: $0.symbol)
    }
  }

  private func names(by conventions: TextConventions) -> [String] {
    switch kind {
    case .simple: [""]
    case .uniqueValue(let renderer):
      renderer.entries.map { $0.values.compactMap { $0.shownText(by: conventions) }.joined(separator: ", ") } + [
        "Other"
      ]
    case .classBreaks(let renderer): renderer.names(by: conventions) + ["Other"]
    }
  }
}

extension ClassBreaksRenderer {
  fileprivate func names(by conventions: TextConventions) -> [String] {
    let digits = digits
    func text(_ number: Double) -> String { conventions.pointed(shown(Self.rounded(number, to: digits))) }
    var names: [String] = []
    var start: Double?
    for each in breaks {
      let end = text(each.maxValue)
      names.append((each.minValue ?? start).map { "\(text($0)) – \(end)" } ?? "≤ \(end)")
      start = each.maxValue
    }
    return names
  }

  /// The number of significant digits at which all bounds differ, at least six.
  private var digits: Int {
    let ends = Set(breaks.flatMap { [$0.minValue, $0.maxValue].compactMap(\.self) })
    return (6..<17).first { digits in Set(ends.map { Self.rounded($0, to: digits) }).count == ends.count } ?? 17
  }

  /// Rounds to significant digits; digits before the decimal point are kept.
  private static func rounded(_ number: Double, to digits: Int) -> Double {
    guard number != 0, number.isFinite, digits < 17 else { return number }
    let decimals = digits - 1 - Int(log10(number.magnitude).rounded(.down))
    guard decimals < 300 else { return number }
    let scale = pow(10, Double(max(0, decimals)))
    let scaled = (number * scale).rounded()
    return scaled.isFinite ? scaled / scale : number
  }
}
