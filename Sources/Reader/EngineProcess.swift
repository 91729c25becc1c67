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
    _ = creader_confine(memory, 0, 0, 0)
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
        guard case .relate(let relation, let seam) = request, let file = message.files.first,
          let (first, second) = GeometryPair.read(file)
        else { _exit(1) }
        try ReaderProcess.reply(answer(relation, first, second, seam), channel)
      }
    } catch {
      _exit(0)
    }
  }

  private static func answer(_ relation: SpatialRelation, _ first: Geometry, _ second: Geometry, _ seam: Seam?) -> ReaderReply {
    do throws(EngineError) {
      var related = RelatedGeometry(first, across: seam)
      return .related(try related.relates(relation, second))
    } catch {
      guard case .failed(let operation, let reason) = error else { _exit(1) }
      // GEOS reports the limit of memory like a fault of the geometry.
      if reason.contains("bad_alloc") { _exit(1) }
      return .refused(operation: operation, reason: reason)
    }
  }
}
