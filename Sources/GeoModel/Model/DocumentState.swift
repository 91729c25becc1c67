// What the world knows of the file that it is kept in, and what that file held that this version does not know.

import Geometry

/// The document that the model is.
public struct DocumentState: Sendable {
  /// Its file, absolute; nil before it is first saved.
  public internal(set) var path: String?
  /// Members of the file that only newer versions know.
  public internal(set) var unknownMembers = UnknownMembers()
  /// Which document of the session it is: what was begun for an earlier one no longer concerns it.
  var number = 0
  /// The newest save that has been noted.
  var lastSave = 0
  var savesBegun = 0
  /// By file, the newest save that has written it.
  var written: [ExactText: Int] = [:]
  /// The file that a save under way gives the document, as the client named it, and that save's number.
  var naming: (name: String, number: Int)?
}

/// Members that were read and not understood, as JSON text: they are written back.
public struct UnknownMembers: Sendable {
  /// One object of the file.
  public struct Object: Sendable {
    /// As it was read, without the objects that lie in it.
    public let original: String
    /// As it would have been written at that moment: what the two differ in was not understood.
    public let written: String
    public init(original: String, written: String) {
      self.original = original
      self.written = written
    }
  }

  /// The file itself, without its lists.
  public var root: Object?
  public var objects: [ObjectReference: Object] = [:]
  /// Those graphics alone of which something was not understood, and of them that with what it lies in.
  public var graphics: [OverlayID: [Int: Object]] = [:]

  public init() {}
}

/// A save that has begun: what it writes, by name.
public struct SaveTicket: Sendable {
  let document: Int
  let content: ContentTag
  /// Saves of a session in the order in which they began.
  let number: Int
}
