// The report of an export: the number of features, and the information that the file lacks.

import GeoProtocol
import Geometry

struct ExportReport {
  typealias Difference = FeatureProtocol.ExportDifference

  /// Maximum number of failed features that are listed.
  private static let failureLimit = 1000

  /// Number of features written.
  var count = 0
  private(set) var failed: [FeatureProtocol.FailedFeature] = []
  private(set) var failedCount = 0
  private(set) var differences: [Difference] = []
  /// The name that GDAL has given the layer.
  var layerName: String?
  /// Warnings from GDAL.
  var warnings: [String] = []
  /// The names of the geometry's columns in a CSV file.
  var geometryFields: [String]?

  mutating func add(_ failures: [FeatureOutput.Failure]) {
    failedCount += failures.count
    failed += failures.prefix(max(0, Self.failureLimit - failed.count)).map(\.feature)
  }

  mutating func add(_ difference: Difference) { differences.append(difference) }

  /// Counts a feature that differs in the file.
  ///
  /// - Parameter field: the field that differs; nil for the geometry.
  mutating func note(_ kind: FeatureProtocol.ExportDifferenceKind, field: String? = nil) {
    if let index = differences.firstIndex(where: { $0.kind == kind && Text($0.field) == Text(field) }) {
      differences[index].count = (differences[index].count ?? 0) + 1
    } else {
      add(Difference(kind: kind, field: field, count: 1))
    }
  }
}
