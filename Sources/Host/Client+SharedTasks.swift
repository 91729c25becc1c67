// Tasks that wait for others: all loads of a map wait for those of its layers, which run, are joined and are cancelled as ever.

import GeoModel
import GeoProtocol
import Handlers
import JSON

extension Client {
  /// The tasks that end a prerequisite: a load begins unless it is under way.
  func begin(_ prerequisite: Prerequisite) -> [RunningTask] {
    switch prerequisite {
    case .saves: return tasks.saves
    case .load(let layer, let plan):
      if let task = tasks.find(.load(layer)) { return [task] }
      let method = "\(LayerProtocol.Load.name)"
      let task = make(plan, handle: "\(method) \(layer)", method: method, nil)
      task.begin?()
      return [task]
    }
  }

  /// Lets a task begin its work once all of what it awaits has ended.
  func wait(_ task: RunningTask, for others: [RunningTask]) {
    task.awaited = others
    task.awaitedCount = others.count
    for other in others { other.dependents.append(task) }
    if others.isEmpty { task.begin?() }
  }

  /// A task is over, well or not: who waited for it goes on.
  func releaseDependents(of task: RunningTask) {
    let dependents = task.dependents
    task.dependents = []
    for dependent in dependents {
      dependent.awaited.removeAll { $0 === task }
      reportProgress(of: dependent)
      if dependent.awaited.isEmpty { dependent.begin?() }
    }
  }

  /// A task waits no more; what nobody else wants stops.
  func letGo(_ task: RunningTask) {
    let awaited = task.awaited
    task.awaited = []
    for other in awaited {
      other.dependents.removeAll { $0 === task }
      if other.isUnwanted { stop(other) }
    }
  }

  /// How far a task is that waits for others: each counts the same.
  func reportProgress(of task: RunningTask) {
    // What it waits for before it opens a document is no part of that.
    guard task.awaitedCount > 0, task.kind != .openDocument else { return }
    let done = Double(task.awaitedCount - task.awaited.count) + task.awaited.reduce(0) { $0 + $1.fraction }
    task.worker.report(done / Double(task.awaitedCount))
  }
}
