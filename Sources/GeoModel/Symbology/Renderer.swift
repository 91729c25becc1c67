// Renderers: which symbol a feature gets by its attributes. How that is found is in BoundRenderer.

import Geometry
import Query

/// A symbol and what a legend says of those who have it.
public struct SymbolEntry: Hashable, Sendable {
  public let symbol: Symbol
  /// Made from the values when nil.
  public let label: Text?
  public let description: Text?
  public init(symbol: Symbol, label: String? = nil, description: String? = nil) {
    self.symbol = symbol
    self.label = Text(label)
    self.description = Text(description)
  }
}

/// One symbol for each combination of values.
public struct UniqueValueRenderer: Hashable, Sendable {
  public struct Entry: Hashable, Sendable {
    /// One for each source, in order.
    public let values: [AttributeValue]
    public let entry: SymbolEntry
    public init(values: [AttributeValue], entry: SymbolEntry) {
      self.values = values
      self.entry = entry
    }
  }
  public let sources: [AttributeSource]
  public let entries: [Entry]
  /// For all others, null among them; without it they are not drawn.
  public let defaultEntry: SymbolEntry?

  /// Values are compared by type: 1 equals 1.0, but not "1".
  ///
  /// - Throws: ``SymbologyError`` of reason `uniqueValues` where an entry could never be had: other values than sources, null,
  ///   or the same as an earlier entry's.
  public init(
    sources: [AttributeSource], entries: [Entry], defaultEntry: SymbolEntry? = nil
  ) throws(SymbologyError) {
    var seen: Set<[AttributeValue]> = []
    for (place, entry) in entries.enumerated() {
      func fail(_ expected: String, _ found: String) -> SymbologyError {
        SymbologyError(.uniqueValues, at: [String(place), "values"], expected: expected, found: found)
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

/// One symbol for each range of a number.
public struct ClassBreaksRenderer: Hashable, Sendable {
  public struct Break: Hashable, Sendable {
    /// Where it begins; nil for where the one before ends, or without end for the first.
    public let minValue: Double?
    /// Belongs to it.
    public let maxValue: Double
    public let entry: SymbolEntry
    public init(minValue: Double? = nil, maxValue: Double, entry: SymbolEntry) {
      self.minValue = minValue
      self.maxValue = maxValue
      self.entry = entry
    }
  }
  public let source: AttributeSource
  /// Divides the value; null and 0 give no value.
  public let normalizationField: Text?
  public let breaks: [Break]
  /// For all others, null among them; without it they are not drawn.
  public let defaultEntry: SymbolEntry?

  /// The upper bound of a class belongs to it. So does the lower one of the first class and of one that begins behind a gap;
  /// elsewhere it is the upper one of the class before.
  ///
  /// - Throws: ``SymbologyError`` of reason `classBreaks` for breaks that are not finite, out of order or overlapping.
  public init(
    source: AttributeSource, normalizationField: String? = nil, breaks: [Break], defaultEntry: SymbolEntry? = nil
  ) throws(SymbologyError) {
    var end: Double?
    for (place, each) in breaks.enumerated() {
      func fail(_ member: String, _ expected: String, _ found: Double) -> SymbologyError {
        SymbologyError(.classBreaks, at: [String(place), member], expected: expected, found: shown(found))
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

/// Which symbol a feature has, by its attributes.
public struct Renderer: Hashable, Sendable {
  public enum Kind: Hashable, Sendable {
    /// The same for all.
    case simple(SymbolEntry)
    case uniqueValue(UniqueValueRenderer)
    case classBreaks(ClassBreaksRenderer)
  }
  public let kind: Kind
  /// Applied in order.
  public let visualVariables: [VisualVariable]

  public init(_ kind: Kind, visualVariables: [VisualVariable] = []) {
    self.kind = kind
    self.visualVariables = visualVariables
  }

  /// All that can be drawn, the default last.
  public var entries: [SymbolEntry] {
    switch kind {
    case .simple(let entry): [entry]
    case .uniqueValue(let renderer): renderer.entries.map(\.entry) + (renderer.defaultEntry.map { [$0] } ?? [])
    case .classBreaks(let renderer): renderer.breaks.map(\.entry) + (renderer.defaultEntry.map { [$0] } ?? [])
    }
  }

  /// Refuses fields that a layer with these columns does not have or that hold no numbers where those are wanted, and
  /// expressions that cannot be.
  public func check(for schema: FeatureSchema) throws(SymbologyError) {
    switch kind {
    case .simple: break
    case .uniqueValue(let renderer):
      for (place, source) in renderer.sources.enumerated() {
        do { try source.check(for: schema) } catch {
          if case .expression = source { throw error.under("expression") }
          throw error.under("fields", String(place))
        }
      }
    case .classBreaks(let renderer):
      do { try renderer.source.check(for: schema, as: .number) } catch { throw error.under(renderer.source.member) }
      if let name = renderer.normalizationField {
        do { try AttributeSource.field(name.string).check(for: schema, as: .number) } catch {
          throw error.under("normalizationField")
        }
      }
    }
    for (place, variable) in visualVariables.enumerated() {
      do { try variable.source.check(for: schema, as: .number) } catch {
        throw error.under("visualVariables", String(place), variable.source.member)
      }
    }
  }
}

extension AttributeSource {
  /// What it is called in a renderer.
  var member: String {
    switch self {
    case .field: "field"
    case .expression: "expression"
    }
  }
}
