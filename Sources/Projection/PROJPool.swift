// A pool of PROJ contexts: a context serves one thread at a time, and objects made in it cannot leave it.

import CPROJ
import Geometry
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

/// Holds as many contexts as calls ever ran concurrently. The last one returned is reused first: its cache is the
/// warmest.
final class PROJPool: Sendable {
  private let idle = Mutex<[PROJContext]>([])

  /// The caller has exclusive use until it is given back.
  func take() throws(TransformError) -> PROJContext {
    if let context = idle.withLock({ $0.popLast() }) { return context }
    return try PROJContext()
  }

  func giveBack(_ context: PROJContext) { idle.withLock { $0.append(context) } }
}
