// Functions of numbers.

import Platform

extension FunctionRecord {
  static let numbers: [FunctionRecord] = [
    FunctionRecord(
      "abs", .number(), result: .number, doc: "The number without its sign.", example: "abs(-2)",
      .values { arguments in
        switch arguments[0] {
        case .integer(let value) where value < 0: Scalar.integer(0).applying(.subtract, .integer(value))
        case .double(let value): .double(value.magnitude)
        case .integer: arguments[0]
        case .null, .bool, .bytes, .text, .instant, .json: .null
        }
      }),
    FunctionRecord(
      "ceil", .number(), result: .number, doc: "The nearest whole number that is not less.", example: "ceil(1.2)",
      .values { whole($0[0]) { $0.rounded(.up) } }),
    FunctionRecord(
      "floor", .number(), result: .number, doc: "The nearest whole number that is not greater.",
      example: "floor(1.8)", .values { whole($0[0]) { $0.rounded(.down) } }),
    FunctionRecord(
      "round", .number(), .decimals, result: .number,
      doc: "The number rounded to `decimals`, without them to a whole one; halves away from zero.",
      example: "round(1.25, 1)", .values(rounded)),
    FunctionRecord(
      "sqrt", .number(), result: .number, doc: "The square root; null of a negative number.", example: "sqrt(16)",
      .values { $0[0].number.map { Scalar(finite: $0.squareRoot()) } ?? .null }),
    FunctionRecord(
      "min", .init(name: "value", types: [.number, .text, .instant], occurrence: .repeated), result: nil,
      doc: "The least value; null where one is null, or two do not compare.", example: "min(3, 1, 2)",
      .extreme(.less)),
    FunctionRecord(
      "max", .init(name: "value", types: [.number, .text, .instant], occurrence: .repeated), result: nil,
      doc: "The greatest value; null where one is null, or two do not compare.", example: "max(3, 1, 2)",
      .extreme(.greater)),
  ]

  private static func whole(_ value: Scalar, _ body: (Double) -> Double) -> Scalar {
    switch value {
    case .integer: value
    case .double(let value): Scalar(whole: body(value))
    case .null, .bool, .bytes, .text, .instant, .json: .null
    }
  }

  @Sendable private static func rounded(_ arguments: [Scalar]) -> Scalar {
    guard arguments.count > 1 else {
      guard case .double(let value) = arguments[0] else { return arguments[0].number == nil ? .null : arguments[0] }
      return Scalar(whole: value.rounded())
    }
    guard let value = arguments[0].number, let places = arguments[1].number, places.magnitude <= 400 else {
      return .null
    }
    let digits = places.rounded(.towardZero)
    if case .integer = arguments[0], digits >= 0 { return arguments[0] }
    let scale = pow(10, digits.magnitude)
    let scaled = digits < 0 ? value / scale : value * scale
    // A double of this size has no decimals at this position.
    guard scaled.magnitude < 0x1p52 else { return arguments[0] }
    let result = digits < 0 ? scaled.rounded() * scale : scaled.rounded() / scale
    return digits <= 0 ? Scalar(whole: result) : Scalar(finite: result)
  }
}
