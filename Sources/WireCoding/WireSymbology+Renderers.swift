// Converts renderers between the wire and the model.

import Expressions
import GeoModel
import GeoProtocol
import Geometry
import JSON

extension Wire {
  // MARK: From the wire

  package static func renderer(_ renderer: SymbologyProtocol.Renderer) throws(SymbologyError) -> Renderer {
    switch renderer {
    case .simple(let simple):
      return Renderer(
        .simple(try entry(simple.symbol, simple.label, simple.description)),
        visualVariables: try variables(simple.visualVariables))
    case .uniqueValue(let unique):
      let sources = try self.sources(unique.fields, unique.expression)
      let entries = try each("uniqueValues", unique.uniqueValues) { (it) throws(SymbologyError) in
        UniqueValueRenderer.Entry(values: try values(it.values), entry: try entry(it.symbol, it.label, it.description))
      }
      let other = try defaultEntry(unique.defaultSymbol, unique.defaultLabel)
      let renderer = try within("uniqueValues") { () throws(SymbologyError) in
        try UniqueValueRenderer(sources: sources, entries: entries, defaultEntry: other)
      }
      return Renderer(.uniqueValue(renderer), visualVariables: try variables(unique.visualVariables))
    case .classBreaks(let classes):
      let source = try self.source(classes.field, classes.expression)
      let breaks = try each("breaks", classes.breaks) { (it) throws(SymbologyError) in
        ClassBreaksRenderer.Break(
          minValue: it.minValue, maxValue: it.maxValue, entry: try entry(it.symbol, it.label, it.description))
      }
      let other = try defaultEntry(classes.defaultSymbol, classes.defaultLabel)
      let renderer = try within("breaks") { () throws(SymbologyError) in
        try ClassBreaksRenderer(
          source: source, normalizationField: classes.normalizationField, breaks: breaks, defaultEntry: other)
      }
      return Renderer(.classBreaks(renderer), visualVariables: try variables(classes.visualVariables))
    }
  }

  private static func entry(
    _ symbol: SymbologyProtocol.Symbol, _ label: String?, _ description: String?
  ) throws(SymbologyError) -> SymbolEntry {
    SymbolEntry(symbol: try self.symbol(symbol, at: "symbol"), label: label, description: description)
  }

  private static func defaultEntry(
    _ symbol: SymbologyProtocol.Symbol?, _ label: String?
  ) throws(SymbologyError) -> SymbolEntry? {
    guard let symbol else {
      if label == nil { return nil }
      throw SymbologyError(.form, at: ["defaultSymbol"], expected: "a symbol for `defaultLabel`", found: "nothing")
    }
    return SymbolEntry(symbol: try self.symbol(symbol, at: "defaultSymbol"), label: label)
  }

  /// The values of a unique-value class: strings, numbers or booleans. (`UniqueValueRenderer.init` refuses null.)
  private static func values(_ values: [JSONOpaque]) throws(SymbologyError) -> [AttributeValue] {
    try each("values", values) { (value) throws(SymbologyError) in
      let attribute = value.value.map(GraphicReader.attribute) ?? .null
      if case .json = attribute {
        throw SymbologyError(
          .form, expected: "a string, number or boolean",
          found: value.value?.kind == .array ? "an array" : "an object")
      }
      return attribute
    }
  }

  package static func expression(_ given: JSONOpaque, at member: String?) throws(SymbologyError) -> Expression {
    do throws(ExpressionError) { return try expression(given) } catch {
      throw SymbologyError(error, at: member.map { [$0] } ?? [])
    }
  }

  package static func source(_ field: String?, _ expression: JSONOpaque?) throws(SymbologyError) -> AttributeSource {
    switch (field, expression) {
    case (let field?, nil): return .field(Text(field))
    case (nil, let text?): return .expression(try self.expression(text, at: "expression"))
    default: throw oneOf("field", "expression", isNone: field == nil)
    }
  }

  private static func sources(_ fields: [String]?, _ expression: JSONOpaque?) throws(SymbologyError)
    -> [AttributeSource]
  {
    switch (fields, expression) {
    case (let fields?, nil): return fields.map { .field(Text($0)) }
    case (nil, let text?): return [.expression(try self.expression(text, at: "expression"))]
    default: throw oneOf("fields", "expression", isNone: fields == nil)
    }
  }

  private static func oneOf(_ first: String, _ second: String, isNone: Bool) -> SymbologyError {
    SymbologyError(
      .form, expected: "exactly one of `\(first)` and `\(second)`", found: isNone ? "neither" : "both")
  }

  private static func variables(
    _ variables: [SymbologyProtocol.VisualVariable]
  ) throws(SymbologyError) -> [VisualVariable] {
    for (index, variable) in variables.enumerated()
    where variables[..<index].contains(where: { tag($0) == tag(variable) }) {
      throw SymbologyError(
        .form, at: ["visualVariables", String(index), "type"], expected: "a type that no earlier variable has",
        found: tag(variable))
    }
    return try each("visualVariables", variables, variable)
  }

  private static func tag(_ variable: SymbologyProtocol.VisualVariable) -> String {
    switch variable {
    case .size: "size"
    case .color: "color"
    case .opacity: "opacity"
    case .rotation: "rotation"
    }
  }

  private static func variable(_ variable: SymbologyProtocol.VisualVariable) throws(SymbologyError) -> VisualVariable {
    switch variable {
    case .size(let size):
      return VisualVariable(source: try source(size.field, size.expression), effect: .size(try ramp(size)))
    case .color(let color):
      let stops = color.stops.map { Ramp<Color>.Stop(value: $0.value, output: self.color($0.color)) }
      return VisualVariable(source: try source(color.field, color.expression), effect: .color(try ramp(stops)))
    case .opacity(let opacity):
      let stops = opacity.stops.map { Ramp<Double>.Stop(value: $0.value, output: $0.opacity) }
      return VisualVariable(source: try source(opacity.field, opacity.expression), effect: .opacity(try ramp(stops)))
    case .rotation(let rotation):
      return VisualVariable(
        source: try source(rotation.field, rotation.expression),
        effect: .rotation(.init(rotation.rotationType)))
    }
  }

  private static func ramp<Output>(_ stops: [Ramp<Output>.Stop]) throws(SymbologyError) -> Ramp<Output> {
    try within("stops") { () throws(SymbologyError) in try Ramp(stops) }
  }

  /// The stops of a size ramp: `stops`, or two stops from `minDataValue`, `maxDataValue`, `minSize` and `maxSize`.
  private static func ramp(_ size: SymbologyProtocol.VisualVariable.Size) throws(SymbologyError) -> Ramp<Double> {
    let ends = [size.minDataValue, size.maxDataValue, size.minSize, size.maxSize].compactMap { $0 }
    switch (size.stops, ends.count) {
    case (let stops?, 0): return try ramp(stops.map { .init(value: $0.value, output: $0.size) })
    case (nil, 4):
      guard ends[0] < ends[1] else {
        throw SymbologyError(
          .stops, at: ["maxDataValue"], expected: "a number greater than minDataValue", found: "\(ends[1])")
      }
      return try Ramp([.init(value: ends[0], output: ends[2]), .init(value: ends[1], output: ends[3])])
    default:
      throw SymbologyError(
        .form, expected: "either `stops`, or all of `minDataValue`, `maxDataValue`, `minSize` and `maxSize`",
        found: size.stops == nil ? "\(ends.count) of the four" : "both")
    }
  }

  // MARK: To the wire

  package static func renderer(_ renderer: Renderer) -> SymbologyProtocol.Renderer {
    let variables = renderer.visualVariables.map(variable)
    switch renderer.kind {
    case .simple(let entry):
      return .simple(
        .init(
          symbol: symbol(entry.symbol), label: entry.label?.string, description: entry.description?.string,
          visualVariables: variables))
    case .uniqueValue(let unique):
      var expression: JSONOpaque?
      if case .expression(let only)? = unique.sources.first { expression = opaque(only) }
      return .uniqueValue(
        .init(
          fields: expression == nil ? unique.sources.flatMap(\.fields) : nil, expression: expression,
          uniqueValues: unique.entries.map { each in
            .init(
              values: each.values.map(opaque), symbol: symbol(each.entry.symbol), label: each.entry.label?.string,
              description: each.entry.description?.string)
          },
          defaultSymbol: unique.defaultEntry.map { symbol($0.symbol) },
          defaultLabel: unique.defaultEntry?.label?.string,
          visualVariables: variables))
    case .classBreaks(let classes):
      return .classBreaks(
        .init(
          field: field(classes.source), expression: expression(classes.source),
          normalizationField: classes.normalizationField?.string,
          breaks: classes.breaks.map { each in
            .init(
              minValue: each.minValue, maxValue: each.maxValue, symbol: symbol(each.entry.symbol),
              label: each.entry.label?.string, description: each.entry.description?.string)
          },
          defaultSymbol: classes.defaultEntry.map { symbol($0.symbol) },
          defaultLabel: classes.defaultEntry?.label?.string,
          visualVariables: variables))
    }
  }

  package static func field(_ source: AttributeSource) -> String? {
    if case .field(let name) = source { name.string } else { nil }
  }

  package static func expression(_ source: AttributeSource) -> JSONOpaque? {
    if case .expression(let expression) = source { opaque(expression) } else { nil }
  }

  /// An attribute's value as JSON.
  package static func opaque(_ value: AttributeValue) -> JSONOpaque { .written { value.encode(to: &$0) } }

  private static func variable(_ variable: VisualVariable) -> SymbologyProtocol.VisualVariable {
    let field = field(variable.source)
    let expression = expression(variable.source)
    switch variable.effect {
    case .size(let ramp):
      return .size(
        .init(
          field: field, expression: expression, stops: ramp.stops.map { .init(value: $0.value, size: $0.output) }))
    case .color(let ramp):
      return .color(
        .init(
          field: field, expression: expression,
          stops: ramp.stops.map { .init(value: $0.value, color: $0.output.text) }))
    case .opacity(let ramp):
      return .opacity(
        .init(
          field: field, expression: expression, stops: ramp.stops.map { .init(value: $0.value, opacity: $0.output) }))
    case .rotation(let kind):
      return .rotation(.init(field: field, expression: expression, rotationType: kind.wire))
    }
  }
}
