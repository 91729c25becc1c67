// Tasks that wait for other tasks: the load of a map waits for the loads of its layers, which other requests may join or cancel.

import GeoModel
import GeoProtocol
import Handlers
import JSON
import Planning

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
    for other in others {
      task.awaited[other.number] = other
      task.awaitedFraction += other.fraction
      other.dependents[task.number] = task
    }
    task.awaitedCount = task.awaited.count
    if others.isEmpty { task.begin?() }
  }

  /// Starts the tasks that wait for a task that has ended, whatever its outcome.
  func releaseDependents(of task: RunningTask) {
    guard !task.dependents.isEmpty else { return }
    let dependents = task.dependents.values.inOrder
    task.dependents = [:]
    for dependent in dependents {
      dependent.awaited[task.number] = nil
      dependent.awaitedFraction -= task.fraction
      reportProgress(of: dependent)
      if dependent.awaited.isEmpty { dependent.begin?() }
    }
  }

  /// Removes a task from the tasks that it waits for, and stops those of them that nothing else waits for.
  func releasePrerequisites(of task: RunningTask) {
    guard !task.awaited.isEmpty else { return }
    let awaited = task.awaited.values.inOrder
    task.awaited = [:]
    for other in awaited {
      other.dependents[task.number] = nil
      if other.isUnwanted { stop(other) }
    }
  }

  /// Records the progress of a task, and reports it to its waiters.
  func record(_ fraction: Double, of task: RunningTask) {
    let progress = fraction - task.fraction
    task.fraction = fraction
    for dependent in task.dependents.values {
      dependent.awaitedFraction += progress
      reportProgress(of: dependent)
    }
  }

  /// Reports the progress of a task that waits for others, which have equal weights.
  private func reportProgress(of task: RunningTask) {
    // The saves that an opening waits for do not count as its progress.
    guard task.awaitedCount > 0, task.kind != .openDocument else { return }
    let done = Double(task.awaitedCount - task.awaited.count) + task.awaitedFraction
    task.worker.work.report(min(1, max(0, done / Double(task.awaitedCount))))
  }
}
