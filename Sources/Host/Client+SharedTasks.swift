// Tasks that wait for others: the load of a map waits for the loads of its layers, which other requests may join or cancel.

import GeoModel
import GeoProtocol
import Handlers
import JSON

extension Client {
  /// The tasks that fulfil a prerequisite. Starts a load unless it is running.
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

  /// Starts a task's work once all others have ended.
  func wait(_ task: RunningTask, for others: [RunningTask]) {
    task.awaited = others
    task.awaitedCount = others.count
    for other in others { other.dependents.append(task) }
    if others.isEmpty { task.begin?() }
  }

  /// Starts the tasks that waited for one that has ended, whatever its outcome.
  func releaseDependents(of task: RunningTask) {
    let dependents = task.dependents
    task.dependents = []
    for dependent in dependents {
      dependent.awaited.removeAll { $0 === task }
      reportProgress(of: dependent)
      if dependent.awaited.isEmpty { dependent.begin?() }
    }
  }

  /// Ends the waiting of a task, and stops the tasks that nothing else waits for.
  func releasePrerequisites(of task: RunningTask) {
    let awaited = task.awaited
    task.awaited = []
    for other in awaited {
      other.dependents.removeAll { $0 === task }
      if other.isUnwanted { stop(other) }
    }
  }

  /// Reports the progress of a task that waits for others, each of which counts the same.
  func reportProgress(of task: RunningTask) {
    // Saves that an opening waits for are no part of its progress.
    guard task.awaitedCount > 0, task.kind != .openDocument else { return }
    let done = Double(task.awaitedCount - task.awaited.count) + task.awaited.reduce(0) { $0 + $1.fraction }
    task.worker.report(done / Double(task.awaitedCount))
  }
}
