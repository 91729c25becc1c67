// Tasks that run once as long as their params are equal (`meta.task.once`), like SwiftUI's `.task(id:)`.

import GeoModel
import Geometry
import JSON

/// The last successful task of each key that runs once, with its result. Params and results are kept as text, within a memory limit.
package struct FinishedTasks {
  private static let limit = 1000
  private static let byteLimit = 64 << 20

  private struct Entry {
    let method: String
    let scope: ObjectReference?
    let params: String
    let result: JSONOpaque
    let byteCount: Int
    let number: Int
  }

  private var entries: [TaskKey: Entry] = [:]
  private var byteCount = 0
  private var lastNumber = 0

  /// The kept result for a request; nil if it has to run.
  ///
  /// - Complexity: linear in the params of both.
  package func result(of request: TaskRequest) -> JSONOpaque? {
    guard request.runsOnce, let key = request.key, let entry = entries[key], Text(entry.method) == Text(request.method),
      let known = try? JSONDocument(entry.params)
    else { return nil }
    return known.read { request.hasParams($0) } ? entry.result : nil
  }

  /// Keeps the result of a task that has succeeded.
  package mutating func remember(_ request: TaskRequest, _ result: any JSONEncodable) {
    guard request.runsOnce, let key = request.key else { return }
    let (params, result) = (Self.text(of: request.params), Self.text(of: result))
    let bytes = params.utf8.count + result.utf8.count
    forget(key)
    guard bytes <= Self.byteLimit else { return }
    lastNumber += 1
    byteCount += bytes
    entries[key] = Entry(
      method: request.method, scope: request.scope, params: params, result: .written { $0.raw(result) },
      byteCount: bytes, number: lastNumber)
    while entries.count > Self.limit || byteCount > Self.byteLimit {
      forget(entries.min { $0.value.number < $1.value.number }?.key)
    }
  }

  /// Drops the result of a key, because a task with other params has begun: later requests are compared with that one.
  package mutating func forget(_ key: TaskKey?) {
    if let key { byteCount -= entries.removeValue(forKey: key)?.byteCount ?? 0 }
  }

  /// Drops the tasks of a closed object.
  package mutating func forget(scope: ObjectReference) {
    guard !entries.isEmpty else { return }
    for (key, entry) in entries where entry.scope == scope { forget(key) }
  }

  /// Drops all tasks that have a scope, because another document has replaced the objects.
  package mutating func forgetScopes() {
    for (key, entry) in entries where entry.scope != nil { forget(key) }
  }

  private static func text(of value: any JSONEncodable) -> String {
    var writer = JSONWriter()
    value.encode(to: &writer)
    return writer.string
  }
}

extension TaskRequest {
  /// False for a result in parts, since the reply does not contain all of it.
  fileprivate var runsOnce: Bool { meta.task?.once == true && !wantsParts }
}
