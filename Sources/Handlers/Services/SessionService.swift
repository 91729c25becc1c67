// Handlers of `session/*`.

import Expressions
import GeoModel
import GeoProtocol
import JSONRPC
import WireCoding

package enum SessionService: SessionHandlers {
  package static func echo(_ params: Echo.Params, in world: World) throws -> Echo.Result {
    .init(value: params.value)
  }

  package static func status(_ params: Status.Params, on client: any HandlerClient) throws -> Status.Result {
    let world = client.world
    let counters = client.session?.counters ?? SessionCounters()
    return .init(
      revision: world.revision,
      tasks: .init(running: client.tasks.count, working: client.tasks.working, started: client.tasks.started),
      traffic: .init(
        received: counters.received, sent: counters.sent, unread: client.session?.unread ?? 0,
        coalesced: client.subscribers.coalesced, resyncs: client.subscribers.resyncs),
      model: .init(
        sources: world.sources.count, maps: world.maps.count, layers: world.layers.count, scenes: world.scenes.count,
        views: world.views.count, overlays: world.overlays.count,
        graphics: world.itemCount(of: .overlays),
        locationSources: world.locationSources.count, subscriptions: client.subscribers.count),
      residentBytes: client.residentBytes,
      textMetrics: client.hasFonts && client.readers.painters.isAvailable ? .fonts : .estimated,
      confinement: client.readers.confinement.map { parts in parts.map(\.wire) },
      access: .init(
        readable: client.files.policy.readableFolders, writable: client.files.policy.writableFolders,
        network: client.files.policy.allowsNetwork))
  }

  package static func replayFeed(_ params: ReplayFeed.Params, on client: any HandlerClient) throws -> ReplayFeed.Result {
    guard let source = try Wire.object(params.source, "source", in: client.world) else { throw RPCError.internalError("no source") }
    try client.replay(params.event, of: source)
    return .init(revision: client.world.revision)
  }

  package static func describe(_ params: Describe.Params, in world: World) throws -> Describe.Result {
    let methods = try params.chosen().map { method in
      var description = SessionProtocol.MethodDescription(name: method.name)
      guard params.detail != .names else { return description }
      description.params = method.params
      description.required = method.required
      guard params.detail == .full else { return description }
      description.domain = method.domain
      description.shape = method.shape.rawValue
      description.since = method.since
      description.errors = method.errors.map(\.rawValue)
      return description
    }
    let state = WireProtocol.statePaths.map {
      SessionProtocol.StateDescription(path: $0.path, coalescing: $0.coalescing.rawValue)
    }
    return .init(
      protocolVersion: WireProtocol.version, hash: WireProtocol.hash, methods: methods,
      state: params.isEverything ? state : nil, expressions: params.isEverything ? expressions : nil)
  }

  private static var expressions: SessionProtocol.ExpressionLanguage {
    .init(
      functions: ExpressionLanguage.functions.map { function in
        .init(
          name: function.name,
          params: function.parameters.map {
            .init(name: $0.name, types: $0.types, isOptional: $0.isOptional, isRepeated: $0.isRepeated)
          },
          result: function.result, doc: function.doc, example: function.example)
      },
      operators: ExpressionLanguage.operators.map {
        .init(
          form: $0.form, precedence: $0.precedence, operands: $0.operands, result: $0.result, doc: $0.doc,
          example: $0.example)
      },
      types: ExpressionLanguage.types.map { .init(name: $0.name, doc: $0.doc) })
  }
}
