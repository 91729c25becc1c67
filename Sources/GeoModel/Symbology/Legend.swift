// Legends: what each symbol of a renderer stands for.

import Geometry
import Query

/// A line of a legend.
public struct LegendEntry: Hashable, Sendable {
  public let label: String
  public let description: String?
  public let symbol: Symbol
}

extension Renderer {
  /// A line for each entry, the default last.
  ///
  /// Where no label was given: of unique values the values, of class breaks `low – high`, and for the default "Other".
  ///
  /// - Parameter conventions: by which those are written.
  public func legend(by conventions: TextConventions) -> [LegendEntry] {
    zip(entries, names(by: conventions)).map {
      LegendEntry(label: $0.label ?? $1, description: $0.description, symbol: $0.symbol)
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
    func text(_ number: Double) -> String { conventions.pointed(shown(number)) }
    var names: [String] = []
    var start: Double?
    for each in breaks {
      let end = text(each.maxValue)
      names.append((each.minValue ?? start).map { "\(text($0)) – \(end)" } ?? "≤ \(end)")
      start = each.maxValue
    }
    return names
  }
}
