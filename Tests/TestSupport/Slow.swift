// Which tests `make check` leaves out.

import Foundation
import Testing

/// Whether only quick tests run, as in `make check`.
public let isQuick = ProcessInfo.processInfo.environment["GEOMODEL_QUICK"] != nil

extension Trait where Self == ConditionTrait {
  /// A test that takes more than 4 s of processor time in debug. `make test` runs it.
  public static var slow: Self { .disabled(if: isQuick, "takes long in debug") }
}
