// Handlers of `task/*`.

import GeoModel
import GeoProtocol
import JSONRPC

enum TaskService: TaskHandlers {
  typealias Host = GeoServices.Host

  static func list(_ params: TaskProtocol.List.Params, on host: Host) throws -> TaskProtocol.List.Result {
    .init(
      tasks: host.tasks.running.filter { params.scope == nil || $0.scope?.id == params.scope }.map {
        .init(
          task: $0.handle, method: $0.method, scope: $0.scope?.id,
          key: $0.key?.hasPrefix("\u{0}") == true ? nil : $0.key,
          waiting: $0.waiters.count)
      })
  }

  static func cancel(_ params: TaskProtocol.Cancel.Params, on host: Host) throws -> TaskProtocol.Cancel.Result {
    guard let task = host.tasks.find(params.task) else { return .init(cancelled: false) }
    host.end(task, with: .cancelled)
    return .init(cancelled: true)
  }
}
