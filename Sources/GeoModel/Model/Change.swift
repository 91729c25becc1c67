// Change records: the one way in which the model tells what happened.

import Geometry

/// Who made a change.
public enum Origin: Hashable, Sendable {
  /// A request; the name is what it gave as its origin.
  case client(String?)
  case animation
  case location
  case task
  case undo
  /// A link, or a derived property, that followed another change.
  case binding
}

extension Origin {
  /// Names are the same where they are written alike.
  public static func == (left: Origin, right: Origin) -> Bool {
    switch (left, right) {
    case (.client(let left), .client(let right)): Text(left) == Text(right)
    case (.animation, .animation), (.location, .location), (.task, .task), (.undo, .undo), (.binding, .binding): true
    default: false
    }
  }
}

/// Ids of graphics: a run of minted ones, or any.
public enum GraphicIDs: Hashable, Sendable {
  case run(Range<Int>)
  case list([Int])

  public var count: Int {
    switch self {
    case .run(let range): range.count
    case .list(let ids): ids.count
    }
  }

  public func forEach(_ body: (Int) -> Void) {
    switch self {
    case .run(let range): for id in range { body(id) }
    case .list(let ids): for id in ids { body(id) }
    }
  }
}

/// What happened to graphics of an overlay.
public enum GraphicsEdit: Hashable, Sendable {
  case added(GraphicIDs)
  case updated(GraphicIDs)
  case removed(GraphicIDs)

  /// How many graphics it concerns.
  public var count: Int {
    switch self {
    case .added(let ids), .updated(let ids), .removed(let ids): ids.count
    }
  }
}

/// One thing that happened. Values are not in it: whoever wants them reads the world at the same revision.
public struct Change: Sendable {
  public enum Event: Sendable {
    case created(ObjectReference)
    case closed(ObjectReference)
    case changed(ObjectReference, Property)
    /// A member by the name that a client gave it.
    case member(ObjectReference, String)
    case graphics(OverlayID, GraphicsEdit)
    case clock(Property)
    case history(Property)
    case document(Property)

    /// Whether a document keeps what has changed.
    var isSaved: Bool {
      switch self {
      case .created(let object), .closed(let object): object.collection.isSaved
      case .changed(let object, let property): object.collection.traits(of: property).contains(.modifies)
      // Those that a document keeps are steps of history; others are selections, or values that it does not keep.
      case .member, .graphics, .clock, .history, .document: false
      }
    }

    /// Whether a document keeps what has changed, and undo does not bring back what it was.
    var isSavedForGood: Bool {
      guard isSaved else { return false }
      return switch self {
      // Scopes of the environment come with what is set in them.
      case .created(let object), .closed(let object):
        !object.collection.kind.isUndoable && object.collection != .environments
      case .changed(let object, let property): object.collection == .views && property != .overlays
      case .member, .graphics, .clock, .history, .document: false
      }
    }
  }
  public let revision: Int
  public let origin: Origin
  public let event: Event

  var closesView: Bool {
    if case .closed(let object) = event { object.collection == .views } else { false }
  }
}

/// How a process came to its end.
public enum ProcessEnd: Hashable, Sendable {
  /// It did what it set out to do.
  case completed
  /// Something newer took its place, or what it belonged to was closed.
  case interrupted
  case cancelled
}
