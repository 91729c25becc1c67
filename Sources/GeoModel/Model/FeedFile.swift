// Files, FIFOs and devices that sources follow: what the model wants, and what becomes of it. Others open and read them.

/// A file, FIFO or device from which a source gets its data.
public struct FeedFile: Hashable, Sendable {
  /// Absolute.
  public let path: String
  /// Whether reading goes on at the end of a regular file.
  public let follows: Bool
  /// Whether what a regular file has at first is skipped.
  public let skipsOld: Bool
  /// Number of the attempt to open it. With another number it is opened again.
  public internal(set) var attempt = 1

  public init(path: String, follows: Bool, skipsOld: Bool) {
    (self.path, self.follows, self.skipsOld) = (path, follows, skipsOld)
  }
}

extension World {
  /// The files that sources want open, by source.
  public var wantedFeeds: [ObjectReference: FeedFile] {
    var result: [ObjectReference: FeedFile] = [:]
    for id in feeding(LocationSource.self) { result[ObjectReference(.locationSources, id.rawValue)] = locationSources[id]?.wantedFeed }
    for id in feeding(EntitySource.self) { result[ObjectReference(.entitySources, id.rawValue)] = entitySources[id]?.wantedFeed }
    return result
  }

  /// Gives a source a file to follow; nil for none: clients push then.
  public mutating func follow(_ file: FeedFile?, by object: ObjectReference) throws(ModelError) {
    if object.collection == .entitySources { return try followFile(file, EntitySourceID(object.id)) }
    try followFile(file, LocationSourceID(object.id))
  }

  /// The file of a source is open.
  public mutating func feedOpened(of object: ObjectReference) {
    if object.collection == .entitySources { return entityFeedOpened(EntitySourceID(object.id)) }
    locationFeedOpened(LocationSourceID(object.id))
  }

  /// The file of a source has ended, or is lost for a reason.
  public mutating func feedEnded(of object: ObjectReference, _ failure: Failure?) {
    if object.collection == .entitySources { return entityFeedEnded(EntitySourceID(object.id), failure) }
    locationFeedEnded(LocationSourceID(object.id), failure)
  }

  /// Lines of a source's file were left out.
  public mutating func feedLost(lines: [String: Int], of object: ObjectReference) {
    if object.collection == .entitySources { return countLost(lines, of: EntitySourceID(object.id)) }
    changeKnown(LocationSourceID(object.id), by: .location) { $0.refusals.merge(lines, uniquingKeysWith: +) }
  }
}
