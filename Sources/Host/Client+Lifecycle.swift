// The beginning and the end of a client's session.

import GeoModel
import GeoProtocol
import JSON
import JSONRPC

extension Client {
  var lifecycle: Lifecycle {
    var lifecycle = Lifecycle { [self] call in try initialize(call) }
    lifecycle.checkShutdown = { [self] call in
      try checkMembers(of: call.params, for: call.method)
      _ = try SessionProtocol.Meta(of: call.params)
    }
    lifecycle.shutdown = { [self] in
      subscribers.removeAll()
      flush()
      endProcesses()
    }
    lifecycle.endOfInput = { [self] in endProcesses() }
    return lifecycle
  }

  /// Versions whose clients are answered in the present one. Those of ``looseVersions`` knew no strict sessions.
  private static let olderVersions: Set = ["0.1", "0.2", "0.3", "0.4", "0.5", "0.6"]
  private static let looseVersions: Set = ["0.1", "0.2"]

  private func initialize(_ call: Call) throws -> any JSONEncodable {
    // Clients of other protocols add members of their own, so unknown members are ignored even if `strict` is set.
    let params = try SessionProtocol.Initialize.Params(from: call.params)
    _ = try SessionProtocol.Meta(of: call.params)
    var isOlder = false
    var isLoose = false
    if let versions = params.protocolVersions {
      isOlder = !versions.isEmpty && !versions.contains(WireProtocol.version)
      isLoose = isOlder && Self.looseVersions.isSuperset(of: Self.olderVersions.intersection(versions))
      guard !isOlder || versions.contains(where: Self.olderVersions.contains) else {
        throw RPCError(
          .versionMismatch, "This server speaks version \(WireProtocol.version).", path: "/params/protocolVersions",
          expected: "a list with \(WireProtocol.version)"
        ).with("supported", [WireProtocol.version])
      }
    }
    isStrict = params.strict ?? !isLoose
    if params.readOnly { isReadOnly = true }
    hasFonts = params.textMetrics == .fonts
    if let uri = params.rootUri {
      files.setRoot(uri: uri)
    } else if let path = params.rootPath {
      try files.setRoot(path)
    }
    if let mode = params.clock, !isReadOnly {
      let realTime = host.now
      host.perform(.client(nil)) { $0.setClock(mode: .init(mode), now: nil, tickRate: nil, realTime: realTime) }
    }
    if isOlder {
      let version = WireProtocol.version
      let strictness = isStrict || !isLoose ? "" : "; unknown members of params are ignored, as before (`strict` is false)"
      let bound = LoopBound(self, on: loop)
      // After the answer.
      loop.execute {
        bound.value.session?.turn { bound.value.warn("This server speaks version \(version)\(strictness).") }
      }
    }
    host.join(
      ConnectedClient(id: number.id, name: params.clientInfo?.name, version: params.clientInfo?.version, isReadOnly: isReadOnly))
    let limits = host.configuration.limits
    return SessionProtocol.Initialize.Result(
      protocolVersion: WireProtocol.version, strict: isStrict,
      serverInfo: .init(name: "geomodel-server", version: WireProtocol.productVersion),
      capabilities: .init(
        domains: WireProtocol.domains, maxMessageBytes: limits.messageBytes, maxMessageValues: limits.values,
        maxBatch: limits.batch, maxHeaderBytes: limits.headerBytes, maxRequests: limits.requests,
        maxTasks: limits.tasks, maxSubscriptions: limits.subscriptions, attachments: call.session.hasHeaders),
      client: number.id.rawValue, recovery: host.world.document.recovery?.file)
  }
}
