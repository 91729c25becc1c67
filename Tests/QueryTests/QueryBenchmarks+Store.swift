// Figures of the store on a million graphics: GEOMODEL_BENCH=1 swift test -c release.

import Geometry
import Testing

@testable import FeatureStore

extension QueryBenchmarks {
  @Test func `figures of the store`() throws {
    let before = Bench.resident()
    var store = FeatureStore()
    var random = SplitMix(42)
    var fill = 0.0
    var append = 0.0
    for start in stride(from: 0, to: Bench.count, by: 1000) {
      var batch = FeatureBatch()
      fill += Bench.seconds { batch = FeatureStoreTests.batch(start..<start + 1000, &random) }
      append += Bench.seconds { _ = try? store.append(batch) }
    }
    let memory = Double(Bench.resident() - before) / Double(store.count)
    print("store fill_seconds \(fill) append_seconds \(append) bytes_per_graphic \(memory) count \(store.count)")

    let boxes = Bench.boxes()
    let index = Bench.microseconds(boxes) { store.index.withRows(in: $0) { $0.count } }
    let sorted = Bench.microseconds(boxes) { store.rows(in: [$0]).count }
    var sum = 0
    let full = Bench.microseconds(boxes) { box in
      let rows = store.rows(in: [box])
      store.forEach(in: rows[...]) { row in
        sum &+= row.id
        row.forEachAttribute { _, value in
          switch value {
          case .string(let text): sum &+= text.count
          case .integer(let value): sum &+= Int(truncatingIfNeeded: value)
          default: break
          }
        }
        return true
      }
      return rows.count
    }
    print(
      "store microseconds_per_box index \(index.each) sorted \(sorted.each) attributes \(full.each) hits \(full.hits)")

    var random2 = SplitMix(9)
    var ids: [Int] = []
    for id in 0..<Bench.count where random2.chance(0.01) { ids.append(id) }
    let x = ids.map { _ in random2.unit() * 360 - 180 }
    let y = ids.map { _ in random2.unit() * 180 - 90 }
    let move = Bench.seconds { try? store.move(ids, x: x, y: y) }
    let after = Bench.microseconds(boxes) { store.rows(in: [$0]).count }
    print("store move_seconds \(move) for \(ids.count) microseconds_per_box_after \(after.each)")

    let snapshot = store
    let first = Bench.seconds { try? store.move([500_000], x: [1], y: [1]) }
    let second = Bench.seconds { try? store.move([500_001], x: [1], y: [1]) }
    print("store first_write_microseconds \(first * 1e6) second \(second * 1e6) \(snapshot.count)")

    var edits: [FeatureEdit] = []
    for id in 0..<100_000 {
      var edit = FeatureEdit(id: id * 10)
      edit.attributes = [("number", .integer(Int64(id)))]
      edits.append(edit)
    }
    let numbers = Bench.seconds { try? store.update(edits) }
    let again = Bench.seconds { try? store.update(edits) }
    for index in edits.indices { edits[index].attributes = [("name", .string("another name \(index)"))] }
    let names = Bench.seconds { try? store.update(edits) }
    for index in edits.indices {
      edits[index].attributes = []
      edits[index].geometry = .set(.point(Point(x: Double(index % 180), y: Double(index % 90))))
    }
    let points = Bench.seconds { try? store.update(edits) }
    print("store update_100k_seconds number \(numbers) again \(again) name \(names) geometry \(points)")
    let lookups = Bench.seconds { for id in 0..<1_000_000 { sum &+= Int(store.row(of: id &* 7919 % 1_000_000) ?? 0) } }
    let order = Bench.seconds { sum &+= store.rowsInDrawingOrder().count }
    let remove = Bench.seconds { try? store.remove(edits.map(\.id)) }
    print("store lookup_microseconds \(lookups) order_seconds \(order) remove_100k_seconds \(remove) \(sum)")
    let copy = store
    let drop = Bench.seconds { store = FeatureStore() }
    print("store drop_seconds \(drop) \(copy.count)")
  }
}
