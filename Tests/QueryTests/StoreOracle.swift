// The reference for the store: features in a plain array, scanned for every query.

import Geometry

@testable import FeatureStore
@testable import SpatialIndex

struct PlainFeature: Equatable {
  var id: Int
  var geometry: Geometry?
  var attributes: [String: AttributeValue] = [:]
  var zIndex: Int32 = 0
  var isVisible = true
  var isSelected = false
  var symbol: String?

  var box: Envelope? {
    guard let box = geometry?.envelope, IndexedBox(box).isFinite else { return nil }
    return box
  }
}

struct PlainStore: Equatable {
  var features: [PlainFeature] = []
  var nextID = 0

  func index(of id: Int) -> Int? { features.firstIndex { $0.id == id } }

  func ids(in boxes: [Envelope]) -> [Int] {
    features.filter { feature in feature.box.map { box in boxes.contains { $0.intersects(box) } } ?? false }.map(\.id)
  }

  var extent: Envelope? {
    let boxes = features.compactMap(\.box)
    return boxes.isEmpty ? nil : boxes.reduce(into: Envelope.none) { $0.include($1) }
  }

  var idsInDrawingOrder: [Int] {
    features.enumerated().sorted { ($0.element.zIndex, $0.offset) < ($1.element.zIndex, $1.offset) }.map(\.element.id)
  }
}

extension FeatureRow {
  func plain(_ schema: FeatureSchema) -> PlainFeature {
    var feature = PlainFeature(
      id: id, geometry: geometry, zIndex: zIndex, isVisible: isVisible, isSelected: isSelected, symbol: symbol)
    forEachAttribute { column, value in
      let name = schema.name(of: column)
      switch value {
      case .null: break
      case .bool(let value): feature.attributes[name] = .bool(value)
      case .integer(let value): feature.attributes[name] = .integer(value)
      case .double(let value): feature.attributes[name] = .double(value)
      case .string(let text): feature.attributes[name] = .string(String(decoding: text, as: UTF8.self))
      case .json(let text): feature.attributes[name] = .json(String(decoding: text, as: UTF8.self))
      }
    }
    return feature
  }
}

extension FeatureStore {
  var plain: [PlainFeature] {
    var all: [PlainFeature] = []
    forEach {
      all.append($0.plain(schema))
      return true
    }
    return all
  }

  /// Differences from the oracle, one line each.
  func differences(from oracle: PlainStore, boxes: [[Envelope]]) -> [String] {
    var found = checkInvariants()
    if count != oracle.features.count { found.append("count \(count), not \(oracle.features.count)") }
    let mine = plain
    for (a, b) in zip(mine, oracle.features) where a != b { found.append("\(a) is not \(b)") }
    if mine.count != oracle.features.count { found.append("\(mine.count) rows, not \(oracle.features.count)") }
    if extent != oracle.extent { found.append("extent \(String(describing: extent))") }
    if rowsInDrawingOrder().compactMap({ self[$0]?.id }) != oracle.idsInDrawingOrder { found.append("drawing order") }
    for box in boxes {
      let rows = rows(in: box)
      let ids = oracle.ids(in: box)
      if rows.compactMap({ self[$0]?.id }) != ids { found.append("rows in \(box)") }
      if count(in: box) != ids.count { found.append("count in \(box)") }
    }
    if selectedIDs != oracle.features.filter(\.isSelected).map(\.id) { found.append("selected ids") }
    return found
  }
}
