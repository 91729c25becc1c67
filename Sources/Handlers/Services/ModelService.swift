// The handler of `model/apply`: a transaction of several commands.

import GeoModel
import GeoProtocol
import JSON
import JSONRPC

package enum ModelService: ModelHandlers {
  private struct Step {
    let method: String
    let params: JSONValue
    let run: Command
  }

  package static func apply(_ params: Apply.Params, on client: any HandlerClient) throws -> Apply.Result {
    let commands = try params.commands.enumerated().map { index, command in
      // A transaction is one step of history, so it cannot contain undo, redo or edits.
      guard !command.method.hasPrefix("edit/"), let run = client.commands[command.method] else {
        let known = client.commands.keys.filter { !$0.hasPrefix("edit/") }.sorted()
        throw RPCError(
          .notACommand, no: "command", command.method, among: known, at: "/params/commands/\(index)/method", lists: false)
      }
      return Step(
        method: command.method, params: command.params?.value ?? JSONDocument.emptyObject.unownedRoot, run: run)
    }
    var texts: [String] = []
    texts.reserveCapacity(commands.count)
    try client.perform("model/apply", step: params.name) { world in
      var writer = JSONWriter(capacity: 256)
      while texts.count < commands.count {
        let updates = graphicUpdates(in: commands[texts.count...])
        for (index, command) in zip(updates.indices, updates) {
          do { try client.checkMembers(of: command.params, for: command.method) } catch {
            throw failure(of: index, error, command.params)
          }
        }
        if updates.count > 1,
          let results = OverlayService.updateGraphics(coalescing: updates.map(\.params), in: &world)
        {
          for result in results {
            result.encode(to: &writer)
            texts.append(writer.string)
            writer.reset()
          }
        } else {
          for (index, command) in zip(updates.indices, updates) {
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

  /// The first command, together with the following ones if all update graphics of the same overlay.
  private static func graphicUpdates(in commands: ArraySlice<Step>) -> ArraySlice<Step> {
    let method = "\(OverlayProtocol.UpdateGraphics.name)"
    guard commands.first?.method == method else { return commands.prefix(1) }
    let overlay = commands.first.flatMap { try? $0.params["overlay"].string() }
    return commands.prefix {
      $0.method == method && (try? $0.params["overlay"].string()) == overlay
    }
  }

  /// The error of the transaction: the index of the command, and the error that the command would have alone.
  private static func failure(of index: Int, _ error: any Error, _ params: JSONValue) -> any Error {
    guard let inner = RPCError(error, in: params, at: "/params") else { return error }
    return RPCError(
      .transactionFailed, "Command \(index) failed: \(inner.message)", path: "/params/commands/\(index)"
    ).with("index", index).with("error", inner)
  }
}
