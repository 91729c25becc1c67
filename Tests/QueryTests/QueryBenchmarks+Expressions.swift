// Figures of filters on a million features: GEOMODEL_BENCH=1 swift test -c release -Xswiftc -enable-testing --filter QueryBenchmarks.

import Geometry
import Testing

@testable import Expressions
@testable import FeatureStore
@testable import Filtering

extension QueryBenchmarks {
  @Test func `figures of expressions`() throws {
    var store = FeatureStore()
    var random = SplitMix(42)
    for start in stride(from: 0, to: Bench.count, by: 10_000) {
      var batch = FeatureBatch()
      for row in start..<start + 10_000 {
        batch.begin()
        batch.set(column: batch.column(named: "kind"), .string("kind \(random.below(20))"))
        batch.set(column: batch.column(named: "code"), integer: Int64(random.below(20)))
        batch.set(column: batch.column(named: "size"), double: random.unit() * 100)
        batch.set(column: batch.column(named: "name"), .string("a feature of number \(row)"))
      }
      try store.append(batch)
    }
    let all = store.rowsInDrawingOrder()
    for text in [
      "code = 7 AND size < 50", "kind = 'kind 7' AND size < 50", "size < 50", "code = 7",
      "code IN (1, 5, 7) AND size BETWEEN 20 AND 30",
      "kind LIKE '%7' OR size > 99", "name = 'a feature of number 77777'", "name LIKE '%77777%'",
      "NOT (code = 7 OR size < 50)", "code * 2 > size",
      "upper(kind) = 'KIND 7'",
    ] {
      let expression = try Expression(text).compiled(for: store.schema)
      var found = 0
      func best(_ body: () -> Void) -> Double { (0..<7).map { _ in Bench.seconds(body) }.min() ?? 0 }
      let whole = best { found = store.rows(where: expression).count }
      let given = best { found = expression.filter(all, of: store).count }
      var hits = 0
      let rows = Bench.seconds {
        store.forEach {
          if expression.isTrue(for: $0) { hits += 1 }
          return true
        }
      }
      print(
        "expression milliseconds \(whole * 1e3) given_rows \(given * 1e3) row_by_row \(rows * 1e3) found \(found) \(hits == found) \(text)"
      )
    }
    let parse = Bench.seconds {
      for _ in 0..<10_000 {
        _ = try? Expression("kind = 'kind 7' AND size < 50 AND code IN (1, 2, 3)").compiled(for: store.schema)
      }
    }
    print("expression parse_and_compile_microseconds \(parse * 100)")
  }
}
