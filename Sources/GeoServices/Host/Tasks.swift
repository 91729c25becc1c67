// The tasks of a session: what runs, for whom, and what replaces or ends it.

import GeoModel
import Geometry
import JSON
import JSONRPC

/// A task that has not been answered.
public final class RunningTask {
  let handle: String
  let method: String
  let scope: ObjectReference?
  let key: String?
  /// What it was begun with, by a request: the same question joins.
  let question: TaskRequest?
  let worker: Worker
  /// Of what the question is about, when it was asked; nil where that does not count.
  var revision: Int?
  /// Puts the world back when the work does not come to its end.
  let abandon: ((inout World) -> Void)?
  var waiters: [PendingReply] = []
  /// Waiters that go with an object of their own: a load is for many, and each may be a view's.
  var guests: [(scope: ObjectReference, pending: PendingReply)] = []
  var timer: LoopTimer?
  /// Hands the work to a worker thread.
  var begin: (() -> Void)?
  /// What has to end before it begins.
  var awaited: [RunningTask] = []
  var awaitedCount = 0
  /// Tasks that wait for this one.
  var dependents: [RunningTask] = []
  /// How far it is, in 0...1.
  var fraction = 0.0
  /// Only of loads those are in want that wait for them; others wait for their end, whichever it is.
  var isUnwanted: Bool { waiters.isEmpty && (dependents.isEmpty || key != LayerService.loadKey) }

  init(
    handle: String, method: String, scope: ObjectReference?, key: String?, question: TaskRequest?, worker: Worker,
    abandon: ((inout World) -> Void)?
  ) {
    self.handle = handle
    self.method = method
    self.scope = scope
    self.key = key
    self.question = question
    self.worker = worker
    self.abandon = abandon
  }
}

/// What a task was asked, kept to tell whether another request asks the same.
struct TaskRequest {
  let params: JSONValue
  /// Keeps `params` alive.
  private let document: JSONDocument

  init(_ call: Call) {
    params = call.params
    document = call.document
  }

  /// Whether the params are the same; `meta` apart, null being absent, members in any order.
  func isSame(as other: TaskRequest) -> Bool { covers(other) && other.covers(self) }

  private func covers(_ other: TaskRequest) -> Bool {
    var same = true
    other.params.forEachMember { name, value in
      guard same, value.isPresent, !name.elementsEqual("meta".utf8) else { return }
      same = value.isEqual(to: params.member(String(decoding: name, as: UTF8.self)))
    }
    return same
  }
}

struct Tasks {
  /// In the order they began.
  var running: [RunningTask] = []
  var started = 0
  /// Work under way, cancelled work that has not stopped yet included.
  var working = 0

  func with(scope: ObjectReference?, key: String) -> RunningTask? {
    running.first { Text(key) == Text($0.key) && $0.scope == scope }
  }

  /// Saves of documents.
  var saves: [RunningTask] { running.filter { $0.method == "document/save" || $0.method == "document/saveAs" } }

  func with(handle: String) -> RunningTask? { running.first { Text(handle) == Text($0.handle) } }

  /// The task meant by its handle, or by the id of the request that began it as text.
  func find(_ name: String) -> RunningTask? {
    with(handle: name) ?? with(handle: "#" + name) ?? with(handle: "#" + RequestID.string(name).description)
  }

  /// The handle of a task that was given none: `#` and the request's id as JSON, so that 5 and "5" differ, and no id that a
  /// client may give is in the way.
  func handle(for id: RequestID?) -> String {
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

  mutating func remove(_ task: RunningTask) {
    task.timer?.cancel()
    running.removeAll { $0 === task }
  }
}
