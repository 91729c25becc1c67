// Converts labels, popups and legends between the wire and the model.

import Expressions
import GeoModel
import GeoProtocol
import Geometry
import JSON

extension Wire {
  // MARK: From the wire

  package static func labels(_ labels: [SymbologyProtocol.LabelDefinition]) throws(SymbologyError) -> [LabelDefinition]
  {
    try labels.enumerated().map { (index, each) throws(SymbologyError) in
      try within(String(index)) { () throws(SymbologyError) in try label(each) }
    }
  }

  private static func label(_ label: SymbologyProtocol.LabelDefinition) throws(SymbologyError) -> LabelDefinition {
    var textSymbol = TextSymbol()
    if let symbol = label.symbol {
      guard case .text(let text) = try self.symbol(symbol) else {
        throw SymbologyError(.form, at: ["symbol", "type"], expected: "\"text\"", found: "another type of symbol")
      }
      textSymbol = text
    }
    if let far = label.minScale, let near = label.maxScale, far <= near {
      throw SymbologyError(
        .scaleRange, at: ["minScale"], expected: "minScale greater than maxScale", found: "\(far) and \(near)")
    }
    var condition: Expression?
    if let text = label.whereClause {
      let read = try expression(text, at: "whereClause")
      do throws(ExpressionError) { try read.check(for: .condition) } catch {
        throw SymbologyError(error, at: ["whereClause"])
      }
      condition = read
    }
    return LabelDefinition(
      expression: try expression(label.expression, at: "expression"), condition: condition, symbol: textSymbol,
      minScale: label.minScale, maxScale: label.maxScale, placement: .init(label.placement),
      priority: label.priority)
  }

  package static func popup(_ popup: SymbologyProtocol.PopupDefinition) throws(SymbologyError) -> PopupDefinition {
    var title: Template?
    if let text = popup.title {
      title = try within("title") { () throws(SymbologyError) in try Template(text) }
    }
    guard let lines = popup.elements else { return PopupDefinition(title: title) }
    let elements = try each("elements", lines) { (line) throws(SymbologyError) in
      try PopupDefinition.Element(
        source: try source(line.field, line.expression), label: line.label, format: line.format)
    }
    return PopupDefinition(title: title, elements: elements)
  }

  // MARK: To the wire

  package static func label(_ label: LabelDefinition) -> SymbologyProtocol.LabelDefinition {
    .init(
      expression: opaque(label.expression), whereClause: label.condition.map(opaque), symbol: text(label.symbol),
      minScale: label.minScale, maxScale: label.maxScale, placement: label.placement.wire,
      priority: label.priority)
  }

  package static func popup(_ popup: PopupDefinition) -> SymbologyProtocol.PopupDefinition {
    .init(
      title: popup.title?.text.string,
      elements: popup.elements?.map { each in
        .init(
          field: field(each.source), expression: expression(each.source), label: each.label?.string,
          format: each.format?.string)
      })
  }

  package static func label(_ label: Label, of id: Int, scale: Double) -> SymbologyProtocol.Label {
    let symbol = label.scaled(by: scale).symbol
    return .init(
      id: id, text: symbol.text.string, symbol: text(symbol), placement: label.placement.wire,
      priority: label.priority, definition: label.definition)
  }

  /// - Parameter cluster: the id of a cluster; nil for a feature.
  package static func popup(_ popup: Popup, of id: Int, cluster: String? = nil) -> SymbologyProtocol.Popup {
    .init(
      id: id, cluster: cluster, title: popup.title.string,
      lines: popup.lines.map { line in
        .init(
          field: line.field?.string, label: line.label.string, value: line.value == .null ? nil : opaque(line.value),
          text: line.text?.string)
      })
  }

  package static func legend(_ entry: LegendEntry, scale: Double, count: Int?) -> SymbologyProtocol.LegendEntry {
    .init(
      label: entry.label.string, description: entry.description?.string, symbol: symbol(entry.symbol.scaled(by: scale)),
      count: count)
  }
}
