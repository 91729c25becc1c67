// Handlers of `task/*`.

import GeoModel
import GeoProtocol
import JSONRPC

package enum TaskService: TaskHandlers {
  package static func list(_ params: List.Params, on client: any HandlerClient) throws -> List.Result {
    .init(
      tasks: client.tasks.running.filter { params.scope == nil || $0.scope?.id == params.scope }.map { task in
        var key: String?
        if case .client(let text, _) = task.key { key = text.string }
        return .init(
          task: task.handle, method: task.method, scope: task.scope?.id, key: key, waiting: task.waiters.count)
      })
  }

  package static func cancel(_ params: Cancel.Params, on client: any HandlerClient) throws -> Cancel.Result {
    guard let task = client.tasks.find(params.task) else { return .init(cancelled: false) }
    return .init(cancelled: client.end(task, with: .cancelled))
  }

  package static func acknowledgeParts(
    _ params: AcknowledgeParts.Params, on client: any HandlerClient
  ) throws -> AcknowledgeParts.Result {
    guard let token = params.token.value.flatMap(RequestID.init),
      let task = client.tasks.running.first(where: { $0.partWindow != nil && $0.hasPartToken(token) })
    else { return .init(acknowledged: false) }
    task.partsAhead -= min(params.count, task.partsAhead)
    client.sendParts()
    return .init(acknowledged: true)
  }
}
