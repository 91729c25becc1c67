// Renderers: the symbol of a feature, and invalid renderers.

import Expressions
import FeatureStore
import GeoModel
import Geometry
import Testing

struct SymbologyRendererTests {
  // MARK: Unique values

  private func unique(
    _ values: [[AttributeValue]], fields: [String] = ["v"], other: SymbolEntry? = nil
  ) throws -> Renderer {
    Renderer(
      .uniqueValue(
        try UniqueValueRenderer(
          sources: fields.map { .field(Text($0)) },
          entries: values.enumerated().map { .init(values: $1, entry: entry(Double($0 + 1))) }, defaultEntry: other)))
  }

  @Test func `unique values are equal by type and value`() throws {
    let renderer = try unique([[1], ["1"], [true], [2.5], ["a"]], other: entry(99))
    let store = try FeatureStore.of("v", [1, 1.0, "1", true, 2.5, "a", "A", 0, false, -0.0])
    #expect(renderer.sizes(store) == [1, 1, 2, 3, 4, 5, 99, 99, 99, 99])
  }

  @Test func `null, NaN and missing fields get the default symbol, or none`()
    throws
  {
    let store = try FeatureStore.of("v", [nil, .double(.nan), "a"])
    #expect(try unique([["a"]], other: entry(99)).sizes(store) == [99, 99, 1])
    #expect(try unique([["a"]]).sizes(store) == [nil, nil, 1])
    #expect(try unique([["a"]], fields: ["w"], other: entry(99)).sizes(store) == [99, 99, 99])
  }

  @Test func `values of several fields are combined`() throws {
    let renderer = try unique([["a", 1], ["a", 2]], fields: ["v", "w"], other: entry(99))
    let store = try FeatureStore.of([["v": "a", "w": 2], ["v": "a", "w": 1], ["v": "b", "w": 1], ["v": "a"]])
    #expect(renderer.sizes(store) == [2, 1, 99, 99])
  }

  @Test func `values can come from an expression`() throws {
    let renderer = Renderer(
      .uniqueValue(
        try UniqueValueRenderer(
          sources: [.expression(try Expression("upper(v)"))], entries: [.init(values: ["A"], entry: entry(1))])))
    #expect(renderer.sizes(try FeatureStore.of("v", ["a", "A", "b", nil])) == [1, 1, nil, nil])
  }

  @Test func `impossible entries are refused with their path`() throws {
    func failure(_ values: [[AttributeValue]], fields: [String] = ["v"]) -> SymbologyError? {
      do {
        _ = try unique(values, fields: fields)
        return nil
      } catch { return error as? SymbologyError }
    }
    #expect(failure([["a"], ["b"], ["a"]])?.path == ["2", "values"])
    #expect(failure([[1], [1.0]])?.reason == .uniqueValues)
    #expect(failure([[nil]])?.path == ["0", "values"])
    #expect(failure([["a"]], fields: ["v", "w"])?.expected == "a value for each of 2 fields")
    #expect(failure([[1], ["1"]]) == nil)
  }

  // MARK: Class breaks

  private func breaks(
    _ bounds: [(Double?, Double)], normalizedBy: String? = nil, other: SymbolEntry? = nil
  ) throws -> Renderer {
    Renderer(
      .classBreaks(
        try ClassBreaksRenderer(
          source: .field("v"), normalizationField: normalizedBy,
          breaks: bounds.enumerated().map { .init(minValue: $1.0, maxValue: $1.1, entry: entry(Double($0 + 1))) },
          defaultEntry: other)))
  }

  @Test func `upper bounds are inclusive, lower ones exclusive`() throws {
    let renderer = try breaks([(0, 10), (10, 20), (nil, 30)], other: entry(99))
    let store = try FeatureStore.of("v", [0, 10, 10.5, 20, 20.5, 30, 30.5, -0.5])
    #expect(renderer.sizes(store) == [1, 1, 2, 2, 3, 3, 99, 99])
  }

  @Test func `a first class without a lower bound contains all below, and a gap nothing`() throws {
    let renderer = try breaks([(nil, 10), (15, 20)])
    #expect(renderer.sizes(try FeatureStore.of("v", [-1e300, 12, 15, 20, 21])) == [1, nil, 2, 2, nil])
  }

  @Test func `a class can contain a single number`() throws {
    #expect(try breaks([(5, 5), (5, 9)]).sizes(try FeatureStore.of("v", [5, 5.1, 4.9])) == [1, 2, nil])
  }

  @Test func `text, null and NaN belong to no class`() throws {
    let store = try FeatureStore.of("v", ["5", nil, .double(.nan), true, 5])
    #expect(try breaks([(0, 10)], other: entry(99)).sizes(store) == [99, 99, 99, 99, 1])
  }

  @Test func `a number is divided by the normalization field, unless that is 0 or null`() throws {
    let renderer = try breaks([(0, 1), (1, 100)], normalizedBy: "area", other: entry(99))
    let store = try FeatureStore.of([
      ["v": 10, "area": 20], ["v": 10, "area": 2], ["v": 10, "area": 0], ["v": 10], ["area": 1],
    ])
    #expect(renderer.sizes(store) == [1, 2, 99, 99, 99])
  }

  @Test(
    arguments: [
      ([(0, 10), (nil, 5)], ["1", "maxValue"]), ([(0, 10), (5, 20)], ["1", "minValue"]),
      ([(0, 10), (nil, 10)], ["1", "maxValue"]), ([(10, 0)], ["0", "minValue"]), ([(nil, .nan)], ["0", "maxValue"]),
      ([(.infinity, 5)], ["0", "minValue"]), ([(0, .infinity)], ["0", "maxValue"]), ([(.nan, 1)], ["0", "minValue"]),
    ] as [([(Double?, Double)], [String])])
  func `breaks that are out of order, overlapping or not finite are refused with their path`(
    bounds: [(Double?, Double)], path: [String]
  ) {
    #expect { try breaks(bounds) } throws: { error in
      let error = error as? SymbologyError
      return error?.reason == .classBreaks && error?.path == path
    }
  }

  // MARK: Fields

  @Test func `missing fields of a layer are refused with their path`() throws {
    let schema = FeatureStore(fields: [Field(name: "v", type: .double), Field(name: "n", type: .string)]).schema
    let ramp = try Ramp<Double>([.init(value: 0, output: 1), .init(value: 1, output: 2)])
    let renderer = Renderer(
      .simple(entry(1)),
      visualVariables: [
        VisualVariable(source: .field("v"), effect: .size(ramp)),
        VisualVariable(source: .expression(try Expression("v + w")), effect: .size(ramp)),
      ])
    #expect { try renderer.check(for: schema) } throws: { error in
      let error = error as? SymbologyError
      guard case .expression(let why)? = error?.reason else { return false }
      return error?.path == ["visualVariables", "1", "expression"] && why.kind == .unknownProperty && why.found == "w"
        && why.available == ["v", "n"] && error?.position?.column == 5
    }
    #expect {
      try Renderer(.simple(entry(1)), visualVariables: [VisualVariable(source: .field("w"), effect: .size(ramp))])
        .check(for: schema)
    } throws: { error in
      (error as? SymbologyError)?.reason == .unknownField("w", available: ["v", "n"])
    }
    #expect {
      try Renderer(
        .simple(entry(1)),
        visualVariables: [
          VisualVariable(source: .expression(try Expression("n + 1")), effect: .size(ramp))
        ]
      ).check(for: schema)
    } throws: { error in
      guard case .expression(let why)? = (error as? SymbologyError)?.reason else { return false }
      return why.kind == .type
    }
    try breaks([(0, 1)]).check(for: schema)
  }

  @Test func `an expression over attributes that no graphic has yet is null for all`() throws {
    let renderer = Renderer(
      .uniqueValue(
        try UniqueValueRenderer(
          sources: [.expression(try Expression("coalesce(w, v)"))],
          entries: [.init(values: ["a"], entry: entry(1))], defaultEntry: entry(99))))
    #expect(renderer.sizes(try FeatureStore.of("v", ["a", "b"])) == [1, 99])
  }
}
