// The state of the open document: its file, its saves, and members of the file that this version does not know.

/// The document that the world holds.
public struct DocumentState: Sendable {
  /// The absolute path of the document's file; nil before the first save.
  public internal(set) var path: String?
  /// The file with the unsaved model of an earlier server, which can be opened, and the path of its document.
  public internal(set) var recovery: (file: String, path: String?)?
  /// Members of the file that this version does not know.
  public internal(set) var unknownMembers = UnknownMembers()
  /// Number of the document in the session. Ids repeat across documents, so what was begun with an earlier document compares this
  /// number.
  public internal(set) var number = 0
  /// Number of the newest save that has ended.
  var lastSave = 0
  /// Number of saves that have begun in the session.
  var savesBegun = 0
  /// The new file name of a save in progress, as the client gave it, and the number of that save.
  public internal(set) var pendingName: (name: String, number: Int)?
}

/// Members of a document that this version does not know, as JSON text, so that saving preserves them.
public struct UnknownMembers: Sendable {
  /// One object of the file.
  public struct Object: Sendable {
    /// The text that was read, without the objects nested in it.
    public let original: String
    /// The text that saving would have written right after reading. Members of `original` that are missing or different here are
    /// unknown.
    public let written: String
    public init(original: String, written: String) {
      self.original = original
      self.written = written
    }
  }

  /// The root of the file, without its lists.
  public var root: Object?
  public var objects: [ObjectReference: Object] = [:]
  /// Graphics with unknown members, each with the objects that contain it.
  public var graphics: [OverlayID: [Int: Object]] = [:]

  public init() {}
}

/// A save in progress: identifies the content that it writes.
public struct SaveTicket: Sendable {
  let document: Int
  let content: ContentTag
  /// Saves are numbered in the order in which they begin.
  let number: Int
}
