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
      let columns = each.order.map { order in chosen.map { Key(attribute(order.name, of: $0)) } }
      // Places are moved, not items: these have references to count.
      let places = chosen.indices.sorted { left, right in
        for (order, keys) in zip(each.order, columns) {
          let isBefore = keys[left].isBefore(keys[right], isDescending: order.isDescending)
          if let isBefore { return isBefore }
        }
        return left < right
      }
      chosen = places.map { chosen[$0] }
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
  /// directions.
  private struct Key {
    private let rank: Int
    private var number = 0.0
    private var text = ""

    init(_ value: AttributeValue) {
      switch value {
      case .integer(let integer): (rank, number) = (0, Double(integer))
      case .double(let double): (rank, number) = (0, double)
      case .string(let string): (rank, text) = (1, string)
      case .bool(let flag): (rank, number) = (2, flag ? 1 : 0)
      case .null, .json: rank = 3
      }
    }

    /// Nil for equal keys.
    func isBefore(_ other: Key, isDescending: Bool) -> Bool? {
      guard rank == other.rank else {
        return max(rank, other.rank) == 3 || !isDescending ? rank < other.rank : rank > other.rank
      }
      if number < other.number { return !isDescending }
      if number > other.number { return isDescending }
      // Bytes of UTF-8 are in the order of the code points.
      guard rank == 1, !text.utf8.elementsEqual(other.text.utf8) else { return nil }
      return text.utf8.lexicographicallyPrecedes(other.text.utf8) != isDescending
    }
  }
}
