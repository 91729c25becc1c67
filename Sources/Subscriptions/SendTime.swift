// When rate-limited subscriptions send, by the model's clock, real or manual.

import GeoModel
import JSONRPC

/// A time in nanoseconds: the loop's time with a real clock; with a manual one the model's time, which only `clock/advance` and
/// `clock/set` change.
struct SendTime {
  private let isManual: Bool
  private var nanoseconds: Int64

  init(_ clock: Clock, _ loop: any Loop) {
    isManual = clock.mode == .manual
    nanoseconds = isManual ? clock.now.nanoseconds : Int64(clamping: loop.nanoseconds)
  }

  /// Whether this time is earlier. False for times of different clocks, which do not wait for each other.
  func isBefore(_ other: SendTime) -> Bool { isManual == other.isManual && nanoseconds < other.nanoseconds }

  /// The earliest time of the next of `rate` sends a second.
  func next(_ rate: Double) -> SendTime {
    var next = self
    // 1e18 ns bounds the interval of a tiny rate.
    let (sum, isOver) = nanoseconds.addingReportingOverflow(Int64(min(1e9 / rate, 1e18)))
    next.nanoseconds = isOver ? .max : sum
    return next
  }

  /// The time at which the loop has to send; nil with a manual clock.
  var onLoop: UInt64? { isManual ? nil : UInt64(clamping: nanoseconds) }
}
