// The columns and the geometry to which names in an expression are resolved.

import Geometry

/// Named columns of values, and a geometry.
package protocol PropertySchema {
  var names: [String] { get }
  func column(named name: String) -> Int?
  /// The declared type of a column; nil if its type depends on the values.
  func declaredType(of column: Int) -> FieldType?
  /// Whether a column's texts are times.
  func isTime(_ column: Int) -> Bool
  /// Whether a name stands for the geometry if no column has it.
  func isGeometry(_ name: String) -> Bool
  var geometryNames: [String] { get }
}
