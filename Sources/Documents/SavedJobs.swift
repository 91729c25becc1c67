// Jobs in documents: what has not ended is paused there.

import GeoModel
import GeoProtocol
import Handlers
import JSON
import WireCoding

extension JobMethods {
  package static let all = JobMethods([
    (PackageProtocol.Export.name, planner(PackageService.export)), (PackageProtocol.Update.name, planner(PackageService.update)),
  ])
}

extension Job: ListedKind {
  static let required: Set<String> = ["method", "params"]

  func saved(in document: SavedObjects) -> JSONOpaque { Wire.saved(saved, document.world) }

  static func restore(_ id: String, _ json: JSONValue, in world: inout World) throws {
    let method = try json["method"].string()
    if let expected = JobMethods.all.expected(method) { throw json["method"].error(expected: "\(expected)") }
    try json["params"].requireObject()
    let owner = try Wire.object(try json["owner"].isPresent ? json["owner"].string() : nil, "owner", in: world)
    _ = try world.createJob(id: ID(id), owner: owner, method: method, params: try Wire.value(json["params"]))
    let status = json["status"].isPresent ? try Wire.jobStatus(JobProtocol.JobStatus(from: json["status"])) : .notStarted
    let messages = try json["messages"].isPresent
      ? json["messages"].array { (each) throws(JSONError) in
        JobMessage(time: try each["time"].string(), text: try each["text"].string())
      } : []
    let progress = JobProgress(
      fraction: min(1, max(0, json["progress"].number ?? 0)), done: try? json["done"].integer(), total: try? json["total"].integer())
    try world.restoreJob(ID(id), status, progress, Array(messages.suffix(100)))
  }
}
