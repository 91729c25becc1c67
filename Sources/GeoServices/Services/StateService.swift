// The state tree on the wire: read, followed, let go.

import GeoModel
import GeoProtocol
import JSON
import JSONRPC

enum StateService: StateHandlers {
  typealias Host = GeoServices.Host

  /// More graphics in one answer would be far over the size of a message.
  private static let mostGraphics = 500_000

  static func get(_ params: StateProtocol.Get.Params, in world: World) throws -> StateProtocol.Get.Result {
    let pattern = try pattern(params.path, "/params/path")
    let places = StateTree.places(of: pattern, in: world)
    guard places.reduce(0, { $0 + $1.node.graphicCount }) <= mostGraphics else {
      throw RPCError(.resultTooLarge, "There are more than \(mostGraphics) graphics: ask for less, or observe them.")
    }
    return .init(
      revision: world.revision,
      values: places.map { .init(path: pointer($0.path), value: $0.node.rendered) })
  }

  static func observe(_ params: StateProtocol.Observe.Params, on host: Host) throws -> StateProtocol.Observe.Result {
    var patterns: [StatePattern] = []
    for (index, path) in params.paths.enumerated() { patterns.append(try pattern(path, "/params/paths/\(index)")) }
    let id = host.subscribers.makeID()
    let subscriber = StateSubscriber(
      id: id, patterns: patterns, exceptOrigin: params.exceptOrigin, maxRate: params.maxRate,
      defersEdits: params.edits == .deferred, base: host.world.revision)
    subscriber.remember(host.world)
    host.subscribers.add(subscriber, host.world)
    let snapshot = Snapshot(patterns, in: host.world)
    let whole = snapshot.inOnePiece()
    if whole == nil { subscriber.tell(snapshot) }
    return .init(subscription: id, revision: host.world.revision, snapshot: whole)
  }

  static func unobserve(_ params: StateProtocol.Unobserve.Params, on host: Host) throws
    -> StateProtocol.Unobserve.Result
  {
    host.subscribers.remove(params.subscription)
    // Answers may have waited for what it had to tell.
    host.flush()
    return .init(revision: host.world.revision)
  }

  static func set(_ params: StateProtocol.Set.Params, in world: inout World) throws -> StateProtocol.Set.Result {
    let value = try BindingService.write(params.value, to: try Wire.path(params.path, "path"), in: &world)
    return .init(revision: world.revision, value: Wire.present(value))
  }

  private static func pattern(_ text: String, _ path: String) throws -> StatePattern {
    guard let pattern = StatePattern(text) else {
      throw RPCError(
        .invalidPath, "\"\(text.prefix(200))\" is no JSON Pointer.", path: path,
        expected: "a JSON Pointer such as /views/v1/viewpoint")
    }
    // No id has one; what looks like a pattern and matches nothing would be silence.
    guard !pattern.segments.contains(where: \.hasPartialWildcard) else {
      throw RPCError(
        .invalidPath, "\"\(text.prefix(200))\" has * in a segment with more to it.", path: path,
        expected: "* by itself, for any one segment")
    }
    return pattern
  }
}
