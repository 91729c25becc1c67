// The errors of the model. `WireErrors` translates them to those of the protocol.

import Expressions
import FeatureStore
import Geometry

/// Why a command was refused. The world is then unchanged.
/// Paths are JSON Pointers from the object whose members are set, or from the command's parameters.
/// Paths are JSON Pointers from the object of which members are set, or from the command's parameters.
public enum ModelError: Error, Hashable, Sendable {
  case unknownID(Collection, String)
  /// - holder: the noun of the object that has the id, or of a closed object that had it and can be restored.
  case idExists(String, holder: String, isClosed: Bool)
  /// A list of an object has no item with the id.
  case unknownItem(noun: String, id: String)
  /// An id occurs twice in a list; the path is that of the second.
  case idRepeated(String, path: String)
  /// A layer would contain itself. The ids from the layer down to itself, both ends included.
  case cycle([String])
  case tooDeeplyNested(limit: Int)
  case tooManyOwners(limit: Int)
  case wrongKind(String, Layer.Kind, expected: [Layer.Kind])
  /// A layer over data without geometry can only be a table. The columns are those of a CSV file, some of which may be
  /// coordinates.
  case noGeometry(String, columns: [String])
  case cameraNeedsScene
  case expression(ExpressionError, path: String)
  case contentModified(revision: Int)
  /// `clear` names a member that cannot be cleared.
  case unknownMember(String, allowed: [String])
  case indexOutOfRange(count: Int)
  case invalidScaleRange
  case emptyGeometry
  /// A number outside the range that is allowed at `path`.
  case outOfRange(Double, expected: String, path: String)
  case invalidGeometry(expected: String)
  case transform(TransformError)
  case unknownSourceLayer(name: String?, available: [String])
  case sourceClosed
  /// Features are added only to sources that were opened with columns.
  case notInColumns(SourceID)
  case notLoaded(String)
  /// Observations are received only while the source is connected.
  case notConnected(EntitySourceID)
  /// The layer or overlay has no time definition.
  case noTime(String)
  case wrongLocationKind(String, LocationSource.Kind, expected: [LocationSource.Kind])
  /// The location source does not run.
  case notStarted(String)
  case jobStatus(String, JobAction, found: String)
  case clockIsReal
  case tooManyTicks
  /// One of several parameters is required.
  case oneOf([String])
  case unknownField(String, available: [String], path: String)
  /// The field has an unsuitable type, or unsuitable values.
  case wrongFieldType(String, found: FieldType, expected: String, path: String)
  case items([ItemError], count: Int)
  case columnLengths(expected: Int, found: Int, column: String)
  case nothingToUndo
  case nothingToRedo
  /// A live command creates, removes or moves objects, or changes history.
  case undoRequired
  case editInProgress(by: ConnectedClientID?)
  /// A later step of another client is in the way of undo.
  case undoConflict(step: String, client: ConnectedClientID?)
  case noEdit
  case editTooLarge
  /// A renderer, label or popup is not valid for the layer.
  case symbology(SymbologyError)
  case flow(FlowError)
  /// The stored failure of an earlier load.
  case failed(Failure)
}

/// A bad item of a bulk command.
public struct ItemError: Hashable, Sendable {
  public enum Reason: Hashable, Sendable {
    case store(StoreError)
    case noFeature(Int)
    /// The y of a geometry is not a latitude.
    case latitude
    case failure(Failure)
  }
  public let index: Int
  public let reason: Reason

  public init(index: Int, _ reason: Reason) {
    self.index = index
    self.reason = reason
  }
}

/// An error stored in the status of an object. Same content as `data` of the error on the wire.
public struct Failure: Error, Hashable, Sendable {
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
