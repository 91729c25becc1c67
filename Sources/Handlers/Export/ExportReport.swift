// What an export finds out on the way: how many features it wrote, and what the file does not hold of them.

import GeoProtocol
import Geometry

struct ExportReport {
  typealias Difference = FeatureProtocol.ExportDifference

  /// So many features that have no coordinates are named.
  private static let failureLimit = 1000

  /// The features written.
  var count = 0
  private(set) var failed: [FeatureProtocol.FailedFeature] = []
  private(set) var failedCount = 0
  private(set) var differences: [Difference] = []
  /// As GDAL has it.
  var layerName: String?
  /// GDAL's.
  var warnings: [String] = []
  /// The columns of a CSV file's geometry.
  var geometryFields: [String]?

  mutating func add(_ failures: [FeatureOutput.Failure]) {
    failedCount += failures.count
    failed += failures.prefix(max(0, Self.failureLimit - failed.count)).map(\.feature)
  }

  mutating func add(_ difference: Difference) { differences.append(difference) }

  /// Counts a feature that differs.
  ///
  /// - Parameter field: in which field; nil for the geometry.
  mutating func note(_ kind: FeatureProtocol.ExportDifferenceKind, field: String? = nil) {
    if let index = differences.firstIndex(where: { $0.kind == kind && Text($0.field) == Text(field) }) {
      differences[index].count = (differences[index].count ?? 0) + 1
    } else {
      add(Difference(kind: kind, field: field, count: 1))
    }
  }
}
