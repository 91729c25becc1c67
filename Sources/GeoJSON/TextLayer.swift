// What a scan of a file finds out about its layer.

import Geometry

/// A column of a layer.
public struct TextColumn: Sendable {
  public let field: Field
  public let form: ColumnForm
}

/// The layer of a file that is read here.
public struct TextLayer: Sendable {
  /// A collection, or features one after the other.
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
  /// By number of a token's field.
  public let columnOfField: [Int]
}

/// What numbers features; those without it have their order, from 0.
public enum FeatureIDs: Sendable {
  case order
  /// The member `id`.
  case member
  /// The property `id`, which is this column; values missing there come from the member.
  case property(Int)
  /// None; missing values of this column come from the member.
  case attribute(Int)
}
