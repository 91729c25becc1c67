// Handlers of `session/*`, and the lifecycle: `initialize` and `shutdown`.

import GeoModel
import GeoProtocol
import JSON
import JSONRPC

enum SessionService: SessionHandlers {
  typealias Host = GeoServices.Host

  static func echo(_ params: SessionProtocol.Echo.Params, in world: World) throws -> SessionProtocol.Echo.Result {
    .init(value: params.value)
  }

  static func status(_ params: SessionProtocol.Status.Params, on host: Host) throws -> SessionProtocol.Status.Result {
    let world = host.world
    let counters = host.session?.counters ?? SessionCounters()
    return .init(
      revision: world.revision,
      tasks: .init(running: host.tasks.running.count, working: host.tasks.working, started: host.tasks.started),
      traffic: .init(
        received: counters.received, sent: counters.sent, unread: host.session?.unread ?? 0,
        coalesced: host.subscribers.coalesced, resyncs: host.subscribers.resyncs),
      model: .init(
        sources: world.sources.count, maps: world.maps.count, layers: world.layers.count, scenes: world.scenes.count,
        views: world.views.count, overlays: world.overlays.count,
        graphics: world.overlays.values.reduce(0) { $0 + $1.store.count },
        locationSources: world.locationSources.count, subscriptions: host.subscribers.count),
      residentBytes: host.configuration.residentBytes())
  }

  static func describe(
    _ params: SessionProtocol.Describe.Params, in world: World
  ) throws -> SessionProtocol.Describe.Result {
    .init(
      protocolVersion: WireProtocol.version, hash: WireProtocol.hash,
      methods: WireProtocol.methods.map {
        .init(
          name: $0.name, domain: $0.domain, shape: $0.shape.rawValue, since: $0.since,
          errors: $0.errors.map(\.rawValue))
      },
      state: WireProtocol.statePaths.map { .init(path: $0.path, coalescing: $0.coalescing.rawValue) })
  }
}

extension Host {
  /// Registers `rpc.discover`, and an echo that returns unknown members as well.
  func registerDiscovery() {

    router.on("session/echo") { call in .aside(call.params) }
    router.on("rpc.discover") { _ in .aside(JSONOpaque.written { $0.append(OpenRPCDocument.text) }) }
  }

  var lifecycle: Lifecycle {
    var lifecycle = Lifecycle { [self] call in try initialize(call) }
    lifecycle.shutdown = { [self] in
      subscribers.removeAll()
      flush()
      endLiveSources()
    }
    lifecycle.endOfInput = { [self] in endLiveSources() }
    return lifecycle
  }

  private func initialize(_ call: Call) throws -> any JSONEncodable {
    // LSP clients send members of their own: members that are not read here are ignored.
    let params = call.params
    if params["protocolVersions"].isPresent {
      let versions = try params["protocolVersions"].array { (value) throws(JSONError) in try value.string() }
      guard versions.isEmpty || versions.contains(WireProtocol.version) else {
        throw RPCError(
          .versionMismatch, "This server speaks version \(WireProtocol.version).", path: "/params/protocolVersions",
          expected: "a list with \(WireProtocol.version)"
        ).with("supported", json: RPCError.json([WireProtocol.version]))
      }
    }
    for root in [params["rootUri"], params["rootPath"]] where root.isPresent {
      try files.setRoot(try root.string())
      break
    }
    let limits = configuration.limits
    return SessionProtocol.Initialize.Result(
      protocolVersion: WireProtocol.version,
      serverInfo: .init(name: "geomodel-server", version: configuration.version),
      capabilities: .init(
        domains: WireProtocol.domains, maxMessageBytes: limits.messageBytes, maxMessageValues: limits.values,
        maxBatch: limits.batch, maxHeaderBytes: limits.headerBytes))
  }
}
