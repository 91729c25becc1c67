// The interface at which generated code registers handlers. It defines the Swift signature of each shape of method.

import JSON

/// The Swift types that handlers use. Generated code knows them only by these names.
public protocol HandlerTypes: SendableMetatype {
  associatedtype World
  /// The client whose request is handled; for its session: subscriptions, tasks.
  associatedtype Client
  /// A process in the world that a request waits for.
  associatedtype Process
  /// The outcome of a process.
  associatedtype ProcessEnd
  /// The context of a task on its worker thread: progress, cancellation.
  associatedtype TaskContext
  /// The kind of a task, as far as it determines how the task is run.
  associatedtype TaskKind: Sendable
  /// Work that has to end before a task begins.
  associatedtype Prerequisite: Sendable

  /// The revision that the results of commands state.
  static func revision(of world: World) -> Int
}

/// Handlers of the methods of a domain.
///
/// A command whose result is the world's revision alone returns nothing.
///
/// Types of its methods have short names there: `Get.Params` in the handlers of `map/*` is `MapProtocol.Get.Params`. If another
/// type in scope has the same name, as `Set` does, the long name is necessary.
public protocol MethodHandlers: SendableMetatype {
  associatedtype Types: HandlerTypes
}

extension MethodHandlers {
  /// Makes a command's answer from the world after propagation.
  public typealias Answer<R> = (Types.World) throws -> R
}

/// Registers the methods of the protocol, and determines how they are run.
public protocol MethodHost<Types> {
  associatedtype Types: HandlerTypes

  /// Reads the world.
  func query<P: JSONDecodable & Sendable, R: JSONEncodable>(
    _ name: StaticString, _ body: @escaping @Sendable (P, Types.World) throws -> R)

  /// Changes the world, completely or not at all, and returns a function that makes the answer afterwards.
  func command<P: JSONDecodable & Sendable, R: JSONEncodable>(
    _ name: StaticString, _ body: @escaping (P, inout Types.World) throws -> (Types.World) throws -> R)

  /// `start` starts a process; `end` makes the answer when the process has ended.
  func process<P: JSONDecodable & Sendable, R: JSONEncodable>(
    _ name: StaticString, start: @escaping (P, inout Types.World) throws -> Types.Process,
    end: @escaping (P, Types.ProcessEnd, Types.World) throws -> R)

  /// Works on a worker thread and ends with the answer, and possibly with an edit.
  func task<P: JSONDecodable & Sendable, R: JSONEncodable & Sendable>(
    _ name: StaticString, _ body: @escaping (P, inout Types.World) throws -> TaskPlan<Types, R>)

  /// Concerns the client's session: subscriptions, task handles.
  func session<P: JSONDecodable & Sendable, R: JSONEncodable>(
    _ name: StaticString, _ body: @escaping (P, Types.Client) throws -> R)
}

/// The plan of a task, made on the loop, where its params are checked.
public struct TaskPlan<Types: HandlerTypes, R: Sendable>: Sendable {
  /// Applies the edit and returns the result. Runs on the loop.
  public typealias Finish = @Sendable (inout Types.World) throws -> R
  /// Runs on a worker thread.
  public typealias Work = @Sendable (Types.TaskContext) throws -> Step

  /// The outcome of a piece of work.
  public enum Step: Sendable {
    /// A part of the result, already written, to be sent before the next one is made.
    case part(JSONOpaque, next: Work)
    /// The result of work without changes.
    case answer(R)
    case last(Finish)
  }

  /// The kind of the task; nil for a computation without special rules.
  public let kind: Types.TaskKind?
  /// Work that has to end before the task begins. It is started unless it is already running.
  public let prerequisites: [Types.Prerequisite]
  /// Runs on the loop in place of the finish if the task was cancelled or failed.
  public let abandon: (@Sendable (inout Types.World) -> Void)?
  /// The result, if no work is needed.
  public let answer: R?
  public let work: Work

  public init(
    _ kind: Types.TaskKind? = nil, after prerequisites: [Types.Prerequisite] = [],
    abandon: (@Sendable (inout Types.World) -> Void)? = nil,
    work: @escaping @Sendable (Types.TaskContext) throws -> Finish
  ) {
    self.kind = kind
    self.prerequisites = prerequisites
    self.abandon = abandon
    answer = nil
    self.work = { .last(try work($0)) }
  }

  /// A task that changes nothing.
  public init(_ kind: Types.TaskKind? = nil, result work: @escaping @Sendable (Types.TaskContext) throws -> R) {
    self.init(kind, parts: { .answer(try work($0)) })
  }

  /// A task whose result is sent in parts.
  public init(_ kind: Types.TaskKind? = nil, parts work: @escaping Work) {
    self.kind = kind
    prerequisites = []
    abandon = nil
    answer = nil
    self.work = work
  }

  /// A task that was answered when it was planned.
  public init(_ kind: Types.TaskKind? = nil, answer: R) {
    self.kind = kind
    prerequisites = []
    abandon = nil
    self.answer = answer
    work = { _ in .answer(answer) }
  }
}
