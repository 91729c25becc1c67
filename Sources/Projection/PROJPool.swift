// PROJ contexts by turns: PROJ lets only one thread at a time use one, and what is made in it stays there.

import CPROJ
import Geometry
import Synchronization

/// PROJ's functions, once a process.
enum PROJLibrary {
  static let shared: Result<SharedPROJ, TransformError> = {
    var reason: UnsafePointer<CChar>?
    guard let proj = cproj_load(&reason) else {
      return .failure(.unavailable(reason: reason.map { String(cString: $0) } ?? "PROJ did not load"))
    }
    return .success(SharedPROJ(functions: proj))
  }()
}

/// `@unchecked` because the table is written once, before anyone has it, and lives as long as the process.
struct SharedPROJ: @unchecked Sendable {
  let functions: UnsafePointer<cproj_functions>
}

/// As many contexts as calls ever ran at once. The one given back last goes first: its cache is the warmest.
final class PROJPool: Sendable {
  private let idle = Mutex<[PROJContext]>([])

  /// The caller alone uses it until it is given back.
  func take() throws(TransformError) -> PROJContext {
    if let context = idle.withLock({ $0.popLast() }) { return context }
    return try PROJContext()
  }

  func giveBack(_ context: PROJContext) { idle.withLock { $0.append(context) } }
}
