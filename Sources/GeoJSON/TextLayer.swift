// The result of scanning a file for its layer.

import Geometry

/// A column of a layer.
public struct TextColumn: Sendable {
  public let field: Field
  public let form: ColumnForm
}

/// The layer of a file that is read without GDAL.
public struct TextLayer: Sendable {
  /// A feature collection, or features in sequence.
  public enum Form: Sendable { case collection, sequence }

  public let form: Form
  /// The member `name` of a collection.
  public let name: String?
  /// The text of the obsolete member `crs`.
  public let reference: String?
  public let columns: [TextColumn]
  public let featureCount: Int
  /// "Point" and so on; "Unknown" if features differ, or none has a geometry.
  public let geometryType: String
  public let hasZ: Bool
  public let ids: FeatureIDs
  let names: FieldNames
  /// The column of each field, by the field's number in tokens.
  public let columnOfField: [Int]
}

/// The source of feature ids. Features without an id are numbered in order, from 0.
public enum FeatureIDs: Sendable {
  case order
  /// The member `id`.
  case member
  /// The property `id` in this column; the member `id` if the property is missing.
  case property(Int)
  /// Features have no ids; missing values of this column come from the member `id`.
  case attribute(Int)
}
