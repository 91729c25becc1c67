// Everything that the model refuses, in its own words; GeoServices puts it into the wire's.

import Geometry
import Query

/// Why a command was refused. The world is then unchanged.
public enum ModelError: Error, Hashable, Sendable {
  case unknownID(Collection, String)
  case idExists(String)
  /// Nothing in a list of an object has that id.
  case unknownItem(noun: String, id: String)
  /// An id stands twice in one list; the path is that of the second.
  case idRepeated(String, path: String)
  /// A layer would lie in itself: the way from it down to itself, both ends included.
  case cycle([String])
  case tooDeeplyNested(limit: Int)
  case wrongKind(String, Layer.Kind, expected: [Layer.Kind])
  /// A layer of a source without geometry can be a table alone.
  case noGeometry(String)
  case cameraNeedsScene
  case expression(ExpressionError, path: String)
  case contentModified(revision: Int)
  /// `clear` named something that cannot be cleared.
  case unknownMember(String, allowed: [String])
  case indexOutOfRange(count: Int)
  case invalidScaleRange
  case emptyGeometry
  case invalidGeometry(expected: String)
  case transform(TransformError)
  case unknownSourceLayer(name: String?, available: [String])
  case sourceClosed
  case notLoaded(String)
  /// Nothing says when the features of a layer, or the graphics of an overlay, are.
  case noTime(String)
  case clockIsReal
  case tooManyTicks
  /// One of two parameters has to be there.
  case oneOf([String])
  case unknownField(String, available: [String], path: String = "/params/properties")
  /// A field that cannot be used so: by its type, or, where that does not tell, by its values.
  case wrongFieldType(String, found: FieldType, expected: String, path: String)
  case items([ItemError], count: Int)
  case columnLengths(expected: Int, found: Int, column: String)
  case nothingToUndo
  case nothingToRedo
  case editInProgress
  case noEdit
  case editTooLarge
  /// A renderer, label or popup that cannot be for this layer.
  case symbology(SymbologyError)
  case flow(FlowError)
  /// What a failed load left behind.
  case failed(Failure)
}

/// A bad item of a bulk command.
public struct ItemError: Hashable, Sendable {
  public let index: Int
  public let failure: Failure
  public init(index: Int, failure: Failure) {
    self.index = index
    self.failure = failure
  }
}

/// An error as data, kept in a status: the same on the wire as in an error's `data`.
public struct Failure: Hashable, Sendable {
  public let kind: Text
  public let message: Text
  public let path: Text?
  public let expected: Text?
  public init(kind: String, message: String, path: String? = nil, expected: String? = nil) {
    self.kind = Text(kind)
    self.message = Text(message)
    self.path = Text(path)
    self.expected = Text(expected)
  }
}
