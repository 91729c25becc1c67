// A derived list: the items of another list or the objects of a collection, filtered, sorted and mapped by expressions.

import Expressions
import GeoModel
import Geometry
import StateTree
import TextFormatting
import WireCoding

struct DerivedList {
  /// It is computed anew when an item changes, so there is a limit to what a change costs.
  static let itemLimit = 10_000

  private let each: Derivation.Each
  private let derivation: Derivation
  private let conventions: TextConventions
  private let world: World
  private let items: [Item]?
  private var inputs: [String: AttributeValue] = [:]

  private struct Item {
    let value: Value
    /// For an object of a collection, whose value is its id.
    let object: ObjectReference?
  }

  init(
    _ each: Derivation.Each, _ derivation: Derivation, of model: ViewModel, _ conventions: TextConventions,
    in world: World
  ) {
    (self.each, self.derivation, self.conventions, self.world) = (each, derivation, conventions, world)
    if let collection = derivation.listedCollection {
      items = world.count(of: collection) > Self.itemLimit
        ? nil : world.ids(of: collection).map { Item(value: .string($0), object: ObjectReference(collection, $0)) }
    } else {
      let elements = derivation.list.flatMap { Propagation.value(of: $0, of: model, in: world).elements }
      items = elements.flatMap { $0.count > Self.itemLimit ? nil : $0.map { Item(value: $0, object: nil) } }
    }
    let names = derivation.expression.properties + (each.condition?.properties ?? [])
    for name in names {
      guard let source = derivation.input(name) else { continue }
      inputs[name] = Wire.attribute(Propagation.value(of: source, of: model, in: world))
    }
  }

  /// The list; null without items to compute it from, or with too many.
  var value: Value {
    guard let items else { return .null }
    var chosen = items.filter { item in
      guard let condition = each.condition else { return true }
      if case .bool(true)? = evaluated(condition, item) { return true }
      return false
    }
    if !each.order.isEmpty {
      let keyed = chosen.enumerated().map { index, item in
        (index: index, item: item, keys: each.order.map { attribute($0.name, of: item) })
      }
      chosen = keyed.sorted { left, right in
        for (order, (left, right)) in zip(each.order, zip(left.keys, right.keys)) {
          if let isBefore = Self.isBefore(left, right, isDescending: order.isDescending) { return isBefore }
        }
        return left.index < right.index
      }.map(\.item)
    }
    return .array(chosen.map { evaluated(derivation.expression, $0).map(Wire.value) ?? .null })
  }

  private func evaluated(_ expression: Expression, _ item: Item) -> AttributeValue? {
    try? expression.evaluated(by: conventions) { inputs[$0] ?? attribute($0, of: item) }
  }

  /// An item, or a member of it.
  private func attribute(_ name: String, of item: Item) -> AttributeValue {
    if name == Derivation.itemName { return Wire.attribute(item.value) }
    if let object = item.object {
      return Wire.attribute(PathReading.value(at: ModelPath(object, name), in: world) ?? .null)
    }
    return Wire.attribute(item.value.members?[name] ?? .null)
  }

  /// Numbers come before texts, which are compared by code points, and texts before booleans; other values are last in both
  /// directions. Nil for equal ones.
  private static func isBefore(_ left: AttributeValue, _ right: AttributeValue, isDescending: Bool) -> Bool? {
    let (first, second) = (rank(left), rank(right))
    guard first == second else { return first == 3 || second == 3 || !isDescending ? first < second : first > second }
    let isLess: Bool
    switch (left, right) {
    case (.string(let left), .string(let right)):
      if Text(left) == Text(right) { return nil }
      isLess = left.unicodeScalars.lexicographicallyPrecedes(right.unicodeScalars)
    case (.bool(let left), .bool(let right)):
      if left == right { return nil }
      isLess = right
    default:
      guard let left = Wire.value(left).double, let right = Wire.value(right).double, left != right else { return nil }
      isLess = left < right
    }
    return isLess != isDescending
  }

  private static func rank(_ value: AttributeValue) -> Int {
    switch value {
    case .integer, .double: 0
    case .string: 1
    case .bool: 2
    case .null, .json: 3
    }
  }
}
