// The tasks of a client: which ones run, who waits for them, and what supersedes or ends them.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC

/// A task that has not been answered.
package final class RunningTask {
  package let handle: String
  package let method: String
  package let kind: TaskKind?
  package let key: TaskKey?
  /// The object whose closing ends it.
  package let scope: ObjectReference?
  /// The request that began it; nil for a load that another task needs.
  package let request: TaskRequest?
  package let worker: Worker
  /// Restores the world when the work is cancelled or fails.
  package let abandon: ((inout World) -> Void)?
  /// Its number among all tasks, in the order in which they began.
  package fileprivate(set) var number = 0
  /// Whether it is one of its client's tasks: neither answered nor stopped.
  package fileprivate(set) var isRunning = false
  package var waiters = Waiters()
  /// Waiters with their own scope, by scope: a load is shared, and each waiter may belong to another view.
  package fileprivate(set) var guests: [ObjectReference: [PendingReply]] = [:]
  package var timer: LoopTimer?
  /// Hands the work to a worker thread.
  package var begin: (() -> Void)?
  /// Sends a part of the result that is ready, and makes the next one.
  package var sendPart: (() -> Void)?
  /// Maximum number of parts that the client has not acknowledged; nil if it does not acknowledge any.
  package let partWindow: Int?
  /// Number of parts that were sent and not acknowledged.
  package var partsAhead = 0
  /// Whether the next thing to send is the result itself, which does not wait for acknowledgements.
  package var hasResult = false
  /// Tasks that have to end before it begins, by number.
  package var awaited: [Int: RunningTask] = [:]
  package var awaitedCount = 0
  /// Sum of the fractions of the awaited tasks.
  package var awaitedFraction = 0.0
  /// Tasks that wait for this one, by number.
  package var dependents: [Int: RunningTask] = [:]
  /// Its progress, in 0...1.
  package var fraction = 0.0

  /// Whether the client has acknowledged enough parts for another one. True if the task has ended.
  package var maySendPart: Bool { hasResult || waiters.isEmpty || partsAhead < partWindow ?? .max }

  package func hasPartToken(_ token: RequestID) -> Bool { waiters.all.contains { $0.partToken == token } }

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
      case .openSource, .saveDocument, .edit, .openRaster, .readRaster, .record, nil: request?.scope
      }
    self.request = request
    partWindow = request?.meta.partialResultWindow
    self.worker = worker
    self.abandon = abandon
  }

  /// Whether every request for it joins; only true for loads.
  package var isShared: Bool { if case .load = kind { true } else { false } }

  /// Whether nothing waits for it. Dependents only count for loads; for other tasks, dependents only wait for the end, whatever
  /// the outcome.
  package var isUnwanted: Bool { waiters.isEmpty && isWantedByWaitersAlone }

  /// Whether only one waiter is left, and nothing else waits for it.
  package var hasLastWaiter: Bool { waiters.count == 1 && isWantedByWaitersAlone }

  private var isWantedByWaitersAlone: Bool { dependents.isEmpty || !isShared }
}

/// A request that begins a task or joins one. A class, since it is passed between the loop and workers.
package final class TaskRequest: Sendable {
  package let method: String
  package let params: JSONValue
  package let meta: SessionProtocol.Meta
  package let scope: ObjectReference?
  package let key: TaskKey?
  /// Revision of the object that the params name; nil without a task key. A request about an object that has changed is not the same.
  private let revision: Int?
  /// Keeps `params` alive.
  private let document: JSONDocument

  /// - Parameter world: called only if params name an object, since reading the world copies it.
  package init(_ call: Call, in world: () -> World) throws {
    method = call.method
    params = call.params
    document = call.document
    meta = try SessionProtocol.Meta(of: params)
    let scope: ObjectReference?
    if let id = meta.task?.scope {
      scope = world().find(id)
      guard scope != nil else {
        throw RPCError(.unknownId, "There is no object \"\(id)\".", path: "/params/meta/task/scope").with("id", id)
      }
    } else {
      scope = nil
    }
    self.scope = scope
    key = meta.task?.key.map { .client(Text($0), scope) }
    if key != nil {
      let world = world()
      revision = objectNamed(by: call.method, in: call.params, of: world).flatMap { world.revision(of: $0) }
    } else {
      revision = nil
    }
  }

  /// Whether the same result answers both: equal params in any order of members, without `meta`; null counts as absent.
  package func isSame(as other: TaskRequest) -> Bool {
    // A request that joins would miss the parts that were already sent.
    guard !wantsParts, !other.wantsParts else { return false }
    return revision == other.revision && method == other.method && hasParams(other.params)
  }

  /// Whether the client asks for the result in parts.
  package var wantsParts: Bool { params.wantsParts }

  /// Whether the params are equal, even if objects have changed in between.
  package func hasParams(_ others: JSONValue) -> Bool { Self.covers(params, others) && Self.covers(others, params) }

  private static func covers(_ params: JSONValue, _ others: JSONValue) -> Bool {
    let ignored: Set = ["meta", "workDoneToken", "partialResultToken"]
    return others.members.allSatisfy { name, value in
      !value.isPresent || ignored.contains(name) || value.isEqual(to: params.member(name))
    }
  }
}

/// Replies that wait for one task, in the order of the requests. Adding and removing one is O(1).
package struct Waiters {
  /// Nearly every task has only one waiter, which needs no table.
  private var first: PendingReply?
  private var others: [Int: PendingReply] = [:]

  package var count: Int { (first == nil ? 0 : 1) + others.count }
  package var isEmpty: Bool { first == nil && others.isEmpty }
  package var all: [PendingReply] {
    let others = others.isEmpty ? [] : others.values.sorted { $0.order < $1.order }
    return (first.map { [$0] } ?? []) + others
  }

  package mutating func add(_ pending: PendingReply) {
    if isEmpty { first = pending } else { others[pending.order] = pending }
  }

  /// - Returns: whether the reply was waiting.
  @discardableResult
  package mutating func remove(_ pending: PendingReply) -> Bool {
    guard first === pending else { return others.removeValue(forKey: pending.order) != nil }
    first = nil
    return true
  }

  package mutating func removeAll() { self = Waiters() }
}

/// The tasks of a client, by handle. Operations on one task are independent of the number of tasks. A class, since a mutating
/// method of another module's value type copies the value.
package final class Tasks {
  package init() {}

  private var byHandle: [Text: RunningTask] = [:]
  private var byKey: [TaskKey: RunningTask] = [:]
  /// Tasks that end with an object, or lose a waiter with it, by number.
  private var byScope: [ObjectReference: [Int: RunningTask]] = [:]
  /// Saves of documents, by number.
  private var saving: [Int: RunningTask] = [:]
  /// Results of tasks that run once; see ``remember(_:_:)``.
  package var finished = FinishedTasks()
  /// Number of tasks ever started.
  package private(set) var started = 0
  /// Number of pieces of work in progress, including cancelled ones that have not stopped yet.
  package var working = 0

  package var count: Int { byHandle.count }
  /// In the order in which they began.
  package var running: [RunningTask] { byHandle.values.inOrder }
  /// Saves of documents.
  package var saves: [RunningTask] { saving.values.inOrder }

  package func find(_ key: TaskKey?) -> RunningTask? { key.flatMap { byKey[$0] } }

  package func with(handle: String) -> RunningTask? { byHandle[Text(handle)] }

  /// Finds a task by its handle, or by the text of the id of the request that began it.
  package func find(_ name: String) -> RunningTask? {
    with(handle: name) ?? with(handle: "#" + name) ?? with(handle: "#" + RequestID.string(name).description)
  }

  /// The tasks that end with an object, or lose a waiter with it, in the order in which they began.
  package func scoped(to object: ObjectReference) -> [RunningTask] {
    byScope[object]?.values.inOrder ?? []
  }

  /// All objects that are scopes of tasks or waiters.
  package var scopes: [ObjectReference] { Array(byScope.keys) }

  /// The handle of a task for which the request gives none: `#` and the request's id as JSON. So 5 and "5" differ, and no handle
  /// given by a client can be equal.
  package func handle(for id: RequestID?) -> String {
    let plain = "#" + (id?.description ?? "")
    var handle = plain
    // Joined requests may outlive the request that began the task, whose id is then free again.
    var count = 1
    while with(handle: handle) != nil {
      count += 1
      handle = "\(plain).\(count)"
    }
    return handle
  }

  package func add(_ task: RunningTask) {
    started += 1
    task.number = started
    task.isRunning = true
    byHandle[Text(task.handle)] = task
    if let key = task.key { byKey[key] = task }
    if let scope = task.scope { byScope[scope, default: [:]][started] = task }
    if task.kind == .saveDocument { saving[started] = task }
  }

  /// Adds a waiter of a shared task that leaves when an object closes.
  package func add(_ pending: PendingReply, scopedTo scope: ObjectReference, of task: RunningTask) {
    task.guests[scope, default: []].append(pending)
    byScope[scope, default: [:]][task.number] = task
  }

  package func remove(_ task: RunningTask) {
    task.timer?.cancel()
    guard task.isRunning else { return }
    task.isRunning = false
    byHandle[Text(task.handle)] = nil
    if let key = task.key, byKey[key] === task { byKey[key] = nil }
    if let scope = task.scope { remove(task, from: scope) }
    for scope in task.guests.keys { remove(task, from: scope) }
    if task.kind == .saveDocument { saving[task.number] = nil }
  }

  private func remove(_ task: RunningTask, from scope: ObjectReference) {
    byScope[scope]?[task.number] = nil
    if byScope[scope]?.isEmpty == true { byScope[scope] = nil }
  }
}

extension Swift.Collection<RunningTask> {
  /// In the order in which they began.
  package var inOrder: [RunningTask] { sorted { $0.number < $1.number } }
}
