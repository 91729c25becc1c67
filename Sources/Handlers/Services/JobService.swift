// Handlers of `job/*`.

import GeoModel
import GeoProtocol
import JSON
import JSONRPC
import WireCoding

package enum JobService: JobHandlers {
  package static func create(_ params: Create.Params, on client: any HandlerClient) throws -> JSONOpaque {
    if let expected = client.jobMethods.expected(params.method) {
      throw RPCError(.invalidParams, "No job does \"\(params.method)\".", path: "/params/method", expected: expected)
    }
    let given = try self.params(of: params, on: client)
    var made: Job?
    try client.perform("job/create", step: nil) { world in
      let owner = try Wire.object(params.owner, "owner", in: world)
      made = try world.existing(params.id, params.ifExists, Job.self) { job, _ in
        ["owner": job.owner == owner, "method": job.method == params.method, "params": job.params == given]
      }
      guard made == nil else { return }
      guard world.jobs.count < Job.limit else { throw RPCError.limitReached("jobs", limit: Job.limit) }
      let job = try world.createJob(id: params.id.map { ID($0) }, owner: owner, method: params.method, params: given)
      made = job
      var copy = world
      do { _ = try client.jobMethods.plan(job, in: &copy) } catch { throw NestedError(error, in: "params") }
    }
    guard let made else { throw RPCError.internalError("no job was made") }
    return try Wire.object(made.id, in: client.world)
  }

  /// The params of the method, with an absolute path.
  private static func params(of params: Create.Params, on client: any HandlerClient) throws -> Value {
    let path = "/params/params"
    guard let json = params.params.value, json.kind == .object else {
      throw RPCError(.invalidParams, "The params of a job are an object.", path: path, expected: "the params of \(params.method)")
    }
    guard case .object(var members) = try Wire.value(json) else { return .null }
    members["meta"] = nil
    if let file = members["path"]?.text {
      do { members["path"] = .string(try client.files.path(file)) } catch { throw NestedError(error, in: "params") }
    }
    let value = Value.object(members)
    guard value.byteCount <= Value.byteLimit else {
      throw RPCError(.invalidParams, "The params are too long.", path: path, expected: "at most \(Value.byteLimit) bytes")
    }
    return value
  }

  package static func start(_ params: Start.Params, in world: inout World) throws -> Answer<JSONOpaque> {
    try act(.start, on: params.job, in: &world)
  }

  package static func pause(_ params: Pause.Params, in world: inout World) throws -> Answer<JSONOpaque> {
    try act(.pause, on: params.job, in: &world)
  }

  package static func resume(_ params: Resume.Params, in world: inout World) throws -> Answer<JSONOpaque> {
    try act(.resume, on: params.job, in: &world)
  }

  package static func cancel(_ params: Cancel.Params, in world: inout World) throws -> Answer<JSONOpaque> {
    try act(.cancel, on: params.job, in: &world)
  }

  private static func act(_ action: JobAction, on id: String, in world: inout World) throws -> Answer<JSONOpaque> {
    try world.act(action, on: ID(id))
    return { try Wire.object(JobID(id), in: $0) }
  }
}
