// The types that handlers use: those that generated code leaves open, and the client as session handlers see it.

import GeoModel
import GeoProtocol
import JSON
import JSONRPC
import Readers
import Subscriptions

/// The types that all handlers use.
package enum Server: HandlerTypes {
  package typealias World = GeoModel.World
  package typealias Client = any HandlerClient
  package typealias Process = ProcessID
  package typealias ProcessEnd = GeoModel.ProcessEnd
  package typealias TaskContext = Worker
  package typealias TaskKind = Handlers.TaskKind
  package typealias Prerequisite = Handlers.Prerequisite

  package static func revision(of world: World) -> Int { world.revision }
}

extension MethodHandlers { package typealias Types = Server }

package typealias Plan<R: Sendable> = TaskPlan<Server, R>

/// A command within a transaction. Writes its result.
package typealias Command = (_ params: JSONValue, inout World, inout JSONWriter) throws -> Void

/// The client that sent the request.
package protocol HandlerClient: AnyObject {
  var world: World { get }
  var subscribers: Subscribers { get set }
  var tasks: Tasks { get }
  /// The commands of transactions, by name.
  var commands: [String: Command] { get }
  /// Throws if params of a strict client have unknown members.
  func checkMembers(of params: JSONValue, for method: String) throws(RPCError)
  var session: Session? { get }
  var realTime: Instant { get }
  /// The methods whose work jobs do.
  var jobMethods: JobMethods { get }
  /// Reads foreign files.
  var readers: Readers { get }
  /// Whether the client wants texts measured with the fonts of the machine.
  var hasFonts: Bool { get }
  /// Which files may be read and written.
  var files: FilePaths { get }
  /// Resident memory in bytes; nil where the system does not report it.
  var residentBytes: Int? { get }

  /// Makes a change with one revision and one step, and publishes it.
  ///
  /// - Parameters:
  ///   - name: the name of the method.
  ///   - step: the name of the step; nil for `meta.step`, or else the method's name.
  func perform(_ name: StaticString, step: String?, _ body: (inout World) throws -> Void) throws
  /// Makes a change of live data for the request that is being handled, and publishes it. It is neither a step of history nor rolled
  /// back: what throws has changed nothing.
  func receive<R>(_ body: (inout World) throws -> R) throws -> R
  /// Takes what the file that a source follows has said, in place of the file.
  func replay(_ event: SessionProtocol.FeedEvent, of source: ObjectReference) throws
  /// Stops a task and fails its waiters.
  @discardableResult func end(_ task: RunningTask, with error: RPCError) -> Bool
  /// Sends finished parts of results, if they may be sent.
  func sendParts()
  /// Sends what subscriptions have recorded.
  func flush(resumes: Bool)
}
