// Labels and popups: their texts, conditions and formats.

import Expressions
import FeatureStore
import GeoModel
import Geometry
import Testing

struct SymbologyLabelTests {
  private func store() throws -> FeatureStore {
    try FeatureStore.of([
      ["name": "Paris", "population": 2_138_551, "area": 105.4], ["name": "Vaduz", "population": 5696],
      ["population": 1],
    ])
  }

  private func texts(_ definitions: [LabelDefinition], _ id: Int, scale: Double? = nil) throws -> [String] {
    let store = try store()
    return BoundLabels(definitions, scale: scale, schema: store.schema, by: .neutral).labels(of: try store.row(id)).map(
      \.symbol.text.string)
  }

  @Test func `a label is the value of its expression; null and the empty text make none`() throws {
    let name = LabelDefinition(expression: try Expression("concat(upper(name), ' ', population)"))
    #expect(try texts([name], 0) == ["PARIS 2138551"])
    #expect(try texts([LabelDefinition(expression: try Expression("name"))], 2) == [])
    #expect(try texts([LabelDefinition(expression: try Expression("''"))], 0) == [])
    #expect(try texts([LabelDefinition(expression: try Expression("area"))], 0) == ["105.4"])
  }

  @Test func `a label is for the features that its condition is true for`() throws {
    let big = LabelDefinition(
      expression: try Expression("name"), condition: try Expression("area > 100 AND population > 10000"))
    #expect(try texts([big], 0) == ["Paris"])
    #expect(try texts([big], 1) == [])
  }

  @Test(arguments: [(1_000_001, []), (1_000_000, ["Paris"]), (5000, ["Paris"]), (999, [])] as [(Double, [String])])
  func `a label is drawn within its scales`(scale: Double, expected: [String]) throws {
    let label = LabelDefinition(expression: try Expression("name"), minScale: 1_000_000, maxScale: 1000)
    #expect(try texts([label], 0, scale: scale) == expected)
    #expect(try texts([label], 0) == ["Paris"])
  }

  @Test func `several definitions make labels in order, each with its index`() throws {
    let store = try store()
    let labels = BoundLabels(
      [
        LabelDefinition(expression: try Expression("name"), condition: try Expression("population < 0")),
        LabelDefinition(
          expression: try Expression("population"), symbol: TextSymbol(text: "unused", size: 20), priority: 3),
      ], scale: nil, schema: store.schema, by: .neutral
    ).labels(of: try store.row(1))
    #expect(labels.map(\.definition) == [1] && labels.map(\.priority) == [3])
    #expect(labels.first?.symbol == TextSymbol(text: "5696", size: 20))
  }

  // MARK: Popups

  private func title(_ template: String, _ id: Int = 0) throws -> String {
    let store = try store()
    return PopupDefinition(title: try Template(template), elements: []).popup(
      of: try store.row(id), schema: store.schema, by: .neutral
    ).title.string
  }

  @Test func `a title has expressions in braces`() throws {
    #expect(try title("{name}: {format(population, '%,d')}") == "Paris: 2,138,551")
    #expect(try title("{{{name}}}") == "{Paris}")
    #expect(try title("{concat('}', \"name\")}") == "}Paris")
    #expect(try title("[{name}]", 2) == "[]")
    #expect(try title("plain") == "plain")
  }

  @Test(arguments: ["{name", "name}", "{", "}", "{'}", "a {b} }"])
  func `braces must be balanced`(text: String) {
    #expect { try Template(text) } throws: { ($0 as? SymbologyError)?.reason == .template }
  }

  @Test(arguments: ["{}", "{name name}", "{(}"])
  func `braces must contain an expression`(text: String) {
    #expect { try Template(text) } throws: { error in
      guard case .expression? = (error as? SymbologyError)?.reason else { return false }
      return true
    }
  }

  @Test(arguments: [
    ("x {n", 1, 5), ("é\nx } y", 2, 3), ("{{{'}", 1, 6), ("ab\n{name +}", 2, 8), ("ab\ncd {upper(population)}", 2, 11),
    ("ü {name}\n{ concat(nobody) }", 2, 10),
  ])
  func `errors in a title have their position in the whole text`(text: String, line: Int, column: Int) throws {
    let fields = [Field(name: "name", type: .string), Field(name: "population", type: .integer)]
    let schema = FeatureStore(fields: fields).schema
    #expect { try PopupDefinition(title: try Template(text)).check(for: schema) } throws: { error in
      let position = (error as? SymbologyError)?.position
      return position?.line == line && position?.column == column
    }
  }

  @Test func `lines are fields and expressions, named and formatted`() throws {
    let store = try store()
    let popup = PopupDefinition(elements: [
      try .init(source: .field("population"), label: "Inhabitants", format: "%,d"),
      try .init(source: .expression(try Expression("population / area")), format: "%.1f a km²"),
      try .init(source: .field("name")),
    ])
    let paris = popup.popup(of: try store.row(0), schema: store.schema, by: .neutral)
    #expect(paris.lines.map(\.label) == ["Inhabitants", "population / area", "name"])
    #expect(paris.lines.map(\.text) == ["2,138,551", "20289.9 a km²", "Paris"])
    #expect(paris.lines.map(\.field) == ["population", nil, "name"])
    #expect(paris.lines[0].value == 2_138_551)
    let nowhere = popup.popup(of: try store.row(2), schema: store.schema, by: .neutral)
    #expect(nowhere.lines.map(\.text) == ["1", nil, nil])
  }

  @Test func `without elements all fields are shown, and the title defaults to an attribute or the name`() throws {
    var portrayal = Portrayal()
    let store = try FeatureStore.of([["title": "Here", "n": 1], ["n": 2]])
    let here = try #require(portrayal.popup(of: try store.row(0), schema: store.schema, name: "Layer", by: .neutral))
    #expect(here.title == "Here" && here.lines.map(\.label.string).sorted() == ["n", "title"])
    #expect(portrayal.popup(of: try store.row(1), schema: store.schema, name: "Layer", by: .neutral)?.title == "Layer")
    portrayal.isPopupEnabled = false
    #expect(portrayal.popup(of: try store.row(0), schema: store.schema, name: "Layer", by: .neutral) == nil)
  }

  @Test(arguments: ["%f %f", "%d %q", "%"])
  func `a format must be valid for one value`(format: String) {
    #expect { try PopupDefinition.Element(source: .field("n"), format: format) } throws: { error in
      (error as? SymbologyError)?.path == ["format"]
    }
  }

  @Test func `names and formats may contain quotes`() throws {
    let store = try FeatureStore.of([["a\"b": 7]])
    let popup = PopupDefinition(elements: [try .init(source: .field("a\"b"), format: "it's %d")])
    #expect(popup.popup(of: try store.row(0), schema: store.schema, by: .neutral).lines.map(\.text) == ["it's 7"])
  }
}
