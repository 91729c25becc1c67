// The methods whose work jobs do: each a task that ends with its result and changes nothing.

import GeoModel
import GeoProtocol
import JSON
import JSONRPC
import WireCoding

/// Methods by name, with the plans of their work.
package struct JobMethods: Sendable {
  /// Runs on a worker thread; returns the result of the method.
  package typealias Run = @Sendable (Worker) throws -> Value
  package typealias Planner = @Sendable (JSONValue, inout World) throws -> Run

  private let all: [(name: String, planner: Planner)]

  /// - Parameter others: methods of other rooms.
  package init(_ others: [(name: StaticString, planner: Planner)]) {
    let own: [(name: StaticString, planner: Planner)] = [
      (FeatureProtocol.Export.name, Self.planner(FeatureService.export)),
      (FeatureProtocol.ExportStatistics.name, Self.planner(FeatureService.exportStatistics)),
      (FeatureProtocol.ExportJoin.name, Self.planner(FeatureService.exportJoin)),
      (MapProtocol.Publish.name, Self.planner(MapService.publish)),
    ]
    all = (own + others).map { ("\($0.name)", $0.planner) }
  }

  package static func planner<P: JSONDecodable & Sendable, R: JSONEncodable & Sendable>(
    _ method: @escaping @Sendable (P, inout World) throws -> Plan<R>
  ) -> Planner {
    { params, world in
      let plan = try method(P(from: params), &world)
      return { worker in
        guard case .answer(let result) = try plan.work(worker), let value = Value(json: result.jsonText) else {
          throw RPCError.internalError("the work of a job has no result")
        }
        return value
      }
    }
  }

  /// What is expected in place of a method that no job does; nil for one of these.
  package func expected(_ method: String) -> String? {
    all.contains { $0.name == method } ? nil : "one of " + all.map { "\"\($0.name)\"" }.joined(separator: ", ")
  }

  /// A job of a document may have params that this version does not know: without them it would write something else.
  private static func check(_ params: JSONValue, of method: String) throws {
    do { try ParamMembers.params[method]?.check(params) } catch { throw RPCError(error, in: params, at: "/params") }
  }

  /// Plans the work of a job, by the present model.
  package func plan(_ job: Job, in world: inout World) throws -> Run {
    guard let planner = all.first(where: { $0.name == job.method })?.planner else {
      throw RPCError.internalError("no job does \(job.method)")
    }
    let document = JSONDocument { job.params.node(in: $0) }
    let run = try document.read { params in
      try Self.check(params, of: job.method)
      return try planner(params, &world)
    }
    // Work may read the params in place.
    return { worker in try withExtendedLifetime(document) { try run(worker) } }
  }
}
