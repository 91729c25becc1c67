// The five shapes of method: what happens around a handler, in one function each.

import GeoModel
import GeoProtocol
import JSON
import JSONRPC

extension Host {
  public func query<P: JSONDecodable & Sendable, R: JSONEncodable>(
    _ name: StaticString, _ body: @escaping (P, World) throws -> R
  ) {
    router.on("\(name)") { [self] call in
      try wired(call) { .result(try body(try P(from: call.params), world)) }
    }
  }

  public func command<P: JSONDecodable & Sendable, R: JSONEncodable>(
    _ name: StaticString, _ body: @escaping (P, inout World) throws -> R
  ) {
    router.on("\(name)") { [self] call in
      try wired(call) {
        let params = try P(from: call.params)
        try begin(call, name)
        let result = try body(params, &world)
        publish()
        return .result(result)
      }
    }
  }

  public func process<P: JSONDecodable & Sendable, R: JSONEncodable>(
    _ name: StaticString, start: @escaping (P, inout World) throws -> ProcessID,
    end: @escaping (P, ProcessEnd, World) throws -> R
  ) {
    router.on("\(name)") { [self] call in
      try wired(call) {
        let params = try P(from: call.params)
        try begin(call, name)
        let process = try start(params, &world)
        let pending = call.deferReply()
        pending.onCancel = { [unowned self] in cancel(process) }
        waits[process] = Wait(pending: pending) { [unowned self] outcome in
          guard outcome != .cancelled else { return pending.fail(.cancelled) }
          do { pending.reply(try end(params, outcome, world)) } catch {
            pending.fail(RPCError(error, in: nil, at: "/params") ?? .internalError("\(error)"))
          }
        }
        publish()
        return .later
      }
    }
  }

  public func session<P: JSONDecodable & Sendable, R: JSONEncodable>(
    _ name: StaticString, _ body: @escaping (P, Host) throws -> R
  ) {
    router.on("\(name)") { [self] call in
      try wired(call) {
        let before = subscribers.unannounced
        let result = try body(try P(from: call.params), self)
        let made = subscribers.unannounced.filter { !before.contains($0) }
        guard !made.isEmpty else { return .result(result) }
        call.deferReply().reply(result)
        call.afterAnswer { [unowned self] in
          subscribers.announce(made)
          flush()
        }
        return .later
      }
    }
  }

  // MARK: -

  /// Turns what a handler throws into an error of the wire, with its path from the root of the message.
  func wired(_ call: Call, _ body: () throws -> Reply) throws -> Reply {
    tellHeldBack()
    do { return try body() } catch {
      // A command that fails has changed nothing; were it otherwise, watchers would have to know.
      if world.hasChanges { publish() }
      if error is JSONError { throw error }
      throw RPCError(error, in: call.params, at: "/params") ?? error
    }
  }

  /// Before a command: who makes it, on what condition, and at what time.
  func begin(_ call: Call, _ name: StaticString) throws {
    let meta = try RequestMeta(call.params)
    if let revision = meta.ifRevision, let object = objectNamed(by: name, in: call.params),
      let current = world.revision(of: object), current > revision
    {
      throw ModelError.contentModified(revision: current)
    }
    world.begin(origin: .client(meta.origin))
    world.realTime = configuration.now()
    if world.clock.mode == .real { world.skipTicks(to: world.realTime) }
  }

  private func cancel(_ process: ProcessID) {
    world.begin(origin: .client(nil))
    if world.cancel(process) { publish() }
  }
}
