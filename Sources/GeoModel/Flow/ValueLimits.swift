// Limits of a property's values beyond their type: a range, a step, an enumeration, the cases of a tagged union.

import Geometry

/// The rule of a definition that a value breaks.
public enum ValueRule: String, Hashable, Sendable {
  case minimum, maximum, step, values
}

/// Limits of a property's values; none by default.
public struct ValueLimits: Equatable, Sendable {
  public var minimum: Double?
  public var maximum: Double?
  /// Values are multiples of the step from the minimum, or from 0.
  public var step: Double?
  /// The only allowed values; empty allows any value.
  public var values: [Value] = []
  /// The cases of a tagged union.
  public var cases: [UnionCase] = []

  public init() {}

  /// The first rule that a value breaks, with the allowed form; nil if the value is allowed.
  func fault(_ value: Value) -> (rule: ValueRule, expected: String)? {
    if !values.isEmpty, !values.contains(value) {
      return (.values, "one of " + values.prefix(20).map(\.shown).joined(separator: ", "))
    }
    guard let number = value.double else { return nil }
    if let minimum, number < minimum { return (.minimum, "a number of at least \(Value.number(minimum).shown)") }
    if let maximum, number > maximum { return (.maximum, "a number of at most \(Value.number(maximum).shown)") }
    if let step, !isMultiple(number, of: step) {
      let from = minimum.map { " from \(Value.number($0).shown)" } ?? ""
      return (.step, "a multiple of \(Value.number(step).shown)\(from)")
    }
    return nil
  }

  /// Whether a number is a multiple of the step up to rounding errors: 0.3 counts as a multiple of 0.1.
  private func isMultiple(_ number: Double, of step: Double) -> Bool {
    let steps = (number - (minimum ?? 0)) / step
    return abs(steps - steps.rounded()) <= max(1e-9, 4 * steps.ulp)
  }

  /// The allowed value nearest to a type's initial value; the first allowed value of an enumeration, the first case of a union.
  func initial(_ value: Value) -> Value {
    if !values.isEmpty { return ([value] + values).first { fault($0) == nil } ?? value }
    if case .object = value, let first = cases.first { return first.initial ?? .null }
    guard let number = value.double else { return value }
    if case .integer = value { return nearest(number, every: 1, from: 0) ?? value }
    return nearest(number, every: step, from: minimum ?? 0) ?? value
  }

  /// The allowed number nearest to `number` among the multiples of `grid` from `base`.
  ///
  /// Only the nearest 2,000 candidates are tried. They may not suffice for integers, if few of them are multiples of the step.
  private func nearest(_ number: Double, every grid: Double?, from base: Double) -> Value? {
    let edge = min(max(number, minimum ?? number), maximum ?? .infinity)
    guard let grid else { return Value(number: edge) }
    let steps = (edge - base) / grid
    for index in 0..<1000 {
      for place in [steps.rounded(.up) + Double(index), steps.rounded(.down) - Double(index)] {
        let candidate = Value(number: base + place * grid)
        if fault(candidate) == nil { return candidate }
      }
    }
    return nil
  }

  /// Why the limits are invalid for a type; nil if they are valid.
  func fault(for type: PropertyType) -> String? {
    let isNumeric = type == .integer || type == .number
    if !isNumeric, minimum != nil || maximum != nil || step != nil {
      return "the type integer or number for minimum, maximum and step"
    }
    if let minimum, let maximum, minimum > maximum { return "a minimum that is not above the maximum" }
    if let step, !(step > 0) { return "a step above 0" }
    if !values.isEmpty, !isNumeric, type != .string { return "the type string, integer or number for values" }
    for (index, value) in values.enumerated() {
      if type.accepted(value) == nil { return "values of its type" }
      if values[..<index].contains(value) { return "each of the values once" }
    }
    if (type == .union) == cases.isEmpty { return type == .union ? "at least one case" : "the type union for cases" }
    if Set(cases.map { Text($0.name) }).count < cases.count { return "each case once" }
    for each in cases { if let fault = each.fault { return fault } }
    return nil
  }
}

/// A case of a tagged union: `{"type": "<name>"}` with the properties of its payload.
public struct UnionCase: Equatable, Sendable {
  public let name: String
  public let doc: Text?
  public let properties: [PropertyDefinition]
  /// Names of the properties that have to be given; others have their defaults.
  public let required: Set<Text>

  public init(name: String, doc: String?, properties: [PropertyDefinition], required: Set<Text>) {
    self.name = name
    self.doc = Text(doc)
    self.properties = properties
    self.required = required
  }

  /// The case with the defaults of its payload; nil if parts of the payload are required.
  var initial: Value? {
    guard required.isEmpty else { return nil }
    var members = Value.Members()
    members["type"] = .string(name)
    for property in properties { members[property.name] = property.defaultValue }
    return .object(members)
  }

  /// A value of the case, for errors: with what has to be given.
  fileprivate var sample: Value {
    var members = Value.Members()
    members["type"] = .string(name)
    for property in properties where required.contains(Text(property.name)) {
      members[property.name] = property.defaultValue
    }
    return .object(members)
  }

  fileprivate var fault: String? {
    var names: Set<Text> = ["type"]
    for property in properties {
      if !names.insert(Text(property.name)).inserted { return "each name once in a case, other than type" }
      if [.union, .reference, .status].contains(property.type) { return "other types in the payload of a case" }
      if let fault = property.limits.fault(for: property.type) { return fault }
      if !required.contains(Text(property.name)), (try? property.accepted(property.defaultValue, at: "")) == nil {
        return "defaults of payloads that their own types and limits allow"
      }
    }
    return nil
  }

  /// A value of this case with all members of its payload.
  fileprivate func accepted(_ members: Value.Members, at path: String) throws(ModelError) -> Value {
    var result = Value.Members()
    result["type"] = .string(name)
    for property in properties {
      guard let value = members[property.name] else {
        guard !required.contains(Text(property.name)) else {
          throw .flow(.wrongType(path: path, expected: "\(sample.shown), with \"\(property.name)\""))
        }
        result[property.name] = property.defaultValue
        continue
      }
      result[property.name] = try property.accepted(value, at: "\(path)/\(property.name)")
    }
    if let unknown = members.names.first(where: { result[$0] == nil }) {
      let known = result.names.map { "\"\($0)\"" }.joined(separator: ", ")
      throw .flow(.wrongType(path: "\(path)/\(unknown)", expected: "no member but \(known)"))
    }
    return .object(result)
  }
}

extension PropertyDefinition {
  /// A value of the type `union`, with all members of its case.
  func acceptedCase(_ value: Value, at path: String) throws(ModelError) -> Value {
    let known = limits.cases.map(\.sample.shown).joined(separator: ", ")
    guard let members = value.members else { throw .flow(.wrongType(path: path, expected: known)) }
    let tag = Text(members["type"]?.text)
    guard let found = limits.cases.first(where: { Text($0.name) == tag }) else {
      throw .flow(.wrongType(path: path, expected: known))
    }
    return try found.accepted(members, at: path)
  }
}

extension Value {
  /// A number without a fraction as an integer.
  fileprivate init(number: Double) { self = Int64(exactly: number).map { .integer($0) } ?? .number(number) }

  /// The value much as JSON writes it, for errors.
  fileprivate var shown: String {
    switch self {
    case .null: "null"
    case .boolean(let flag): "\(flag)"
    case .string(let text): "\"\(text)\""
    case .integer(let number): "\(number)"
    case .number(let number): Int64(exactly: number).map { "\($0)" } ?? "\(number)"
    case .array(let elements): "[" + elements.map(\.shown).joined(separator: ", ") + "]"
    case .object(let members):
      "{" + members.names.map { "\"\($0)\": \((members[$0] ?? .null).shown)" }.joined(separator: ", ") + "}"
    }
  }
}
