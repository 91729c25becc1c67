// A layer of a Mapbox Vector Tile 2.1: features, and the keys and values to which they refer.

import FeatureStore
import Geometry

/// Writes the features of one layer of a tile.
package struct TileLayer: ~Copyable {
  private var features = TileBytes(capacity: 1 << 16)
  private var keys: [String] = []
  private var numbers: [Text: UInt32] = [:]
  private var values = TileValues()
  private var tags: [UInt32] = []
  private let name: String
  package private(set) var featureCount = 0

  package init(name: String) { self.name = name }

  /// Number of bytes of the features so far.
  package var size: Int { features.count }

  /// The number of a key.
  package mutating func key(_ name: String) -> UInt32 {
    if let known = numbers[Text(name)] { return known }
    keys.append(name)
    numbers[Text(name)] = UInt32(keys.count - 1)
    return UInt32(keys.count - 1)
  }

  /// Adds an attribute to the next feature; null is left out.
  @inline(__always)
  package mutating func tag(_ key: UInt32, _ value: FeatureRow.Attribute) {
    guard let number = values.number(of: value) else { return }
    tags.append(key)
    tags.append(number)
  }

  /// Adds a feature with the attributes since ``beginFeature()``. Shapes of one feature may follow one another.
  package mutating func add(id: Int, _ kind: TileShape.Kind, _ shape: borrowing TileShape) {
    let (tagSize, size) = (tags.packedSize, shape.commands.packedSize)
    let id = UInt64(max(id, 0))
    var length = 1 + id.varintSize + 2 + 1 + UInt64(size).varintSize + size
    if tagSize > 0 { length += 1 + UInt64(tagSize).varintSize + tagSize }
    features.put(2 << 3 | 2)
    features.put(UInt64(length))
    features.put(field: 1, id)
    if tagSize > 0 { features.put(field: 2, packed: tags, size: tagSize) }
    features.put(field: 3, kind.rawValue)
    features.put(field: 4, packed: shape.commands, size: size)
    featureCount += 1
  }

  /// Forgets the attributes of the feature before.
  package mutating func beginFeature() { tags.removeAll(keepingCapacity: true) }

  /// The tile with this layer alone; empty without features.
  package consuming func tile() -> [UInt8] {
    guard featureCount > 0 else { return [] }
    var layer = TileBytes(capacity: features.count + 1024)
    layer.put(field: 15, 2)
    layer.put(field: 1, name)
    layer.append(features.bytes)
    for key in keys { layer.put(field: 3, key) }
    values.write(to: &layer)
    layer.put(field: 5, UInt64(TileAddress.extent))
    var tile = TileBytes(capacity: layer.count + 16)
    tile.put(field: 3, layer.bytes)
    return Array(tile.bytes)
  }
}
