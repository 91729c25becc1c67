// What generated code registers its handlers with: the one place that says what each shape of method looks like in Swift.

import JSON

/// The Swift types that handlers work with. Generated code knows them by these names alone.
public protocol HandlerTypes: SendableMetatype {
  associatedtype World
  /// The client whose request is handled, for what concerns its session: subscriptions, tasks.
  associatedtype Client
  /// Something under way in the world that a request waits for.
  associatedtype Process
  /// How it ended.
  associatedtype ProcessEnd
  /// What a task may use on its worker thread: progress, cancellation.
  associatedtype TaskContext
  /// What a task does, as far as it matters to how it is run.
  associatedtype TaskKind: Sendable
  /// What has to end before a task begins.
  associatedtype Prerequisite: Sendable
}

/// What answers the methods of a domain.
///
/// Types of its methods have short names there: `Get.Params` in the handlers of `map/*` is `MapProtocol.Get.Params`. Where
/// another type in scope has the name, as `Set` has, the long name is necessary.
public protocol MethodHandlers: SendableMetatype {
  associatedtype Types: HandlerTypes
}

extension MethodHandlers {
  /// What makes a command's answer, of the world in which everything that depends on the change has followed it.
  public typealias Answer<R> = (Types.World) throws -> R
}

/// Takes the methods of the protocol; how they are run is its own concern.
public protocol MethodHost<Types> {
  associatedtype Types: HandlerTypes

  /// Reads the world.
  func query<P: JSONDecodable & Sendable, R: JSONEncodable>(
    _ name: StaticString, _ body: @escaping @Sendable (P, Types.World) throws -> R)

  /// Changes the world, at once and wholly or not at all, and returns what makes the answer afterwards.
  func command<P: JSONDecodable & Sendable, R: JSONEncodable>(
    _ name: StaticString, _ body: @escaping (P, inout Types.World) throws -> (Types.World) throws -> R)

  /// `start` sets something going, `end` makes the answer when it is over.
  func process<P: JSONDecodable & Sendable, R: JSONEncodable>(
    _ name: StaticString, start: @escaping (P, inout Types.World) throws -> Types.Process,
    end: @escaping (P, Types.ProcessEnd, Types.World) throws -> R)

  /// Works elsewhere and comes back with the answer, and maybe an edit.
  func task<P: JSONDecodable & Sendable, R: JSONEncodable & Sendable>(
    _ name: StaticString, _ body: @escaping (P, inout Types.World) throws -> TaskPlan<Types, R>)

  /// Concerns the client's session: subscriptions, task handles.
  func session<P: JSONDecodable & Sendable, R: JSONEncodable>(
    _ name: StaticString, _ body: @escaping (P, Types.Client) throws -> R)
}

/// What a task is going to do, made on the loop where its params were checked.
public struct TaskPlan<Types: HandlerTypes, R: Sendable>: Sendable {
  /// Applies the edit and gives the result; runs on the loop.
  public typealias Finish = @Sendable (inout Types.World) throws -> R
  /// Runs on a worker thread.
  public typealias Work = @Sendable (Types.TaskContext) throws -> Step

  /// What a piece of the work has made.
  public enum Step: Sendable {
    /// A part of the result as JSON text, to be sent before the next one is asked for.
    case part([UInt8], next: Work)
    /// The result, which changes nothing.
    case answer(R)
    case last(Finish)
  }

  /// What it does; nil for a computation like any other.
  public let kind: Types.TaskKind?
  /// What has to end before it begins; begun with it where it is not under way.
  public let prerequisites: [Types.Prerequisite]
  /// Runs on the loop in place of the finish when the task was cancelled or failed.
  public let abandon: (@Sendable (inout Types.World) -> Void)?
  /// The result where there is nothing to work for.
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

  /// A task that was answered where it was planned.
  public init(_ kind: Types.TaskKind? = nil, answer: R) {
    self.kind = kind
    prerequisites = []
    abandon = nil
    self.answer = answer
    work = { _ in .answer(answer) }
  }
}
