// Measuring in tests: by processor time, which other processes do not change.

import Foundation

/// Whether the tests are compiled with optimization: times mean nothing without.
#if DEBUG
  let isOptimized = false
#else
  let isOptimized = true
#endif

/// Whether tests run that take minutes.
let isBenchmark = isOptimized && ProcessInfo.processInfo.environment["GEOMODEL_BENCH"] != nil

/// The seconds that the calling thread spends in `body`.
func processorTime(_ body: () throws -> Void) rethrows -> Double {
  func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }
  let start = now()
  try body()
  return now() - start
}
