// The tasks of a session: what runs, for whom, and what replaces or ends it.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import StateTree

/// A task that has not been answered.
package final class RunningTask {
  package let handle: String
  package let method: String
  package let kind: TaskKind?
  package let key: TaskKey?
  /// The object whose closing ends it.
  package let scope: ObjectReference?
  /// What began it; nil for a load that another task awaits.
  package let request: TaskRequest?
  package let worker: Worker
  /// Restores the world when the work is cancelled or fails.
  package let abandon: ((inout World) -> Void)?
  package var waiters: [PendingReply] = []
  /// Waiters with a scope of their own: a load is shared, and each waiter may belong to another view.
  package var guests: [(scope: ObjectReference, pending: PendingReply)] = []
  package var timer: LoopTimer?
  /// Hands the work to a worker thread.
  package var begin: (() -> Void)?
  /// What has to end before it begins.
  package var awaited: [RunningTask] = []
  package var awaitedCount = 0
  /// Tasks that wait for this one.
  package var dependents: [RunningTask] = []
  /// How far it is, in 0...1.
  package var fraction = 0.0

  package init(
    handle: String, method: String, _ kind: TaskKind?, request: TaskRequest?, worker: Worker,
    abandon: ((inout World) -> Void)?
  ) {
    self.handle = handle
    self.method = method
    self.kind = kind
    key = kind?.key ?? request?.key
    scope =
      switch kind {
      case .load(let layer): ObjectReference(.layers, layer.rawValue)
      case .openDocument: nil
      case .openSource, .saveDocument, .edit, nil: request?.scope
      }
    self.request = request
    self.worker = worker
    self.abandon = abandon
  }

  /// Whether every request for it joins: loads alone.
  package var isShared: Bool { if case .load = kind { true } else { false } }

  /// Whether nothing waits for it. Dependents count for loads only; others need no more than the end, however it comes.
  package var isUnwanted: Bool { waiters.isEmpty && (dependents.isEmpty || !isShared) }
}

/// A request that begins a task or joins one.
package struct TaskRequest {
  package let method: String
  package let params: JSONValue
  package let meta: SessionProtocol.Meta
  package let scope: ObjectReference?
  package let key: TaskKey?
  /// Revision of the object that it names: a request about an object that has changed since is another one. Nil without a key.
  private let revision: Int?
  /// Keeps `params` alive.
  private let document: JSONDocument

  package init(_ call: Call, in world: World) throws {
    method = call.method
    params = call.params
    document = call.document
    meta = try SessionProtocol.Meta(of: params)
    scope = try meta.task?.scope.map { (id) throws -> ObjectReference in
      guard let object = world.find(id) else {
        throw RPCError(.unknownId, "There is no object \"\(id)\".", path: "/params/meta/task/scope").with("id", id)
      }
      return object
    }
    let scope = scope
    key = meta.task?.key.map { .client(Text($0), scope) }
    revision = key.flatMap { _ in objectNamed(by: call.method, in: call.params, of: world) }.flatMap(world.revision)
  }

  /// Whether the same result answers both: `meta` apart, null being absent, members in any order.
  package func isSame(as other: TaskRequest) -> Bool {
    method == other.method && revision == other.revision && covers(other) && other.covers(self)
  }

  private func covers(_ other: TaskRequest) -> Bool {
    var same = true
    other.params.forEachMember { name, value in
      guard same, value.isPresent, !name.elementsEqual("meta".utf8) else { return }
      same = value.isEqual(to: params.member(String(decoding: name, as: UTF8.self)))
    }
    return same
  }
}

package struct Tasks {
  package init() {}

  /// In the order they began.
  package var running: [RunningTask] = []
  package var started = 0
  /// Work under way, cancelled work that has not stopped yet included.
  package var working = 0

  package func find(_ key: TaskKey?) -> RunningTask? { key.flatMap { key in running.first { $0.key == key } } }

  /// Saves of documents.
  package var saves: [RunningTask] { running.filter { $0.kind == .saveDocument } }

  package func with(handle: String) -> RunningTask? { running.first { Text(handle) == Text($0.handle) } }

  /// The task meant by its handle, or by the id of the request that began it as text.
  package func find(_ name: String) -> RunningTask? {
    with(handle: name) ?? with(handle: "#" + name) ?? with(handle: "#" + RequestID.string(name).description)
  }

  /// The handle of a task that was given none: `#` and the request's id as JSON, so that 5 and "5" differ, and no id that a
  /// client may give is in the way.
  package func handle(for id: RequestID?) -> String {
    let plain = "#" + (id?.description ?? "")
    var handle = plain
    // Who joined may outlive the request that began the task, whose id is free again then.
    var count = 1
    while with(handle: handle) != nil {
      count += 1
      handle = "\(plain).\(count)"
    }
    return handle
  }

  package mutating func remove(_ task: RunningTask) {
    task.timer?.cancel()
    running.removeAll { $0 === task }
  }
}
