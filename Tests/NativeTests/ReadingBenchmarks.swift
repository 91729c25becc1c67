// Figures of cancels inside a parse: GEOMODEL_BENCH=1 swift test -c release -Xswiftc -enable-testing --filter ReadingBenchmarks.

import Foundation
import Testing

@Suite(.serialized, .enabled(if: ProcessInfo.processInfo.environment["GEOMODEL_BENCH"] != nil)) struct ReadingBenchmarks
{
  @Test func `figures of reading`() throws {
    for (name, member) in [("native", ""), ("gdal", #""Features":0,"#)] {
      let slowest = try (0..<5).map { _ in try cancelledParse(member) }.max() ?? .zero
      print("reading cancel_\(name)_milliseconds \(slowest / .milliseconds(1))")
    }
  }
}
