// Who follows the model: what all subscriptions have in common.

import GeoModel
import JSONRPC

/// How far something long has got.
enum DeliveryProgress {
  case done
  /// There is more, and room for it; others come first.
  case more
  /// The client has to read first. The session has been asked and says when it has drained.
  case full
}

/// One subscription. It notes what happens and tells it when it is asked to; what it tells is read from the world then.
protocol Subscriber: AnyObject {
  var id: String { get }
  /// What it follows: it hears of changes there, above and below.
  var interests: [StatePattern] { get }
  /// Tells at most so often a second; nil for at once.
  var maxRate: Double? { get }
  /// Whether it tells what an edit does at the edit's end.
  var defersEdits: Bool { get }
  /// Whether there is something to tell.
  var isDirty: Bool { get }
  /// Whether it has given up what it noted: what it will tell stands in for all of that.
  var isLost: Bool { get }
  /// The object it ends with, if any.
  var scope: ObjectReference? { get }

  /// Notes a change; answers how many earlier ones it made superfluous.
  ///
  /// - Parameters:
  ///   - place: where it happened.
  ///   - list: the list that was there before, if it is one.
  func note(_ change: Change, _ place: StatePath, _ list: SentList?, _ world: World) -> Int
  /// Tells what has been noted, as of now.
  ///
  /// - Parameter texts: what others have told already.
  func flush(_ world: World, to session: Session, _ texts: inout PatchTexts)
  /// Goes on with something long that is on its way.
  func goOn(_ session: Session) -> DeliveryProgress
  /// Gives up what has been noted; the next ``flush(_:to:_:)`` tells everything anew. False when there was nothing to give up.
  func giveUp() -> Bool
  /// From here on, only what differs from `world` is to be told: it stands as it was told.
  func compare(with world: World)
  /// All that there is to compare is noted.
  func stopComparing()
}

extension Subscriber {
  var defersEdits: Bool { false }
  var isLost: Bool { false }
  func goOn(_ session: Session) -> DeliveryProgress { .done }
  func compare(with world: World) {}
  func stopComparing() {}
}
