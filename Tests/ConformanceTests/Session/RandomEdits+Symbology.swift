// Random symbols, renderers, labels and popups.

extension RandomEdits {
  mutating func symbol() -> Value {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: ["type": "simpleLine", "width": .integer(Int.random(in: 0...9, using: &random)), "style": "dashDot"]
    case 1: ["type": "simpleFill", "color": "#10203040", "outline": ["color": "#ffffff"]]
    case 2: ["type": "composite", "symbols": [symbol(), ["type": "text", "text": "T", "haloColor": "#00000080"]]]
    default: ["type": "simpleMarker", "size": .integer(Int.random(in: 0...9, using: &random)), "style": "x"]
    }
  }

  private mutating func renderer() -> Value {
    let variables: Value = [
      [
        "type": "size", "expression": "n * 2",
        "stops": [["value": 0, "size": 1], ["value": .integer(Int.random(in: 1...9, using: &random)), "size": 9]],
      ]
    ]
    switch Int.random(in: 0..<3, using: &random) {
    case 0: return ["type": "simple", "symbol": symbol(), "label": "All", "visualVariables": variables]
    case 1:
      return [
        "type": "uniqueValue", "fields": ["n"],
        "uniqueValues": [["values": [1], "symbol": symbol()], ["values": ["a"], "symbol": symbol()]],
        "defaultSymbol": symbol(), "defaultLabel": "Rest",
      ]
    default:
      return [
        "type": "classBreaks", "field": "n",
        "breaks": [["minValue": 0, "maxValue": 1.5, "symbol": symbol()], ["maxValue": 3, "symbol": symbol()]],
      ]
    }
  }

  /// Random members of an update.
  mutating func portrayal() -> [String: Value] {
    var members: [String: Value] = [:]
    if chance(0.4) { members["renderer"] = renderer() }
    if chance(0.3) { members["labels"] = [["expression": "n", "whereClause": chance(0.5) ? "n > 1" : "n IS NULL"]] }
    if chance(0.3) { members["labelsEnabled"] = .bool(chance(0.5)) }
    if chance(0.3) { members["popup"] = ["title": "{n}", "elements": [["field": "n", "format": "%.2f"]]] }
    if chance(0.2) { members["isPopupEnabled"] = .bool(chance(0.5)) }
    // A request must not set and clear the same member.
    let others = ["renderer", "labels", "popup"].filter { members[$0] == nil }
    if let name = pick(others), chance(0.2) { members["clear"] = [.string(name)] }
    return members
  }
}
