// Tasks that run once while their params are equal (`meta.task.once`), as SwiftUI's `.task(id:)` does.

import GeoModel
import JSON

/// The last successful task of each key that runs once, with its result.
package struct FinishedTasks {
  private static let limit = 1000

  private struct Entry {
    let request: TaskRequest
    let result: any JSONEncodable
    let number: Int
  }

  private var entries: [TaskKey: Entry] = [:]
  private var lastNumber = 0

  /// The result of a request that has been answered before; nil if it has to run.
  package func result(of request: TaskRequest) -> (any JSONEncodable)? {
    guard request.runsOnce, let key = request.key, let entry = entries[key], entry.request.hasParams(of: request) else {
      return nil
    }
    return entry.result
  }

  /// Remembers the result of a task that has succeeded.
  package mutating func remember(_ request: TaskRequest, _ result: any JSONEncodable) {
    guard request.runsOnce, let key = request.key else { return }
    lastNumber += 1
    entries[key] = Entry(request: request, result: result, number: lastNumber)
    guard entries.count > Self.limit, let oldest = entries.min(by: { $0.value.number < $1.value.number }) else {
      return
    }
    entries[oldest.key] = nil
  }

  /// A task with other params has begun: its value is the one to compare with.
  package mutating func forget(_ key: TaskKey?) {
    if let key { entries[key] = nil }
  }

  /// Drops the tasks of a closed object.
  package mutating func forget(scope: ObjectReference) {
    guard !entries.isEmpty else { return }
    entries = entries.filter { $0.value.request.scope != scope }
  }

  /// Drops the tasks of all objects, which another document has replaced.
  package mutating func forgetScopes() { entries = entries.filter { $0.value.request.scope == nil } }
}

extension TaskRequest {
  fileprivate var runsOnce: Bool { meta.task?.once == true }
}
