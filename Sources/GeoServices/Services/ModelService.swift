// Transactions: several commands as one.

import GeoModel
import GeoProtocol
import JSON
import JSONRPC

enum ModelService: ModelHandlers {
  typealias Host = GeoServices.Host

  static func apply(_ params: ModelProtocol.Apply.Params, on host: Host) throws -> ModelProtocol.Apply.Result {
    let commands = try params.commands.enumerated().map { index, command in
      // Steps of history are made of transactions, not the other way round.
      guard !command.method.hasPrefix("edit/"), let run = host.commands[command.method] else {
        throw RPCError(
          .notACommand, "\"\(command.method)\" is no command.", path: "/params/commands/\(index)/method",
          expected: "the name of a command")
      }
      return (run, command.params?.value ?? JSONDocument.emptyObject.unownedRoot)
    }
    var texts: [String] = []
    texts.reserveCapacity(commands.count)
    try host.perform("model/apply", step: params.name) { world in
      var writer = JSONWriter(capacity: 256)
      for (index, (run, params)) in commands.enumerated() {
        do { try run(params, &world, &writer) } catch { throw failure(of: index, error, params) }
        texts.append(writer.string)
        writer.reset()
      }
    }
    return .init(revision: host.world.revision, results: texts.map { text in .written { $0.raw(text) } })
  }

  /// The command's error as it is when it is sent alone, and which command it was.
  private static func failure(of index: Int, _ error: any Error, _ params: JSONValue) -> any Error {
    guard let inner = RPCError(error, in: params, at: "/params") else { return error }
    return RPCError(
      .transactionFailed, "Command \(index) failed: \(inner.message)", path: "/params/commands/\(index)"
    ).with("index", index).with("error", inner)
  }
}
