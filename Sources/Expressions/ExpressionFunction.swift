// The functions of expressions: one table by which calls are parsed and checked, and from which clients read what there is.

/// A function; names are case-insensitive. An entry of the table is a case here, with its signature and what is said of it.
enum ExpressionFunction: String, BitwiseCopyable, CaseIterable, Sendable {
  case casei, accenti
  case upper, lower, trim, length, substring, replace, concat, toText, toNumber
  case abs, ceil, floor, round, sqrt, min, max
  case count, coalesce, iif
  case date, timestamp, interval
  case bbox, envelope
  case sIntersects = "S_INTERSECTS"
  case sEquals = "S_EQUALS"
  case sDisjoint = "S_DISJOINT"
  case sTouches = "S_TOUCHES"
  case sWithin = "S_WITHIN"
  case sOverlaps = "S_OVERLAPS"
  case sCrosses = "S_CROSSES"
  case sContains = "S_CONTAINS"
  case tAfter = "T_AFTER"
  case tBefore = "T_BEFORE"
  case tDisjoint = "T_DISJOINT"
  case tEquals = "T_EQUALS"
  case tIntersects = "T_INTERSECTS"
  case tContains = "T_CONTAINS"
  case tDuring = "T_DURING"
  case tFinishes = "T_FINISHES"
  case tFinishedBy = "T_FINISHEDBY"
  case tMeets = "T_MEETS"
  case tMetBy = "T_METBY"
  case tOverlaps = "T_OVERLAPS"
  case tOverlappedBy = "T_OVERLAPPEDBY"
  case tStarts = "T_STARTS"
  case tStartedBy = "T_STARTEDBY"
  case aEquals = "A_EQUALS"
  case aContains = "A_CONTAINS"
  case aContainedBy = "A_CONTAINEDBY"
  case aOverlaps = "A_OVERLAPS"
  case format, formatDate, formatLength, formatArea, formatSpeed

  /// The function of a name; nil without one.
  init?(named name: String) {
    // Names are short: a text of any length need not be changed for a look-up.
    guard name.utf8.count <= 16, let known = Self.byKey[name.lowercased()] else { return nil }
    self = known
  }

  private static let byKey = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue.lowercased(), $0) })

  struct Parameter {
    /// How often the argument occurs: once, at most once, or any number of times from once on.
    enum Occurrence { case once, optional, repeated }
    let name: String
    let types: ScalarTypes
    var occurrence = Occurrence.once
  }

  struct Signature {
    /// Only the last one may be repeated.
    let parameters: [Parameter]
    /// Nil if the result is one of the arguments.
    let result: ScalarTypes?

    init(_ parameters: Parameter..., result: ScalarTypes?) { (self.parameters, self.result) = (parameters, result) }

    var counts: ClosedRange<Int> {
      let isRepeated = parameters.last?.occurrence == .repeated
      return parameters.count { $0.occurrence != .optional }...(isRepeated ? .max : parameters.count)
    }

    /// The types of an argument by its index.
    func argument(_ index: Int) -> ScalarTypes { parameters[Swift.min(index, parameters.count - 1)].types }
  }

  /// Whether it formats text by conventions.
  var isWrittenByConventions: Bool {
    switch self {
    case .format, .formatDate, .formatLength, .formatArea, .formatSpeed: true
    default: false
    }
  }

  var signature: Signature {
    let text = Parameter(name: "text", types: .text)
    let number = Parameter(name: "number", types: .number)
    let decimals = Parameter(name: "decimals", types: .number, occurrence: .optional)
    let literal = Parameter(name: "literal", types: .text)
    switch self {
    case .casei, .accenti, .upper, .lower, .trim: return Signature(text, result: .text)
    case .length: return Signature(text, result: .number)
    case .substring:
      return Signature(
        text, Parameter(name: "start", types: .number),
        Parameter(name: "count", types: .number, occurrence: .optional), result: .text)
    case .replace:
      return Signature(text, Parameter(name: "old", types: .text), Parameter(name: "new", types: .text), result: .text)
    case .concat: return Signature(Parameter(name: "value", types: .any, occurrence: .repeated), result: .text)
    case .toText: return Signature(Parameter(name: "value", types: .any), result: .text)
    case .toNumber: return Signature(Parameter(name: "value", types: [.text, .number]), result: .number)
    case .abs, .ceil, .floor, .sqrt: return Signature(number, result: .number)
    case .round: return Signature(number, decimals, result: .number)
    case .min, .max:
      return Signature(
        Parameter(name: "value", types: [.number, .text, .instant], occurrence: .repeated), result: nil)
    case .count: return Signature(Parameter(name: "list", types: .json), result: .number)
    case .coalesce: return Signature(Parameter(name: "value", types: .any, occurrence: .repeated), result: nil)
    case .iif:
      return Signature(
        Parameter(name: "condition", types: .boolean), Parameter(name: "then", types: .any),
        Parameter(name: "else", types: .any), result: nil)
    case .date, .timestamp: return Signature(literal, result: .instant)
    case .interval:
      return Signature(
        Parameter(name: "start", types: [.text, .instant]), Parameter(name: "end", types: [.text, .instant]),
        result: .interval)
    case .bbox, .envelope:
      return Signature(
        Parameter(name: "xMin", types: .number), Parameter(name: "yMin", types: .number),
        Parameter(name: "xMax", types: .number), Parameter(name: "yMax", types: .number), result: .geometry)
    case .sIntersects, .sEquals, .sDisjoint, .sTouches, .sWithin, .sOverlaps, .sCrosses, .sContains:
      return Self.relation(of: .geometry)
    case .tAfter, .tBefore, .tDisjoint, .tEquals, .tIntersects: return Self.relation(of: [.text, .instant, .interval])
    case .tContains, .tDuring, .tFinishes, .tFinishedBy, .tMeets, .tMetBy, .tOverlaps, .tOverlappedBy, .tStarts,
      .tStartedBy:
      return Self.relation(of: .interval)
    case .aEquals, .aContains, .aContainedBy, .aOverlaps: return Self.relation(of: [.array, .json])
    case .format:
      return Signature(
        Parameter(name: "pattern", types: .text), Parameter(name: "value", types: .any, occurrence: .repeated),
        result: .text)
    case .formatDate:
      return Signature(
        Parameter(name: "date", types: [.text, .instant]), Parameter(name: "pattern", types: .text), result: .text)
    case .formatLength: return Signature(Parameter(name: "metres", types: .number), decimals, result: .text)
    case .formatArea: return Signature(Parameter(name: "squareMetres", types: .number), decimals, result: .text)
    case .formatSpeed: return Signature(Parameter(name: "metresPerSecond", types: .number), decimals, result: .text)
    }
  }

  private static func relation(of types: ScalarTypes) -> Signature {
    Signature(Parameter(name: "a", types: types), Parameter(name: "b", types: types), result: .boolean)
  }
}
