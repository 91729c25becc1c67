// The figures of Tests/Benchmarks/floors/hilbert_rtree.c for the index, on the same data: GEOMODEL_BENCH=1 swift test -c release -Xswiftc -enable-testing --filter QueryBenchmarks.

import Geometry
import Glibc
import Testing

@testable import SpatialIndex

enum Bench {
  static let isOn = getenv("GEOMODEL_BENCH") != nil

  static func seconds(_ body: () -> Void) -> Double {
    let clock = ContinuousClock()
    let duration = clock.measure(body)
    return Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
  }

  /// Resident bytes, after the allocator has released unused memory.
  static func resident() -> Int {
    if let trim = dlsym(nil, "malloc_trim") {  // the module map of Glibc leaves malloc.h out
      _ = unsafeBitCast(trim, to: (@convention(c) (Int) -> CInt).self)(0)
    }
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var text = [CChar](repeating: 0, count: 256)
    guard fgets(&text, 256, file) != nil else { return 0 }
    let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    let fields = String(decoding: bytes, as: UTF8.self).split(separator: " ")
    return fields.count > 1 ? (Int(fields[1]) ?? 0) * 4096 : 0
  }

  static let count = 1_000_000

  static func points() -> (x: [Double], y: [Double]) {
    var random = SplitMix(42)
    var x: [Double] = []
    var y: [Double] = []
    for _ in 0..<count {
      x.append(random.unit() * 360 - 180)
      y.append(random.unit() * 180 - 90)
    }
    return (x, y)
  }

  /// 1,000 boxes of about 100 hits: 3.6 by 1.8 degrees.
  static func boxes() -> [Envelope] {
    var random = SplitMix(7)
    return (0..<1000).map { _ in
      let x = random.unit() * (360 - 3.6) - 180
      let y = random.unit() * (180 - 1.8) - 90
      return Envelope(xMin: x, yMin: y, xMax: x + 3.6, yMax: y + 1.8)
    }
  }

  static func microseconds(_ boxes: [Envelope], _ query: (Envelope) -> Int) -> (each: Double, hits: Int) {
    var times: [Double] = []
    var hits = 0
    for _ in 0..<9 {
      hits = 0
      times.append(seconds { for box in boxes { hits += query(box) } })
    }
    return (times.sorted()[4] / Double(boxes.count) * 1e6, hits)
  }
}

/// Serialized: they would share the processor that they are pinned to.
@Suite(.serialized, .enabled(if: Bench.isOn)) struct QueryBenchmarks {
  @Test func `figures of the index`() {
    let (x, y) = Bench.points()
    let boxes = Bench.boxes()
    let rows = [UInt32](0..<UInt32(Bench.count))
    for batch in [Bench.count, 1000] {
      let before = Bench.resident()
      var index = SpatialIndex()
      let build = Bench.seconds {
        for start in stride(from: 0, to: rows.count, by: batch) {
          index.insert(
            points: Array(rows[start..<start + batch]), x: Array(x[start..<start + batch]),
            y: Array(y[start..<start + batch]))
        }
      }
      let memory = Double(Bench.resident() - before) / Double(rows.count)
      let query = Bench.microseconds(boxes) { index.withRows(in: $0) { $0.count } }
      let counted = Bench.microseconds(boxes) { index.count(in: $0) }
      print("batch \(batch) build_seconds \(build) bytes_per_point \(memory)")
      print(
        "batch \(batch) microseconds_per_box \(query.each) hits \(query.hits) microseconds_per_count \(counted.each)")

      var random = SplitMix(3)
      var moved: [UInt32] = []
      var mx: [Double] = []
      var my: [Double] = []
      for row in rows where random.chance(0.01) {
        moved.append(row)
        mx.append(random.unit() * 360 - 180)
        my.append(random.unit() * 180 - 90)
      }
      let move = Bench.seconds {
        index.remove(points: moved, x: moved.map { x[Int($0)] }, y: moved.map { y[Int($0)] })
        index.insert(points: moved, x: mx, y: my)
      }
      let after = Bench.microseconds(boxes) { index.withRows(in: $0) { $0.count } }
      print(
        "batch \(batch) move_seconds \(move) for \(moved.count) microseconds_per_box_after \(after.each) hits \(after.hits)"
      )
      #expect(index.faults.isEmpty)

      let snapshot = index
      let write = Bench.seconds { index.insert(points: [2_000_000], x: [1], y: [1]) }
      print("batch \(batch) first_write_microseconds \(write * 1e6)")
      #expect(snapshot.count + 1 == index.count)
    }
  }
}
