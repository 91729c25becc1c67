// What generated code registers its handlers with: the one place that says what each shape of method looks like in Swift.

import JSON

/// Takes the methods of the protocol; what runs them is its affair.
public protocol MethodHost: AnyObject {
  associatedtype World
  /// Something under way in the world that a request waits for.
  associatedtype Process
  /// How it ended.
  associatedtype ProcessEnd
  /// What a task may use on its worker thread: snapshot, progress, cancellation.
  associatedtype TaskContext
  /// A task that others can wait for.
  associatedtype Prerequisite

  /// Reads the world.
  func query<P: JSONDecodable & Sendable, R: JSONEncodable>(
    _ name: StaticString, _ body: @escaping (P, World) throws -> R)

  /// Changes the world, at once and wholly or not at all.
  func command<P: JSONDecodable & Sendable, R: JSONEncodable>(
    _ name: StaticString, _ body: @escaping (P, inout World) throws -> R)

  /// `start` sets something going, `end` makes the answer when it is over.
  func process<P: JSONDecodable & Sendable, R: JSONEncodable>(
    _ name: StaticString, start: @escaping (P, inout World) throws -> Process,
    end: @escaping (P, ProcessEnd, World) throws -> R)

  /// Works elsewhere and comes back with the answer, and maybe an edit.
  func task<P: JSONDecodable & Sendable, R: JSONEncodable & Sendable>(
    _ name: StaticString, _ body: @escaping (P, inout World) throws -> TaskPlan<Self, R>)

  /// Concerns the session: subscriptions, task handles. The world stays as it is.
  func session<P: JSONDecodable & Sendable, R: JSONEncodable>(
    _ name: StaticString, _ body: @escaping (P, Self) throws -> R)
}

/// What a task is going to do, made on the loop where its params were checked.
public struct TaskPlan<Host: MethodHost, R: Sendable>: Sendable {
  /// Applies the edit and gives the result; runs on the loop.
  public typealias Finish = @Sendable (inout Host.World) throws -> R

  /// Runs on a worker thread.
  public let work: @Sendable (Host.TaskContext) throws -> Finish
  /// Runs on the loop in place of the finish when the task was cancelled or failed.
  public let abandon: (@Sendable (inout Host.World) -> Void)?

  /// What there was so little to do for that it is done: there is no work.
  public let answer: R?

  /// Runs on the loop before the work: begins what has to end first, or finds it under way.
  public let awaits: (@Sendable (Host) -> [Host.Prerequisite])?

  public init(
    abandon: (@Sendable (inout Host.World) -> Void)? = nil,
    awaiting: (@Sendable (Host) -> [Host.Prerequisite])? = nil,
    work: @escaping @Sendable (Host.TaskContext) throws -> Finish
  ) {
    self.work = work
    self.abandon = abandon
    awaits = awaiting
    answer = nil
  }

  /// A task that was answered where it was planned.
  public init(answer: R) {
    work = { _ in { _ in answer } }
    abandon = nil
    awaits = nil
    self.answer = answer
  }

  /// A task that has no work of its own: it waits for others.
  public init(
    awaiting: @escaping @Sendable (Host) -> [Host.Prerequisite], finish: @escaping Finish
  ) {
    work = { _ in finish }
    abandon = nil
    awaits = awaiting
    answer = nil
  }
}
