// Renderers: rules that map attributes of a feature to a symbol. ``BoundRenderer`` evaluates them.

import Expressions
import FeatureStore
import Geometry

/// A symbol with its label in a legend.
public struct SymbolEntry: Hashable, Sendable {
  public let symbol: Symbol
  /// Nil for a label generated from the values.
  public var label: Text?
  public var description: Text?
  public init(symbol: Symbol, label: String? = nil, description: String? = nil) {
    self.symbol = symbol
    self.label = Text(label)
    self.description = Text(description)
  }
}

/// A symbol per combination of values.
public struct UniqueValueRenderer: Hashable, Sendable {
  public struct Entry: Hashable, Sendable {
    /// One per source, in order.
    public let values: [AttributeValue]
    public let entry: SymbolEntry
    public init(values: [AttributeValue], entry: SymbolEntry) {
      self.values = values
      self.entry = entry
    }
  }
  public internal(set) var sources: [AttributeSource]
  public let entries: [Entry]
  /// The entry for all other values and null; nil draws none.
  public let defaultEntry: SymbolEntry?

  /// Values are compared by type: 1 equals 1.0, but not "1".
  ///
  /// - Throws: ``SymbologyError`` of reason `uniqueValues` if an entry has another number of values than there are
  ///   sources, has null, or repeats an earlier entry.
  public init(
    sources: [AttributeSource], entries: [Entry], defaultEntry: SymbolEntry? = nil
  ) throws(SymbologyError) {
    var seen: Set<[AttributeValue]> = []
    for (index, entry) in entries.enumerated() {
      func fail(_ expected: String, _ found: String) -> SymbologyError {
        SymbologyError(.uniqueValues, at: [String(index), "values"], expected: expected, found: found)
      }
      guard entry.values.count == sources.count else {
        throw fail("a value for each of \(sources.count) fields", "\(entry.values.count) values")
      }
      let key = entry.values.map(\.comparable)
      guard !key.contains(.null) else { throw fail("values that are not null", "null") }
      guard seen.insert(key).inserted else {
        throw fail(
          "values that no earlier entry has", key.compactMap { $0.shownText(by: .neutral) }.joined(separator: ", "))
      }
    }
    self.sources = sources
    self.entries = entries
    self.defaultEntry = defaultEntry
  }
}

/// A symbol per range of a number.
public struct ClassBreaksRenderer: Hashable, Sendable {
  public struct Break: Hashable, Sendable {
    /// Lower bound; nil for the end of the break before, or for no bound.
    public let minValue: Double?
    /// Upper bound, inclusive.
    public let maxValue: Double
    public let entry: SymbolEntry
    public init(minValue: Double? = nil, maxValue: Double, entry: SymbolEntry) {
      self.minValue = minValue
      self.maxValue = maxValue
      self.entry = entry
    }
  }
  public internal(set) var source: AttributeSource
  /// The value is divided by this field. Null and 0 give no value.
  public var normalizationField: Text?
  public let breaks: [Break]
  /// The entry for all other values and null; nil draws none.
  public let defaultEntry: SymbolEntry?

  /// Upper bounds are inclusive. Lower bounds are inclusive in the first class and after a gap, else exclusive.
  ///
  /// - Throws: ``SymbologyError`` of reason `classBreaks` if breaks are not finite, not ascending, or overlap.
  public init(
    source: AttributeSource, normalizationField: String? = nil, breaks: [Break], defaultEntry: SymbolEntry? = nil
  ) throws(SymbologyError) {
    var end: Double?
    for (index, each) in breaks.enumerated() {
      func fail(_ member: String, _ expected: String, _ found: Double) -> SymbologyError {
        SymbologyError(.classBreaks, at: [String(index), member], expected: expected, found: shown(found))
      }
      guard each.maxValue.isFinite else { throw fail("maxValue", "a finite number", each.maxValue) }
      if let end, each.maxValue <= end {
        throw fail("maxValue", "a number greater than \(shown(end)), where the class before ends", each.maxValue)
      }
      if let start = each.minValue {
        guard start.isFinite else { throw fail("minValue", "a finite number", start) }
        if let end, start < end {
          throw fail("minValue", "a number not below \(shown(end)), where the class before ends", start)
        }
        guard start <= each.maxValue else {
          throw fail("minValue", "a number not above maxValue, \(shown(each.maxValue))", start)
        }
      }
      end = each.maxValue
    }
    self.source = source
    self.normalizationField = Text(normalizationField)
    self.breaks = breaks
    self.defaultEntry = defaultEntry
  }
}

/// The rule that gives each feature its symbol.
///
/// ```swift
/// let red = Symbol.simpleFill(SimpleFillSymbol(color: Color(red: 255, green: 0, blue: 0)))
/// let residential = SymbolEntry(symbol: red, label: "Residential")
/// let renderer = Renderer(
///   .uniqueValue(
///     try UniqueValueRenderer(
///       sources: [.field("use")], entries: [.init(values: [.string("R")], entry: residential)])))
/// ```
public struct Renderer: Hashable, Sendable {
  public enum Kind: Hashable, Sendable {
    /// The same symbol for all features.
    case simple(SymbolEntry)
    case uniqueValue(UniqueValueRenderer)
    case classBreaks(ClassBreaksRenderer)
  }
  public let kind: Kind
  /// At most one of each kind. Their order does not matter.
  public let visualVariables: [VisualVariable]

  public init(_ kind: Kind, visualVariables: [VisualVariable] = []) {
    self.kind = kind
    self.visualVariables = visualVariables
  }

  /// All entries, the default last.
  public var entries: [SymbolEntry] {
    switch kind {
    case .simple(let entry): [entry]
    case .uniqueValue(let renderer): renderer.entries.map(\.entry) + (renderer.defaultEntry.map { [$0] } ?? [])
    case .classBreaks(let renderer): renderer.breaks.map(\.entry) + (renderer.defaultEntry.map { [$0] } ?? [])
    }
  }

  /// The names of the fields that it reads.
  public var fields: Set<Text> {
    var sources = visualVariables.map(\.source)
    switch kind {
    case .simple: break
    case .uniqueValue(let renderer): sources += renderer.sources
    case .classBreaks(let renderer):
      sources += [renderer.source] + (renderer.normalizationField.map { [.field($0)] } ?? [])
    }
    return Set(sources.flatMap(\.fields).map { Text($0) })
  }

  /// Throws unless all fields and expressions exist and have suitable types in a layer with these columns.
  public func check(for schema: FeatureSchema) throws(SymbologyError) {
    switch kind {
    case .simple: break
    case .uniqueValue(let renderer):
      for (index, source) in renderer.sources.enumerated() {
        switch source {
        case .field: try source.check(for: schema, at: "fields", String(index))
        case .expression: try source.check(for: schema, at: "expression")
        }
      }
    case .classBreaks(let renderer):
      try renderer.source.check(for: schema, as: .number, at: renderer.source.member)
      if let name = renderer.normalizationField {
        try AttributeSource.field(name).check(for: schema, as: .number, at: "normalizationField")
      }
    }
    for (index, variable) in visualVariables.enumerated() {
      try variable.source.check(
        for: schema, as: .number, at: "visualVariables", String(index), variable.source.member)
    }
  }
}

extension AttributeSource {
  /// The member of the wire form that holds the source.
  var member: String {
    switch self {
    case .field: "field"
    case .expression: "expression"
    }
  }
}
