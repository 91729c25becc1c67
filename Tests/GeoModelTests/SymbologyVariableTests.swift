// Visual variables: how numbers change a symbol.

import Expressions
import FeatureStore
import GeoModel
import Geometry
import Testing

struct SymbologyVariableTests {
  private func ramp<V>(_ stops: (Double, V)...) throws -> Ramp<V> {
    try Ramp(stops.map { Ramp<V>.Stop(value: $0.0, output: $0.1) })
  }

  private func symbols(_ effect: VisualVariable.Effect, _ values: [AttributeValue]) throws -> [Symbol?] {
    let renderer = Renderer(.simple(entry(8)), visualVariables: [VisualVariable(source: .field("v"), effect: effect)])
    let store = try FeatureStore.of("v", values)
    let bound = BoundRenderer(renderer, schema: store.schema)
    return try values.indices.map { bound.symbol(of: try store.row($0)) }
  }

  @Test func `a size is linear between stops and constant beyond`() throws {
    let effect = VisualVariable.Effect.size(try ramp((0, 4), (10, 8), (20, 40)))
    let sizes = try symbols(effect, [-5, 0, 5, 10, 15, 20, 1e300]).map { $0?.size }
    #expect(sizes == [4, 4, 6, 8, 24, 40, 40])
  }

  @Test func `without a number a symbol is unchanged`() throws {
    let effect = VisualVariable.Effect.size(try ramp((0, 4), (10, 40)))
    #expect(try symbols(effect, [nil, "7", .double(.nan)]).map { $0?.size } == [8, 8, 8])
  }

  @Test func `stops at the limits of double can be interpolated`() throws {
    let far = Double.greatestFiniteMagnitude
    #expect(try ramp((-far, 0), (far, 10)).output(at: 0) == 5)
  }

  @Test func `color and opacity follow their numbers`() throws {
    let black = Color.black
    let red = Color(red: 200, green: 0, blue: 0)
    #expect(
      try symbols(.color(try ramp((0, black), (1, red))), [0.5])
        == [.simpleMarker(SimpleMarkerSymbol(color: Color(red: 100, green: 0, blue: 0)))])
    #expect(
      try symbols(.opacity(try ramp((0, 0), (1, 1))), [0.2])
        == [.simpleMarker(SimpleMarkerSymbol(color: Color(red: 0xD3, green: 0xD3, blue: 0xD3, alpha: 51)))])
  }

  @Test(arguments: [(0, 0, 90), (90, 90, 0), (450, 90, 0), (-90, 270, 180), (180, 180, 270), (360, 0, 90)])
  func `an angle is clockwise from north, or counterclockwise from east`(
    value: Int64, geographic: Double, arithmetic: Double
  ) throws {
    func angle(_ kind: VisualVariable.Rotation) throws -> Double? {
      guard case .simpleMarker(let marker)? = try symbols(.rotation(kind), [.integer(value)])[0] else { return nil }
      return marker.angle
    }
    #expect(try angle(.geographic) == geographic)
    #expect(try angle(.arithmetic) == arithmetic)
  }

  @Test func `color and opacity do not depend on their order`() throws {
    let variables = [
      VisualVariable(source: .field("v"), effect: .opacity(try ramp((0, 0), (1, 1)))),
      VisualVariable(source: .field("v"), effect: .color(try ramp((0, Color.black), (1, Color.black)))),
    ]
    let store = try FeatureStore.of("v", [0.2])
    for variables in [variables, variables.reversed()] {
      let bound = BoundRenderer(Renderer(.simple(entry(8)), visualVariables: variables), schema: store.schema)
      let faded = Color(red: 0, green: 0, blue: 0, alpha: 51)
      #expect(bound.symbol(of: try store.row(0)) == .simpleMarker(SimpleMarkerSymbol(color: faded)))
    }
  }

  @Test func `a size can come from an expression, and variables of several kinds apply`() throws {
    let renderer = Renderer(
      .simple(entry(8)),
      visualVariables: [
        VisualVariable(
          source: .expression(try Expression("v / area")), effect: .size(try ramp((0, 0), (10, 10)))),
        VisualVariable(source: .field("v"), effect: .rotation(.geographic)),
      ])
    let store = try FeatureStore.of([["v": 45, "area": 9]])
    #expect(
      BoundRenderer(renderer, schema: store.schema).symbol(of: try store.row(0))
        == .simpleMarker(SimpleMarkerSymbol(size: 5, angle: 45)))
  }

  @Test func `stops that are out of order, too few or not finite are refused with their path`() {
    func failure(_ values: [Double]) -> SymbologyError? {
      do throws(SymbologyError) {
        _ = try Ramp(values.map { Ramp<Double>.Stop(value: $0, output: 1) })
        return nil
      } catch { return error }
    }
    #expect(failure([1])?.reason == .stops)
    #expect(failure([1, 2, 2])?.path == ["2", "value"])
    #expect(failure([2, 1])?.path == ["1", "value"])
    #expect(failure([.nan, 1])?.path == ["0", "value"])
    #expect(failure([0, .infinity])?.path == ["1", "value"])
    #expect(failure([1, 2]) == nil)
  }
}
