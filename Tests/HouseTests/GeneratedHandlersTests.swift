// A handler of each shape: the compiler checks in this file that a domain's handlers register with a host.

import GeoProtocol
import JSON
import Testing

/// Records what is registered, and runs the bodies on a number in place of a world.
private final class Host: MethodHost {
  enum Types: HandlerTypes {
    struct TaskContext {}
    typealias World = Int
    typealias Client = Host
    typealias Process = String
    typealias ProcessEnd = Bool
    typealias TaskKind = Never
    typealias Prerequisite = Never
    static func revision(of world: Int) -> Int { world }
  }
  var log: [String] = []

  func query<P: JSONDecodable & Sendable, R: JSONEncodable>(
    _ name: StaticString, _ body: @escaping @Sendable (P, Int) throws -> R
  ) { log.append("query \(name)") }

  func command<P: JSONDecodable & Sendable, R: JSONEncodable>(
    _ name: StaticString, _ body: @escaping (P, inout Int) throws -> (Int) throws -> R
  ) { log.append("command \(name)") }

  func process<P: JSONDecodable & Sendable, R: JSONEncodable>(
    _ name: StaticString, start: @escaping (P, inout Int) throws -> String, end: @escaping (P, Bool, Int) throws -> R
  ) { log.append("process \(name)") }

  func task<P: JSONDecodable & Sendable, R: JSONEncodable>(
    _ name: StaticString, _ body: @escaping (P, inout Int) throws -> TaskPlan<Host.Types, R>
  ) { log.append("task \(name)") }

  func session<P: JSONDecodable & Sendable, R: JSONEncodable>(
    _ name: StaticString, _ body: @escaping (P, Host) throws -> R
  ) { log.append("session \(name)") }
}

private enum Handlers: SampleHandlers {
  typealias Types = Host.Types
  typealias Sample = SampleProtocol

  static func make(_ params: Sample.Make.Params, in world: inout Int) throws -> Answer<Sample.Make.Result> {
    world += params.copies
    return { _ in .init(id: "a") }
  }
  static func find(_ params: Sample.Find.Params, in world: Int) throws -> Sample.Thing { Sample.Thing(serial: world) }
  static func run(_ params: Sample.Run.Params, in world: inout Int) throws -> String { "running" }
  static func runEnded(_ params: Sample.Run.Params, _ end: Bool, in world: Int) throws -> Sample.Status { .idle }
  static func work(_ params: Sample.Work.Params, in world: inout Int) throws -> TaskPlan<Host.Types, Sample.Work.Result>
  {
    TaskPlan { _ in
      { world in
        world += 10
        return .init()
      }
    }
  }
  static func echo(_ params: JSONOpaque, on client: Host) throws -> JSONOpaque { params }
}

struct GeneratedHandlersTests {
  @Test func `every method but those of the lifecycle is registered by its shape`() {
    let host = Host()
    Handlers.register(on: host)
    #expect(
      host.log == [
        "command sample/make", "query sample/find", "process sample/run", "task sample/work", "session sample/echo",
      ])
  }

  @Test func `a task's plan works first and edits the model at its end`() throws {
    var world = 1
    let plan = try Handlers.work(.init(), in: &world)
    guard case .last(let finish) = try plan.work(Host.Types.TaskContext()) else {
      Issue.record("the plan has parts")
      return
    }
    #expect(world == 1)
    _ = try finish(&world)
    #expect(world == 11)
  }
}
