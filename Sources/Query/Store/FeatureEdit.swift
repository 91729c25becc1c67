// The update of one feature.

import Geometry

/// A change of an optional value: keep, set or remove.
public enum Edit<Value: Sendable>: Sendable {
  case keep
  case set(Value)
  case clear
}

/// The changes of one feature; unspecified values stay.
public struct FeatureEdit: Sendable {
  public var id: Int
  public var geometry: Edit<Geometry> = .keep
  /// By name; null removes the attribute. If a name occurs twice, the last one counts.
  public var attributes: [(name: String, value: AttributeValue)] = []
  /// Whether attributes not named are removed.
  public var replacesAttributes = false
  public var zIndex: Int32?
  public var isVisible: Bool?
  public var isSelected: Bool?
  public var symbol: Edit<String> = .keep

  public init(id: Int) { self.id = id }
}

/// Rows and their boxes to be added to or removed from the index.
struct IndexChange {
  private var points: [UInt32] = []
  private var x: [Double] = []
  private var y: [Double] = []
  private var boxes: [UInt32] = []
  private var envelopes: [Envelope] = []

  mutating func add(_ row: UInt32, _ geometry: IndexedGeometry?) {
    guard let geometry else { return }
    if geometry.isPoint {
      points.append(row)
      x.append(geometry.envelope.xMin)
      y.append(geometry.envelope.yMin)
    } else {
      boxes.append(row)
      envelopes.append(geometry.envelope)
    }
  }

  func insert(into index: inout SpatialIndex) {
    index.insert(points: points, x: x, y: y)
    index.insert(boxes: boxes, envelopes)
  }

  func remove(from index: inout SpatialIndex) {
    index.remove(points: points, x: x, y: y)
    index.remove(boxes: boxes, envelopes)
  }
}
