// Limits of a property's values beyond their type: a range, a step, an enumeration, what their parts are.

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
  public var parts = ValueParts.any

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
    switch parts {
    case .fields(let fields): return fields.initial()
    case .cases(let cases): return cases.first?.initial ?? .null
    case .any, .values: break
    }
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
    return parts.fault(for: type)
  }
}

/// What the parts of a property's values are.
public indirect enum ValueParts: Equatable, Sendable {
  /// Anything that the type has.
  case any
  /// The cases of a tagged union.
  case cases([UnionCase])
  /// The fields of a struct.
  case fields(ValueFields)
  /// What all values of a dictionary are.
  case values(PropertyDefinition)

  /// How deltas say what has changed.
  var shape: MemberShape {
    switch self {
    case .fields, .values: .parts
    case .any, .cases: .whole
    }
  }

  /// Why the parts are invalid for a type; nil if they are valid.
  fileprivate func fault(for type: PropertyType) -> String? {
    switch (type, self) {
    case (.union, .cases(let cases)) where !cases.isEmpty:
      if Set(cases.map { Text($0.name) }).count < cases.count { return "each case once" }
      return cases.lazy.compactMap { $0.fields.fault(reserved: "type") }.first
    case (.struct, .fields(let fields)): return fields.fault()
    case (.dictionary, .values(let each)): return ValueFields([each], required: []).fault()
    case (.union, _): return "at least one case"
    case (.struct, _): return "at least one field"
    case (_, .cases): return "the type union for cases"
    case (_, .fields): return "the type struct for fields"
    case (_, .values): return "the type dictionary for valueType"
    case (_, .any): return nil
    }
  }
}

/// The fields of a struct, or the payload of a case.
public struct ValueFields: Equatable, Sendable {
  public let properties: [PropertyDefinition]
  /// Names of the properties that have to be given; others have their defaults.
  public let required: Set<Text>

  public init(_ properties: [PropertyDefinition], required: Set<Text>) {
    (self.properties, self.required) = (properties, required)
  }

  /// The value with all defaults.
  ///
  /// - Parameter members: what it has besides the fields.
  func initial(_ members: Value.Members = .init()) -> Value {
    var members = members
    for property in properties { members[property.name] = property.defaultValue }
    return .object(members)
  }

  /// A value with what has to be given, for errors.
  func sample(_ members: Value.Members = .init()) -> Value {
    ValueFields(properties.filter { required.contains(Text($0.name)) }, required: []).initial(members)
  }

  /// Why the fields are invalid; nil if they are valid.
  ///
  /// - Parameter reserved: a name that fields cannot have.
  fileprivate func fault(reserved: String? = nil) -> String? {
    var names: Set<Text> = Set([reserved].compactMap { Text($0) })
    for property in properties {
      if !names.insert(Text(property.name)).inserted {
        return reserved == nil ? "each field once" : "each name once in a case, other than type"
      }
      // The value of a reference changes when its object closes, a status is neither undone nor saved: properties of their own.
      if [.reference, .status].contains(property.type) {
        return "types other than reference and status in \(reserved == nil ? "a struct or dictionary" : "the payload of a case")"
      }
      if let fault = property.limits.fault(for: property.type) { return fault }
      if !required.contains(Text(property.name)), (try? property.accepted(property.defaultValue, at: "")) == nil {
        return "defaults of \(reserved == nil ? "fields" : "payloads") that their own types and limits allow"
      }
    }
    return nil
  }

  /// A value with all fields.
  ///
  /// - Parameter tag: the name of the case; nil for a struct.
  func accepted(_ members: Value.Members, tag: String? = nil, at path: String) throws(ModelError) -> Value {
    var result = Value.Members()
    result["type"] = tag.map { .string($0) }
    for property in properties {
      guard let value = members[property.name] else {
        guard !required.contains(Text(property.name)) else {
          let sample = tag.map { UnionCase(name: $0, doc: nil, fields: self).sample } ?? sample()
          throw .flow(.wrongType(path: path, expected: "\(sample.shown), with \"\(property.name)\""))
        }
        result[property.name] = property.defaultValue
        continue
      }
      result[property.name] = try property.accepted(value, at: "\(path)/\(property.name)")
    }
    if let unknown = members.names.first(where: { result[$0] == nil }) {
      let path = path + ModelPath([Text(unknown)]).description
      if tag == nil { throw .flow(.unknownField(unknown, path: path, available: result.names)) }
      let known = result.names.map { "\"\($0)\"" }.joined(separator: ", ")
      throw .flow(.wrongType(path: path, expected: "no member but \(known)"))
    }
    return .object(result)
  }
}

/// A case of a tagged union: `{"type": "<name>"}` with the properties of its payload.
public struct UnionCase: Equatable, Sendable {
  public let name: String
  public let doc: Text?
  public let fields: ValueFields

  public init(name: String, doc: String?, fields: ValueFields) {
    self.name = name
    self.doc = Text(doc)
    self.fields = fields
  }

  private var tag: Value.Members {
    var members = Value.Members()
    members["type"] = .string(name)
    return members
  }

  /// The case with the defaults of its payload; nil if parts of the payload are required.
  var initial: Value? { fields.required.isEmpty ? fields.initial(tag) : nil }

  /// The case with the required parts of its payload, for errors.
  var sample: Value { fields.sample(tag) }
}

extension PropertyDefinition {
  /// A value of the type `union`, with all members of its case.
  func acceptedCase(_ value: Value, at path: String) throws(ModelError) -> Value {
    guard case .cases(let cases) = limits.parts else { return value }
    let known = cases.map(\.sample.shown).joined(separator: ", ")
    guard let members = value.members else { throw .flow(.wrongType(path: path, expected: known)) }
    let tag = Text(members["type"]?.text)
    guard let found = cases.first(where: { Text($0.name) == tag }) else {
      throw .flow(.wrongType(path: path, expected: known))
    }
    return try found.fields.accepted(members, tag: found.name, at: path)
  }
}

extension Value {
  /// A number without a fraction as an integer.
  fileprivate init(number: Double) { self = Int64(exactly: number).map { .integer($0) } ?? .number(number) }

  /// The value much as JSON writes it, for errors.
  var shown: String {
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
