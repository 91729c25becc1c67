// The figures of Tests/Benchmarks/floors/nearest.cpp, on the same points and places: GEOMODEL_BENCH=1 swift test -c release -Xswiftc -enable-testing --filter NearestBenchmarks.

import FeatureStore
import Geometry
import Glibc
import Projection
import Proximity
import Testing

@Suite(.serialized, .enabled(if: getenv("GEOMODEL_BENCH") != nil)) struct NearestBenchmarks {
  private func seconds(_ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    let duration = ContinuousClock.now - start
    return Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
  }

  private func store() throws -> FeatureStore {
    var random = SystemSeed(42)
    var store = FeatureStore()
    // At once, as Boost's tree.
    var batch = FeatureBatch()
    for _ in 0..<1_000_000 {
      let x = random.unit() * 360 - 180
      batch.begin(id: nil)
      batch.setPoint(x: x, y: random.unit() * 180 - 90)
    }
    try store.append(batch)
    return store
  }

  @Test func `figures of nearest`() throws {
    let query = NearestQuery(try store(), rows: nil, count: 10)
    var random = SystemSeed(9)
    let places = (0..<1000).map { _ in
      let x = random.unit() * 360 - 180
      return Point(x: x, y: random.unit() * 180 - 90)
    }
    let geodesy = PROJTransformer()
    var best = (planar: Double.infinity, geodetic: Double.infinity)
    var sum = 0.0
    for _ in 0..<9 {
      sum = 0
      best.planar = min(
        best.planar,
        try seconds {
          for place in places {
            for each in try query.planar(to: SIMD2(place.x, place.y)) { sum += each.distance }
          }
        })
    }
    for _ in 0..<9 {
      best.geodetic = min(
        best.geodetic, try seconds { for place in places { _ = try query.geodetic(to: place, geodesy) } })
    }
    print("nearest planar_microseconds \(best.planar * 1000)")
    print("nearest geodetic_microseconds \(best.geodetic * 1000)")
    let text = (sum * 1e6).rounded() / 1e6
    print("nearest nearest_checksum \(text)")
  }
}
