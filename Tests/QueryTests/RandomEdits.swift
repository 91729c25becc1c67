// Random features and edits, applied to a store and to the plain array that it is compared with.

import Geometry

@testable import FeatureStore

/// Random features and edits: valid ones and invalid ones.
struct RandomEdits {
  var random: SplitMix
  init(seed: UInt64) { random = SplitMix(seed) }

  mutating func value() -> AttributeValue {
    switch random.below(12) {
    case 0: .null
    case 1: .bool(random.chance(0.5))
    case 2, 3: .integer(Int64(random.below(1000)) - 500)
    case 4: .integer(.max)
    case 5: .double(random.unit())
    case 6: .json("{\"a\":[\(random.below(9))]}")
    case 7: .string("")
    case 8: .string(String(repeating: "ü", count: random.below(300)))
    default: .string("kind \(random.below(6))")
    }
  }

  /// Usually a value of the type that the name suggests.
  mutating func value(for name: String) -> AttributeValue {
    if random.chance(0.02) { return value() }
    if random.chance(0.05) { return .null }
    switch name {
    case "kind": return .string("kind \(random.below(6))")
    case "name": return .string("name \(random.next())")
    case "number": return .integer(Int64(random.below(1_000_000)))
    case "size": return .double(random.unit())
    case "flag": return .bool(random.chance(0.5))
    case "extra": return .json("[\(random.below(99))]")
    default: return value()
    }
  }

  mutating func attributes() -> [(name: String, value: AttributeValue)] {
    var result: [(name: String, value: AttributeValue)] = []
    for name in ["kind", "name", "number", "size", "flag", "extra"] where random.chance(0.7) {
      result.append((name, value(for: name)))
    }
    if random.chance(0.2) {
      let name = "rare \(random.below(40))"
      result.append((name, value()))
    }
    return result
  }

  mutating func position() -> (Double, Double) { (random.unit() * 360 - 180, random.unit() * 180 - 90) }

  mutating func geometry() -> Geometry? {
    let (x, y) = position()
    switch random.below(20) {
    case 0: return nil
    case 1: return .point(nil)
    case 2: return .point(Point(x: x, y: y, z: random.unit() * 100))
    case 3: return random.chance(0.2) ? .point(Point(x: x, y: y, m: 1)) : .point(Point(x: .infinity, y: y))
    case 4 where random.chance(0.3):
      return .lineString(Positions(values: [x, y, x + random.unit() * 20, y + random.unit() * 20]))
    case 5 where random.chance(0.1): return .collection([])
    default: return .point(Point(x: x, y: y))
    }
  }

  mutating func boxes() -> [Envelope] {
    let (x, y) = position()
    let box = Envelope(xMin: x, yMin: y, xMax: x + random.unit() * 90, yMax: y + random.unit() * 45)
    return random.chance(0.3) ? [box, Envelope(xMin: box.xMin - 20, yMin: y, xMax: box.xMax - 20, yMax: y + 9)] : [box]
  }

  /// A batch, and the same in the oracle.
  mutating func batch(_ size: Int, for oracle: inout PlainStore) -> FeatureBatch {
    var batch = FeatureBatch()
    var named: [Int?] = []
    var features: [PlainFeature] = []
    let style = random.below(4)
    for row in 0..<size {
      var id: Int?
      if style == 0 { id = oracle.nextID + row * 3 }
      if style == 1, random.chance(0.3) {
        let wanted = random.below(100_000)
        if oracle.index(of: wanted) == nil, !named.contains(wanted) { id = wanted }
      }
      named.append(id)
      var feature = PlainFeature(id: -1, geometry: geometry())
      batch.begin(id: id)
      if case .point(let point?)? = feature.geometry, point.m == nil, random.chance(0.8) {
        batch.setPoint(x: point.x, y: point.y, z: point.z)
      } else {
        batch.setGeometry(feature.geometry)
      }
      for (name, value) in attributes() {
        var key = name
        let column = key.withUTF8 { batch.column(key: UnsafeRawBufferPointer($0)) }
        batch.set(column: column, value)
        feature.attributes[name] = value == .null ? nil : value
      }
      if random.chance(0.02) {
        feature.zIndex = Int32(random.below(5)) - 2
        batch.setZIndex(feature.zIndex)
      }
      if random.chance(0.02) {
        feature.isVisible = false
        batch.setHidden()
      }
      if random.chance(0.02) {
        feature.isSelected = true
        batch.setSelected()
      }
      if random.chance(0.05) {
        var text = "{\"size\":\(random.below(4))}"
        feature.symbol = text
        text.withUTF8 { batch.setSymbol(utf8: UnsafeRawBufferPointer($0)) }
      }
      features.append(feature)
    }
    var minted = max(oracle.nextID, (named.compactMap { $0 }.max() ?? -1) + 1)
    for row in features.indices {
      if let id = named[row] {
        features[row].id = id
      } else {
        features[row].id = minted
        minted += 1
      }
    }
    oracle.nextID = max(oracle.nextID, (features.map(\.id).max() ?? -1) + 1)
    oracle.features += features
    return batch
  }

  mutating func edit(_ feature: inout PlainFeature) -> FeatureEdit {
    var edit = FeatureEdit(id: feature.id)
    if random.chance(0.4) {
      feature.geometry = geometry()
      edit.geometry = feature.geometry.map { .set($0) } ?? .clear
    }
    if random.chance(0.1) {
      edit.replacesAttributes = true
      feature.attributes = [:]
    }
    if random.chance(0.6) {
      edit.attributes = attributes()
      for (name, value) in edit.attributes { feature.attributes[name] = value == .null ? nil : value }
    }
    if random.chance(0.1) {
      feature.zIndex = Int32(random.below(3)) - 1
      edit.zIndex = feature.zIndex
    }
    if random.chance(0.1) {
      feature.isVisible.toggle()
      edit.isVisible = feature.isVisible
    }
    if random.chance(0.1) {
      feature.isSelected.toggle()
      edit.isSelected = feature.isSelected
    }
    if random.chance(0.1) {
      feature.symbol = random.chance(0.5) ? nil : "{}"
      edit.symbol = feature.symbol.map { .set($0) } ?? .clear
    }
    return edit
  }
}
