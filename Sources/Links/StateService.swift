// Methods of the state tree: get, observe, unobserve, set.

import GeoModel
import GeoProtocol
import Handlers
import JSONRPC
import StateTree
import Subscriptions
import WireCoding

package enum StateService: StateHandlers {
  /// Maximum number of graphics and layer states in a reply; more would exceed the maximum size of a result.
  private static let maxItems = 500_000

  package static func get(_ params: Get.Params, in world: World) throws -> Get.Result {
    let pattern = try pattern(params.path, "/params/path", followsReferences: true)
    var matches = StateTree.matches(of: pattern, in: world)
    if matches.isEmpty, let path = ModelPath(pointer: params.path),
      let node = StateTree.node(at: world.resolved(path), in: world)
    {
      matches = [(path, node)]
    }
    guard matches.reduce(0, { $0 + $1.node.itemCount }) <= maxItems else {
      throw RPCError(
        .resultTooLarge, "There are more than \(maxItems) graphics or layer states: ask for less, or observe them.")
    }
    return .init(
      revision: world.revision,
      values: matches.map { .init(path: $0.path.description, value: $0.node.rendered) })
  }

  package static func observe(_ params: Observe.Params, on client: any HandlerClient) throws -> Observe.Result {
    let patterns = try params.paths.enumerated().map {
      try pattern($1, "/params/paths/\($0)", followsReferences: false)
    }
    let id = try client.subscribers.makeID()
    let subscriber = StateSubscriber(
      id: id, patterns: patterns, exceptOrigin: params.exceptOrigin, maxRate: params.maxRate,
      defersEdits: params.edits == .deferred, base: client.world.revision)
    let whole = subscriber.begin(Snapshot(patterns, in: client.world))
    client.subscribers.add(subscriber, client.world)
    return .init(subscription: id, revision: client.world.revision, snapshot: whole)
  }

  package static func observePaths(_ params: ObservePaths.Params, on client: any HandlerClient) throws -> ObservePaths.Result {
    let patterns = try params.paths.enumerated().map {
      try pattern($1, "/params/paths/\($0)", followsReferences: false)
    }
    let id = try client.subscribers.makeID()
    client.subscribers.add(
      PathSubscriber(id: id, patterns: patterns, maxRate: params.maxRate, base: client.world.revision), client.world)
    return .init(subscription: id, revision: client.world.revision)
  }

  package static func unobserve(_ params: Unobserve.Params, on client: any HandlerClient) throws -> Unobserve.Result {
    client.subscribers.remove(params.subscription)
    // Replies may have been held back until its delivery.
    client.flush(resumes: false)
    return .init(revision: client.world.revision)
  }

  package static func set(_ params: StateProtocol.Set.Params, in world: inout World) throws -> Answer<
    StateProtocol.Set.Result
  > {
    let written = try BindingService.write(params.value, to: try Wire.statePath(params.path, "path"), in: &world)
    return { .init(revision: $0.revision, value: try written($0)) }
  }

  /// - Parameter followsReferences: false for subscriptions, which do not follow an id to its object.
  private static func pattern(_ text: String, _ path: String, followsReferences: Bool) throws -> StatePattern {
    guard let pattern = StatePattern(text) else {
      throw RPCError(
        .invalidPath, "\"\(text.prefix(200))\" is not a JSON Pointer.", path: path,
        expected: "a JSON Pointer such as /views/v1/viewpoint")
    }
    // Ids contain no `*`, so such a pattern would silently match nothing.
    guard !pattern.segments.contains(where: \.hasPartialWildcard) else {
      throw RPCError(
        .invalidPath, "\"\(text.prefix(200))\" has * in a segment with more to it.", path: path,
        expected: "* by itself, for any one segment")
    }
    try Wire.checkStatePath(pattern.segments.map(\.text), at: path, followsReferences: followsReferences)
    return pattern
  }
}
