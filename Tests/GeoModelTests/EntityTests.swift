// What entity sources keep of random feeds equals a plain list that is sorted and cut.

import GeoModel
import Geometry
import TestSupport
import Testing

@testable import FeatureStore

struct EntityTests {
  private struct Kept {
    let id: Int
    let track: Int64
    let time: Int64
    let x: Double
  }

  private var world = World.manual()
  private let source: EntitySourceID = "s"

  private mutating func create(_ limits: [MemberChange]) throws {
    let fields = [Field(name: "track", type: .integer), Field(name: "ms", type: .integer)]
    try world.run {
      _ = try $0.createEntitySource(
        id: "s", owner: nil, EntityFields(fields: fields, track: "track", time: "ms"), reference: .wgs84, limits)
    }
    try world.run { try $0.connectEntitySource("s") }
  }

  private mutating func receive(_ rows: [(track: Int64, time: Int64, x: Double)]) throws -> EntityReceipt {
    var batch = FeatureBatch()
    for row in rows {
      batch.begin()
      batch.setPoint(x: row.x, y: 0)
      batch.set(column: batch.column(named: "track"), integer: row.track)
      batch.set(column: batch.column(named: "ms"), integer: row.time)
    }
    world.begin(origin: .client(nil))
    return try world.receive(batch, of: source)
  }

  /// The last observation of each track, and all observations in the order of receipt.
  private func expected(_ kept: [Kept]) -> (heads: [Int64: Double], ids: [Int]) {
    var heads: [Int64: Kept] = [:]
    for each in kept where heads[each.track].map({ $0.time <= each.time }) ?? true { heads[each.track] = each }
    return (heads.mapValues(\.x), kept.map(\.id))
  }

  private func contents() throws -> EntityContents { try world.entitySources.require(source).contents }

  private func found() throws -> (heads: [Int64: Double], ids: [Int]) {
    let contents = try contents()
    var heads: [Int64: Double] = [:]
    contents.entities.forEach { row in
      if case .integer(let track) = row.value(0) { heads[track] = row.position?.x }
      return true
    }
    return (heads, contents.observations.first(.max).map(\.id))
  }

  @Test(arguments: UInt64(0)..<20)
  mutating func `a source keeps what its limits allow, and the latest of each track is the entity`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let (total, each) = (Int.random(in: 5...60, using: &random), Int.random(in: 1...6, using: &random))
    try create([MemberChange("maxObservations", .integer(total)), MemberChange("maxObservationsPerTrack", .integer(each))])
    var (kept, next) = ([Kept](), 0)
    for _ in 0..<40 {
      let rows = (0..<Int.random(in: 0...12, using: &random)).map { _ in
        (
          track: Int64.random(in: 0..<12, using: &random), time: Int64.random(in: 0..<1000, using: &random),
          x: Double.random(in: -180...180, using: &random)
        )
      }
      let receipt = try receive(rows)
      for row in rows {
        kept.append(Kept(id: next, track: row.track, time: row.time, x: row.x))
        next += 1
        // The earliest of its track goes; of equal times the one received first.
        let own = kept.filter { $0.track == row.track }
        if own.count > each, let first = own.min(by: { ($0.time, $0.id) < ($1.time, $1.id) }) {
          kept.removeAll { $0.id == first.id }
        }
      }
      kept.removeFirst(max(0, kept.count - total))
      let (wanted, actual) = (expected(kept), try found())
      #expect(actual.heads == wanted.heads)
      #expect(actual.ids == wanted.ids)
      #expect(receipt.fixes.count == rows.count)
      let contents = try contents()
      #expect(contents.entities.extent?.xMin == wanted.heads.values.min())
      let half = Envelope(xMin: 0, yMin: -1, xMax: 180, yMax: 1)
      #expect(contents.entities.count(in: [half]) == wanted.heads.values.count { $0 >= 0 })
      #expect(contents.observations.count(in: [half]) == kept.count { $0.x >= 0 })
    }
  }

  @Test mutating func `tracks that seldom report do not keep the memory of what passed`() throws {
    try create([MemberChange("maxObservationsPerTrack", .integer(1))])
    for slow in 0..<Int64(40) {
      _ = try receive([(track: 1000 + slow, time: 0, x: Double(slow))])
      _ = try receive((0..<1100).map { (track: 0, time: Int64($0), x: 1) })
    }
    let contents = try contents()
    #expect(contents.observations.count == 41)
    #expect(contents.observations.slots.count < 20)
    #expect(contents.entities.count == 41)
    #expect(try found().heads[1007] == 7)
    #expect(contents.observations.nextMintedID == 40 * 1101)
  }
}
