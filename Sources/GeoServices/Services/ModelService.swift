// Transactions: several commands as one.

import GeoModel
import GeoProtocol
import JSON
import JSONRPC

enum ModelService: ModelHandlers {
  typealias Types = Server

  private struct Step {
    let method: String
    let params: JSONValue
    let run: Command
  }

  static func apply(_ params: ModelProtocol.Apply.Params, on client: any HandlerClient) throws
    -> ModelProtocol.Apply.Result
  {
    let commands = try params.commands.enumerated().map { index, command in
      // Steps of history are made of transactions, not the other way round.
      guard !command.method.hasPrefix("edit/"), let run = client.commands[command.method] else {
        throw RPCError(
          .notACommand, "\"\(command.method)\" is no command.", path: "/params/commands/\(index)/method",
          expected: "the name of a command")
      }
      return Step(
        method: command.method, params: command.params?.value ?? JSONDocument.emptyObject.unownedRoot, run: run)
    }
    var texts: [String] = []
    texts.reserveCapacity(commands.count)
    try client.perform("model/apply", step: params.name) { world in
      var writer = JSONWriter(capacity: 256)
      while texts.count < commands.count {
        let row = row(in: commands[texts.count...])
        if row.count > 1, let results = OverlayService.updateGraphics(inARow: row.map(\.params), in: &world) {
          for result in results {
            result.encode(to: &writer)
            texts.append(writer.string)
            writer.reset()
          }
        } else {
          for (index, command) in zip(row.indices, row) {
            do { try command.run(command.params, &world, &writer) } catch {
              throw failure(of: index, error, command.params)
            }
            texts.append(writer.string)
            writer.reset()
          }
        }
      }
    }
    return .init(revision: client.world.revision, results: texts.map { text in .written { $0.raw(text) } })
  }

  /// The first command, with those behind it that update graphics of the same overlay.
  private static func row(in commands: ArraySlice<Step>) -> ArraySlice<Step> {
    let method = "\(OverlayProtocol.UpdateGraphics.name)"
    guard commands.first?.method == method else { return commands.prefix(1) }
    let overlay = commands.first.flatMap { try? $0.params["overlay"].string() }
    return commands.prefix {
      $0.method == method && (try? $0.params["overlay"].string()) == overlay
    }
  }

  /// The command's error as it is when it is sent alone, and which command it was.
  private static func failure(of index: Int, _ error: any Error, _ params: JSONValue) -> any Error {
    guard let inner = RPCError(error, in: params, at: "/params") else { return error }
    return RPCError(
      .transactionFailed, "Command \(index) failed: \(inner.message)", path: "/params/commands/\(index)"
    ).with("index", index).with("error", inner)
  }
}
