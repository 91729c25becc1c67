// Planar geometry by GEOS: values in, values out; handles stay inside.

import CGEOS
import Geometry

/// Why GEOS returned no result.
public enum EngineError: Error, Hashable, Sendable {
  /// GEOS is not installed.
  case unavailable(reason: String)
  /// GEOS reported an error, mostly for a malformed geometry, such as a ring of three positions.
  case failed(operation: String, reason: String)
  /// The operation was interrupted; see ``GeometryEngine/interruptible(by:_:)``.
  case interrupted
  /// The operation costs more than the calling thread may spend; see ``RelationAllowance``.
  case tooExpensive
  /// What is made would have more than ``Geometry/Geometry/mostPositions``.
  case tooManyPositions
  /// An operand is not valid, and has to be.
  case invalid(reason: String, at: Point?, operand: Int)
  /// The process that computed it died: of its limit of memory, mostly. The signal is nil if it ended by itself.
  case engineFailed(signal: Int?)
}

/// Whether a geometry is valid by the Simple Features rules; if not, why and where.
public enum Validity: Hashable, Sendable {
  case valid
  /// `at` is nil if the fault has no single position, such as a ring with too few positions.
  case invalid(reason: String, at: Point?)
}

/// Planar geometry on x and y; z and m are ignored. Each call uses its own GEOS context. For many tests against one geometry use
/// ``PreparedGeometry`` instead.
///
/// ```swift
/// if case .invalid(let reason, let at) = try GeometryEngine.validity(of: polygon) { ... }
/// ```
public enum GeometryEngine {
  /// Runs `body`; once `isCancelled` returns true, operations on this thread end with ``EngineError/interrupted``.
  ///
  /// GEOS checks for interruption thousands of times a second, but only while it finds intersections, unites and makes geometries
  /// valid.
  public static func interruptible<Result>(
    by isCancelled: () -> Bool, _ body: () throws -> Result
  ) rethrows -> Result {
    try withoutActuallyEscaping(isCancelled) { isCancelled in
      try withUnsafePointer(to: isCancelled) { context in
        let outer = cgeos_set_interruption(
          cgeos_interruption(
            is_requested: { $0?.assumingMemoryBound(to: (() -> Bool).self).pointee() ?? false }, context: context))
        defer { _ = cgeos_set_interruption(outer) }
        return try body()
      }
    }
  }

  /// Whether `geometry` is valid, and the first fault if not.
  public static func validity(of geometry: Geometry) throws(EngineError) -> Validity {
    guard !geometry.isExtreme else { return .invalid(reason: "numbers that are too large or too small", at: nil) }
    let context = try GEOSContext()
    let shape: GEOSShape
    do throws(EngineError) { shape = try GEOSShape(geometry, in: context) } catch {
      guard case .failed(_, let reason) = error else { throw error }
      return .invalid(reason: reason, at: nil)
    }
    return try context.validity(of: shape)
  }
}
