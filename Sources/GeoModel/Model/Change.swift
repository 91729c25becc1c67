// Change records: the model's reports of its changes.

import Geometry

/// The author of a change.
public enum Origin: Hashable, Sendable {
  /// A request; the name is its `origin`. The number is that of its client, where several share the model.
  case client(Text?, ClientNumber? = nil)
  case animation
  case location
  case task
  case undo
  /// A link or a derived property, by propagation.
  case binding
}

/// Ids of graphics: a range of minted ones, or a list.
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

/// An edit of graphics of an overlay.
public struct GraphicsEdit: Hashable, Sendable {
  public enum Kind: Hashable, Sendable { case added, updated, removed }
  public let kind: Kind
  public let ids: GraphicIDs
}

/// What a location source has published: state has only the last.
public enum LocationEvent: Sendable {
  case location(Location)
  case heading(Double)
}

/// One change. It holds no values but those of streams: readers read them from the world at the same revision.
public struct Change: Sendable {
  public enum Event: Sendable {
    /// Another document's objects have replaced all objects; see ``World/replacement(of:by:_:)``.
    case replaced
    case created(ObjectReference)
    case closed(ObjectReference)
    case changed(ObjectReference, Property)
    /// A member with a client-defined name.
    case member(ObjectReference, String)
    case graphics(OverlayID, GraphicsEdit)
    /// Observations of a source; live, and never saved.
    case entities(EntitySourceID, EntityEdit)
    case clock(Property)
    case history(Property)
    case document(Property)

    /// Whether the change modifies the document and cannot be undone.
    var isSavedForGood: Bool {
      switch self {
      // A scope exists because of its values, which are undone.
      case .created(let object), .closed(let object):
        object.collection.isSaved && !object.collection.kind.isUndoable && object.collection != .environments
      case .changed(let object, let property):
        // Settings of location sources are undone, although the sources are not.
        !object.collection.kind.isUndoable && property != .overlays && object.collection != .locationSources
          && object.collection.traits(of: property).contains(.modifies)
      // Graphics and values are covered by steps of history; the others are never saved.
      case .replaced, .member, .graphics, .entities, .clock, .history, .document: false
      }
    }
  }
  public let revision: Int
  public let origin: Origin
  public let event: Event
  /// The number of the created or closed object, which distinguishes it from others with the same id; nil where nothing needs it.
  var number: Int?
  /// What a location source has published with a change of its location or heading.
  var published: Shared<LocationEvent>?
  public var locationEvent: LocationEvent? { published?.value }

  var closesView: Bool {
    if case .closed(let object) = event { object.collection == .views } else { false }
  }
}

/// How a process has ended.
public enum ProcessEnd: Hashable, Sendable {
  /// It reached its goal.
  case completed
  /// It reached its goal as far as limits allow.
  case constrained
  /// A newer process replaced it, or its object was closed.
  case interrupted(Interruption)
  case cancelled
}
