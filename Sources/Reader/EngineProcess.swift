// The engine role of the process: confines itself, then computes with geometries that the server sends.

import CReader
import Geometry
import GeometryEngine
import Platform
import Reading

/// A process that computes with geometries and opens no file. It ends when its channel closes.
public enum EngineProcess {
  /// Serves requests at a descriptor until the other end is gone.
  ///
  /// - Parameter memory: limit of the address space in bytes.
  public static func serve(at descriptor: CInt, memory: UInt64) -> Never {
    let channel = Channel(descriptor: descriptor)
    // What it makes leaves it as a file in memory.
    _ = creader_confine(memory, memory, 0, 0)
    // Loads GEOS before the restriction: it may be in a folder that a confined process cannot open.
    _ = try? GeometryEngine.validity(of: .point(Point(x: 0, y: 0)))
    _ = ReaderProcess.restrict(to: [])
    startThread {
      channel.awaitEnd()
      _exit(0)
    }
    do {
      while true {
        let message = try channel.receive()
        let request = try message.document.read { json throws in try ReaderRequest(from: json) }
        guard let operands = message.files.first.flatMap(GeometryList.read) else { _exit(1) }
        switch request {
        case .relate(let relation, let seam) where operands.count == 2:
          try ReaderProcess.reply(answer { () throws(EngineError) in
            var related = RelatedGeometry(operands[0], across: seam)
            return .related(try related.relates(relation, operands[1]))
          }, channel)
        case .compute(let name, let numbers, let mends):
          guard let kind = GeometryOperation.Kind(rawValue: name) else { _exit(1) }
          var made: [Geometry] = []
          let reply = answer { () throws(EngineError) in
            let outcome = try GeometryCalculator()(GeometryOperation(kind, numbers, mends: mends), operands)
            made = outcome.geometries
            return .computed(outcome.numbers, outcome.text)
          }
          guard let file = GeometryList.file(made, isPlanar: false) else { _exit(1) }
          try ReaderProcess.reply(reply, channel, files: [file])
          close(file)
        default: _exit(1)
        }
      }
    } catch {
      _exit(0)
    }
  }

  private static func answer(_ compute: () throws(EngineError) -> ReaderReply) -> ReaderReply {
    do throws(EngineError) { return try compute() } catch {
      switch error {
      case .failed(let operation, let reason):
        // GEOS reports the limit of memory like a fault of the geometry.
        if reason.contains("bad_alloc") { _exit(1) }
        return .refused(operation: operation, reason: reason)
      case .invalid(let reason, let place, let operand): return .invalid(reason: reason, at: place, operand: operand)
      case .unavailable, .interrupted, .tooExpensive, .tooManyPositions, .engineFailed: _exit(1)
      }
    }
  }
}
