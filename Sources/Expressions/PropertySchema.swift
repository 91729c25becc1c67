// What the names in an expression are resolved to.

import Geometry

/// Named columns of values, and a geometry.
package protocol PropertySchema {
  var names: [String] { get }
  func column(named name: String) -> Int?
  /// Nil where only its values determine it.
  func declaredType(of column: Int) -> FieldType?
  /// Whether a column's texts are times.
  func isTime(_ column: Int) -> Bool
  /// Whether a name stands for the geometry where no column has it.
  func isGeometry(_ name: String) -> Bool
  var geometryNames: [String] { get }
}
