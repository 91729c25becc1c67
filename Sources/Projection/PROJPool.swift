// A pool of PROJ contexts: a context serves one thread at a time, and objects made in it cannot leave it.

import CPROJ
import Geometry
import Platform
import Synchronization

/// PROJ's functions, loaded once for the process.
enum PROJLibrary {
  static let shared: Result<SharedPROJ, TransformError> = {
    var reason: UnsafePointer<CChar>?
    guard let proj = cproj_load(&reason) else {
      return .failure(.unavailable(reason: reason.map { String(cString: $0) } ?? "PROJ did not load"))
    }
    return .success(SharedPROJ(functions: proj))
  }()
}

/// `@unchecked`: the table is written once, before it is shared, and lives as long as the process.
struct SharedPROJ: @unchecked Sendable {
  let functions: UnsafePointer<cproj_functions>
}

/// What threads share of PROJ: as many contexts as calls ever ran concurrently, and what is known of references.
///
/// A thread comes first to a place of its own: many threads that transform small geometries would spend most of their time in a lock that
/// they share.
final class PROJPool: Sendable {
  private struct Kept {
    /// The last one returned is reused first: its cache is the warmest.
    var contexts: [PROJContext] = []
    var descriptions: [SpatialReference: SpatialReferenceInfo] = [:]
    /// Of the definitions in ``descriptions``.
    var bytes = 0
  }

  private final class Place: Sendable { let kept = Mutex(Kept()) }

  /// Maximum number of descriptions at a place, and bytes of their definitions; beyond either they are forgotten.
  private static let (maximumDescriptions, maximumBytes) = (1024, 1 << 20)
  private let places = (0..<16).map { _ in Place() }

  /// The caller has exclusive use until it is given back.
  func take() throws(TransformError) -> PROJContext {
    let start = threadHash()
    for index in 0..<UInt64(places.count) {
      if let context = place(start &+ index).kept.withLockIfAvailable({ $0.contexts.popLast() }) ?? nil { return context }
    }
    return try PROJContext()
  }

  func giveBack(_ context: PROJContext) { withOwn { $0.contexts.append(context) } }

  func description(of reference: SpatialReference) -> SpatialReferenceInfo? { withOwn { $0.descriptions[reference] } }

  func keep(_ info: SpatialReferenceInfo, of reference: SpatialReference) {
    withOwn {
      let bytes = reference.definition.utf8.count + info.reference.definition.utf8.count
      if $0.descriptions.count >= Self.maximumDescriptions || $0.bytes + bytes > Self.maximumBytes {
        ($0.descriptions, $0.bytes) = ([:], 0)
      }
      $0.bytes += bytes
      $0.descriptions[reference] = info
      $0.descriptions[info.reference] = info
    }
  }

  private func place(_ number: UInt64) -> Place { places[Int(number % UInt64(places.count))] }

  private func withOwn<R: Sendable>(_ body: (inout Kept) -> R) -> R { place(threadHash()).kept.withLock { body(&$0) } }
}
