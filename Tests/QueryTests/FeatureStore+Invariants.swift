// Invariants of a store between calls; tests check them after random edits.

import Geometry

@testable import FeatureStore
@testable import SpatialIndex

extension FeatureStore {
  /// Violations, one line each; empty if there are none.
  func checkInvariants() -> [String] {
    var faults = index.points.checkInvariants() + index.boxes.checkInvariants()
    func check(_ holds: Bool, _ fault: @autoclosure () -> String) {
      if !holds { faults.append(fault()) }
    }
    check(zip(slots, slots.dropFirst()).allSatisfy { $0.base < $1.base }, "chunks out of order")
    check(slots.allSatisfy { $0.chunk.live > 0 }, "a chunk without features")
    check(slots.allSatisfy { Int($0.base) % FeatureChunk.capacity == 0 }, "a chunk that begins between")
    check(slots.reduce(0) { $0 + $1.chunk.live } == count, "the count is not that of the chunks")
    check(zip(orderedIDs, orderedIDs.dropFirst()).allSatisfy { $0.last < $1.first }, "ordered ids out of order")

    var indexed = 0
    var isAnyAbove = false
    var exceptions = 0
    for slot in slots {
      let chunk = slot.chunk
      check(chunk.ids.count == chunk.count, "ids of \(chunk.ids.count) rows in a chunk of \(chunk.count)")
      check(chunk.live + chunk.removed.count == chunk.count, "removed and live rows are not all")
      check(chunk.geometry.count <= chunk.count, "geometries beyond the rows")
      check(zip(chunk.columnNumbers, chunk.columnNumbers.dropFirst()).allSatisfy { $0 < $1 }, "columns out of order")
      check(chunk.columns.allSatisfy { $0.count <= chunk.count }, "a column beyond the rows")
      check(
        chunk.withReader { $0.isTrue(of: chunk.geometry, chunk.columns) }, "a column does not lie where it was noted")
      check(slot.reader == chunk.reader, "a slot's reader is not its chunk's")
      check(
        chunk.isOrdered == orderedIDs.contains { $0.base == slot.base }, "a chunk's ids are not where they should be")
      for index in 0..<chunk.count where chunk.isLive(index) {
        let row = slot.base + UInt32(index)
        check(self.row(of: chunk.ids[index]) == row, "id \(chunk.ids[index]) leads elsewhere")
        check(chunk.ids[index] < nextID, "id \(chunk.ids[index]) may be minted again")
        if chunk.zIndex(at: index) != 0 { isAnyAbove = true }
        if !chunk.isOrdered { exceptions += 1 }
        guard let geometry = chunk.geometry.indexed(index) else { continue }
        indexed += 1
        check(self.index.rows(in: geometry.envelope).contains(row), "row \(row) is not in the index")
      }
    }
    check(indexed == index.count, "the index has \(index.count) rows, not \(indexed)")
    check(hasZIndexes || !isAnyAbove, "rows with a zIndex that the store does not know of")
    check(exceptions == otherIDs.count, "\(otherIDs.count) exceptional ids, not \(exceptions)")
    return faults
  }
}

extension ChunkReader {
  /// Whether all addresses are current.
  fileprivate func isTrue(of geometry: GeometryColumn, _ all: [ValueColumn]) -> Bool {
    var now = ChunkReader()
    now.note(geometry)
    return (points, zCount, columnCount) == (now.points, now.zCount, all.count) && (x, y, z) == (now.x, now.y, now.z)
      && all.indices.allSatisfy { columns?[$0] == all[$0].reader }
  }
}
