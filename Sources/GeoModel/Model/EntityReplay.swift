// A replay: features with times are received once more, as the clock goes.

import FeatureStore
import Geometry

/// Features in the order of their times, and how far they have been received.
public struct EntityReplay: Sendable {
  private let store: FeatureStore
  private let rows: [(row: UInt32, time: Instant)]
  /// Seconds of the features' time for one second of the clock.
  public let factor: Double
  /// Number of features without a valid time, which are left out.
  public let skipped: Int
  private var next = 0
  /// Seconds of the features' time that had passed when the replay was resumed.
  private var elapsed = 0.0
  /// When it was resumed, while it runs.
  var resumed: Instant?

  var hasEnded: Bool { next == rows.count }

  /// - Parameter column: of the times.
  /// - Returns: nil if no feature has one.
  public init?(_ store: FeatureStore, timesIn column: Int, factor: Double) {
    var rows: [(row: UInt32, time: Instant)] = []
    store.forEach { row in
      if let time = Instant(observation: row.value(column)) { rows.append((row.row, time)) }
      return true
    }
    guard !rows.isEmpty else { return nil }
    rows.sort { ($0.time, $0.row) < ($1.time, $1.row) }
    (self.store, self.rows, self.factor, skipped) = (store, rows, factor, store.count - rows.count)
  }

  /// Starts or resumes it; one that has ended starts again.
  mutating func resume(at now: Instant) {
    guard resumed == nil else { return }
    if hasEnded { (next, elapsed) = (0, 0) }
    resumed = now
  }

  mutating func pause(at now: Instant) {
    guard let resumed else { return }
    elapsed += now.seconds(since: resumed) * factor
    self.resumed = nil
  }

  /// The features whose time has come since the last call; nil if there are none.
  mutating func due(at now: Instant) -> FeatureBatch? {
    guard let resumed, let first = rows.first?.time else { return nil }
    let end = first.advanced(by: elapsed + now.seconds(since: resumed) * factor)
    let start = next
    while next < rows.count, rows[next].time <= end { next += 1 }
    guard next > start else { return nil }
    var batch = FeatureBatch()
    for (row, _) in rows[start..<next] {
      if let feature = store[row] { batch.append(feature, columns: store.schema.fields.map(\.name.string)) }
    }
    return batch
  }
}
