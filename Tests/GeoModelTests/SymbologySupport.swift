// Stores with features from lists of attributes, for the tests of symbology.

import FeatureStore
import GeoModel
import Geometry
import Testing

extension AttributeValue: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .double(value) }
  public init(stringLiteral value: String) { self = .string(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(nilLiteral: ()) { self = .null }
}

extension FeatureStore {
  /// Points with attributes, ids from 0.
  static func of(_ rows: [[String: AttributeValue]]) throws -> FeatureStore {
    var batch = FeatureBatch()
    for (index, row) in rows.enumerated() {
      batch.begin()
      batch.setPoint(x: Double(index), y: 0)
      for (name, value) in row.sorted(by: { $0.key < $1.key }) where value != .null {
        batch.set(column: batch.column(named: name), value)
      }
    }
    var store = FeatureStore()
    _ = try store.append(batch)
    return store
  }

  /// One attribute per feature.
  static func of(_ name: String, _ values: [AttributeValue]) throws -> FeatureStore {
    try of(values.map { [name: $0] })
  }

  func row(_ id: Int) throws -> FeatureRow { try #require(feature(id: id)) }
}

/// A marker that is identified by its size.
func marker(_ size: Double) -> Symbol { .simpleMarker(SimpleMarkerSymbol(size: size)) }

func entry(_ size: Double, _ label: String? = nil) -> SymbolEntry { SymbolEntry(symbol: marker(size), label: label) }

extension Renderer {
  /// The sizes of the symbols of all features; nil if a feature is not drawn.
  func sizes(_ store: FeatureStore) -> [Double?] {
    let bound = BoundRenderer(self, schema: store.schema)
    var sizes: [Double?] = []
    store.forEach { row in
      sizes.append(bound.symbol(of: row)?.size)
      return true
    }
    return sizes
  }
}

/// A random number generator with a seed (splitmix64: G. Steele, D. Lea, C. Flood 2014).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
