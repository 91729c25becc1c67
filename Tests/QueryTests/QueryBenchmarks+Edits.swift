// Figures of edits on a million graphics: the first after a snapshot, and the cost of reverting edits.

import Geometry
import Testing

@testable import FeatureStore

extension QueryBenchmarks {
  @Test func `figures of edits`() throws {
    var store = try FeatureStoreTests.million(rows: Bench.count)
    var random = SplitMix(4)
    print("edits first_write_microseconds \(try firstWrite(to: &store, &random) * 1e6)")

    let scattered = (0..<store.count).filter { _ in random.chance(0.1) }
    let stretch = Array(300_000..<400_000)
    for (name, ids) in [("", scattered), ("stretch_", stretch)] {
      var (remove, undo, redo): ([Double], [Double], [Double]) = ([], [], [])
      for _ in 0..<5 {
        var undoRecord: StoreUndoRecord?
        remove.append(Bench.seconds { try? store.remove(ids, recording: &undoRecord) })
        undo.append(Bench.seconds { revert(&undoRecord, in: &store) })
        redo.append(Bench.seconds { revert(&undoRecord, in: &store) })
        revert(&undoRecord, in: &store)
      }
      #expect(store.count == Bench.count)
      let figures = [("delete", remove), ("undo_delete", undo), ("redo_delete", redo)]
      for (verb, seconds) in figures { print("edits \(name)\(verb)_seconds \(Self.median(seconds))") }
    }

    let x = scattered.map { _ in random.unit() * 360 - 180 }
    let y = scattered.map { _ in random.unit() * 180 - 90 }
    var undoRecord: StoreUndoRecord?
    let plain = Bench.seconds { try? store.move(scattered, x: y, y: y) }
    let move = Bench.seconds { try? store.move(scattered, x: x, y: y, recording: &undoRecord) }
    let bytes = undoRecord?.byteCount ?? 0
    let undo = Bench.seconds { revert(&undoRecord, in: &store) }
    print("edits move_seconds \(plain)\nedits recorded_move_seconds \(move)\nedits undo_move_seconds \(undo)")
    print("edits bytes_a_move \(Double(bytes) / Double(scattered.count))")
  }

  /// The slowest of the four kinds of edit, each of one graphic with a fresh snapshot held; the median of 21.
  private func firstWrite(to store: inout FeatureStore, _ random: inout SplitMix) throws -> Double {
    var seconds = [[Double]](repeating: [], count: 4)
    var undoRecord: StoreUndoRecord?
    for round in 0..<84 {
      let id = random.below(store.count)
      var edit = FeatureEdit(id: id)
      edit.attributes = [("name", .string("another name of \(id)"))]
      var batch = FeatureBatch()
      batch.begin()
      batch.setPoint(x: random.unit() * 360 - 180, y: random.unit() * 180 - 90)
      let snapshot = store
      seconds[round % 4].append(
        Bench.seconds {
          switch round % 4 {
          case 0: try? store.move([id], x: [1], y: [1], recording: &undoRecord)
          case 1: try? store.update([edit], recording: &undoRecord)
          case 2: _ = try? store.append(batch, recording: &undoRecord)
          default: try? store.remove([id], recording: &undoRecord)
          }
        })
      #expect(snapshot.count == Bench.count)
      if let undoRecord = undoRecord.take() { store.rollBack(undoRecord) }
    }
    return seconds.map(Self.median).max() ?? 0
  }

  private static func median(_ seconds: [Double]) -> Double { seconds.sorted()[seconds.count / 2] }

  private func revert(_ undoRecord: inout StoreUndoRecord?, in store: inout FeatureStore) {
    if let taken = undoRecord.take() { undoRecord = store.revert(taken).0 }
  }
}
