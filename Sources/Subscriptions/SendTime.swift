// When rate-limited subscriptions send: by the clock of the model, real or manual.

import GeoModel
import JSONRPC

/// A time in nanoseconds: the loop's with a real clock, the model's with a manual one, which only `clock/advance` and `clock/set` move.
struct SendTime {
  private let isManual: Bool
  private var nanoseconds: Int64

  init(_ clock: Clock, _ loop: any Loop) {
    isManual = clock.mode == .manual
    nanoseconds = isManual ? clock.now.nanoseconds : Int64(clamping: loop.nanoseconds)
  }

  /// Whether this time is earlier. Times of different clocks do not wait for one another.
  func isBefore(_ other: SendTime) -> Bool { isManual == other.isManual && nanoseconds < other.nanoseconds }

  /// The earliest time of the next of `rate` sends a second.
  func next(_ rate: Double) -> SendTime {
    var next = self
    // 1e18 ns bounds the interval of a tiny rate.
    let (sum, isOver) = nanoseconds.addingReportingOverflow(Int64(min(1e9 / rate, 1e18)))
    next.nanoseconds = isOver ? .max : sum
    return next
  }

  /// The loop's time at which to send; nil where the manual clock says so.
  var onLoop: UInt64? { isManual ? nil : UInt64(clamping: nanoseconds) }
}
