// Everything that the model refuses, in its own words; GeoServices puts it into the wire's.

import Geometry

/// Why a command was refused. The world is then unchanged.
public enum ModelError: Error, Hashable, Sendable {
  case unknownID(Collection, String)
  case idExists(String)
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
  case clockIsReal
  case tooManyTicks
  /// One of two parameters has to be there.
  case oneOf([String])
  case unknownField(String, available: [String])
  case items([ItemError], count: Int)
  case columnLengths(expected: Int, found: Int, column: String)
  case nothingToUndo
  case nothingToRedo
  case editInProgress
  case noEdit
  case editTooLarge
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
  public let kind: String
  public let message: String
  public let path: String?
  public let expected: String?
  public init(kind: String, message: String, path: String? = nil, expected: String? = nil) {
    self.kind = kind
    self.message = message
    self.path = path
    self.expected = expected
  }
}
