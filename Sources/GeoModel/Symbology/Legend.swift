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
  public var legend: [LegendEntry] {
    zip(entries, names).map { LegendEntry(label: $0.label ?? $1, description: $0.description, symbol: $0.symbol) }
  }

  private var names: [String] {
    switch kind {
    case .simple: [""]
    case .uniqueValue(let renderer):
      renderer.entries.map { $0.values.compactMap(\.shownText).joined(separator: ", ") } + ["Other"]
    case .classBreaks(let renderer): renderer.names + ["Other"]
    }
  }
}

extension ClassBreaksRenderer {
  fileprivate var names: [String] {
    var names: [String] = []
    var start: Double?
    for each in breaks {
      let end = shown(each.maxValue)
      names.append((each.minValue ?? start).map { "\(shown($0)) – \(end)" } ?? "≤ \(end)")
      start = each.maxValue
    }
    return names
  }
}
