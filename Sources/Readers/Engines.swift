// The server's access to engines: processes that compute with geometries where that takes much time or memory.

import Geometry
import GeometryEngine
import Platform
import Reading

/// Computes in separate processes, so that neither the loop nor the memory of the server is at stake.
///
/// A call blocks its thread; a cancel kills the process.
public final class Engines: RemoteEngine {
  private let processes: WarmProcesses

  /// - Parameters:
  ///   - executable: the program that serves with `--engine`.
  ///   - memory: limit of an engine's address space in bytes.
  init(executable: String, memory: UInt64) { processes = WarmProcesses(executable: executable, ["--engine", String(memory)]) }

  public func relates(
    _ relation: SpatialRelation, of second: Geometry, to first: Geometry, across seam: Seam?, isCancelled: () -> Bool
  ) throws(EngineError) -> Bool {
    try run(.relate(relation, across: seam), [first, second], isPlanar: true, isCancelled) { reply, _ in
      guard case .related(let holds) = reply else { return nil }
      return holds
    }
  }

  public func compute(
    _ operation: GeometryOperation, _ operands: [Geometry], isCancelled: () -> Bool
  ) throws(EngineError) -> GeometryOutcome {
    let request = ReaderRequest.compute(operation.kind.rawValue, operation.numbers, mends: operation.mends)
    return try run(request, operands, isPlanar: false, isCancelled) { reply, file in
      guard case .computed(let numbers, let text) = reply, let geometries = file.flatMap(GeometryList.read) else { return nil }
      return GeometryOutcome(geometries, numbers: numbers, text: text)
    }
  }

  /// - Parameter read: nil for a reply that is no answer.
  private func run<R>(
    _ request: ReaderRequest, _ operands: [Geometry], isPlanar: Bool, _ isCancelled: () -> Bool,
    _ read: (ReaderReply, CInt?) -> R?
  ) throws(EngineError) -> R {
    guard let file = GeometryList.file(operands, isPlanar: isPlanar) else { throw .failed(operation: "share", reason: errorText()) }
    defer { close(file) }
    let (reply, message): (ReaderReply, Message)
    do throws(ProcessFault) { (reply, message) = try processes.run(request, file, isCancelled) } catch {
      switch error {
      case .cancelled: throw .interrupted
      case .ended(let signal): throw .engineFailed(signal: signal)
      }
    }
    switch reply {
    case .refused(let operation, let reason): throw .failed(operation: operation, reason: reason)
    case .invalid(let reason, let place, let operand): throw .invalid(reason: reason, at: place, operand: operand)
    default:
      guard let result = read(reply, message.files.first) else { throw .engineFailed(signal: nil) }
      return result
    }
  }
}
