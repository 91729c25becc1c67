// Queries of many features: they check for cancellation often enough to stop soon, and report progress.

import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import JSON
import Synchronization
import Testing

@testable import Handlers
@testable import WireCoding

struct QueryCheckpointTests {
  private static let count = 70_000

  private typealias Plan = @Sendable (inout World) throws -> @Sendable (Worker) throws -> Void

  /// A world with an overlay `o` of points in Web Mercator.
  private static func world() throws -> World {
    var world = World(transformer: proj, geodesy: proj, now: Instant(nanoseconds: 0))
    _ = try world.createMap(id: MapID("m"), title: nil, reference: .webMercator)
    _ = try world.createView(id: ViewID("v"), over: .map(MapID("m")), screen: Screen(), viewpoint: nil)
    _ = try world.createOverlay(id: OverlayID("o"), on: ViewID("v"), reference: .webMercator)
    var batch = FeatureBatch()
    for index in 0..<count {
      let number = Double((index &* 7919) % count)
      batch.begin(id: index)
      batch.setPoint(x: number, y: number)
      batch.set(column: batch.column(named: "n"), .double(number))
    }
    _ = try world.addGraphics(batch, to: OverlayID("o"))
    return world
  }

  /// Long queries, and the number of steps over features that each takes.
  private static let queries: [(plan: Plan, steps: Int)] = [
    (
      { world in
        let plan = try FeatureService.queryIds(.init(overlay: "o", limit: count), in: &world)
        return { _ = try plan.work($0) }
      }, 2 * count
    ),
    (
      { world in
        let order = [FeatureProtocol.OrderBy(field: "n")]
        let plan = try FeatureService.queryIds(
          .init(overlay: "o", whereClause: .written { $0.value("n >= 0") }, orderBy: order, limit: count), in: &world)
        return { _ = try plan.work($0) }
      }, 4 * count
    ),
    (
      { world in
        let plan = try FeatureService.queryIds(.init(overlay: "o", ids: Array(0..<count), limit: count), in: &world)
        return { _ = try plan.work($0) }
      }, 2 * count
    ),
    (
      { world in
        let box = SessionProtocol.Envelope(xMin: 0, yMin: 0, xMax: 0.8, yMax: 80)
        let plan = try FeatureService.queryCount(
          .init(overlay: "o", envelope: box, spatialReference: "EPSG:4326"), in: &world)
        return { _ = try plan.work($0) }
      }, 2 * count
    ),
    (
      { world in
        let plan = try FeatureService.queryExtent(.init(overlay: "o", outSpatialReference: "EPSG:4326"), in: &world)
        return { _ = try plan.work($0) }
      }, 2 * count
    ),
    (
      { world in
        let plan = try FeatureService.query(
          .init(overlay: "o", limit: count, outSpatialReference: "EPSG:4326"), in: &world)
        return { _ = try plan.work($0) }
      }, 3 * count
    ),
  ]

  /// The progress that a worker reports, cancelled after `last` reports.
  private static func progress(of work: (Worker) throws -> Void, stopAfter last: Int = .max) throws -> [Double] {
    let reports = Mutex<[Double]>([])
    let worker = Mutex<Worker?>(nil)
    let made = Worker(
      files: FilePaths(root: "/", allowedDirectories: []), readers: testReaders, resultBytes: 1 << 26,
      documentLimits: DocumentLimits()
    ) { fraction in
      let count = reports.withLock { reports in
        reports.append(fraction)
        return reports.count
      }
      if count == last { worker.withLock { _ = $0?.work.cancel() } }
    }
    worker.withLock { $0 = made }
    do {
      try work(made)
      #expect(last == .max)
    } catch is CancellationError {
      #expect(last != .max)
    }
    worker.withLock { $0 = nil }
    return reports.withLock { $0 }
  }

  @Test(arguments: queries.indices)
  func `a long query reports progress over all its parts, and stops at the next checkpoint`(number: Int) throws {
    var world = try Self.world()
    let query = Self.queries[number]
    let work = try query.plan(&world)
    let reports = try Self.progress(of: work)
    #expect(reports == reports.sorted())
    #expect(reports.allSatisfy { (0...1).contains($0) })
    // At least one checkpoint for each 2^15 features of a step.
    #expect(reports.count >= query.steps >> 15)
    // No gap between reports is most of the work.
    #expect(zip([0] + reports, reports + [1]).allSatisfy { $1 - $0 <= 0.6 })
    for last in [1, reports.count / 2, reports.count - 1] {
      #expect(try Self.progress(of: work, stopAfter: last).count == last)
    }
  }

  /// The answered ids, whether there are more, and the number of checkpoints.
  private static func ids(
    where clause: String?, isSelected: Bool?, offset: Int, limit: Int, in world: inout World
  ) throws -> (ids: [Int], exceeded: Bool, checkpoints: Int) {
    let plan = try FeatureService.queryIds(
      .init(
        overlay: "o", whereClause: clause.map { clause in .written { $0.value(clause) } }, isSelected: isSelected,
        offset: offset, limit: limit), in: &world)
    var answer: FeatureProtocol.QueryIds.Result?
    let reports = try progress { worker in
      if case .answer(let made) = try plan.work(worker) { answer = made }
    }
    let result = try #require(answer)
    return (result.ids, result.exceededLimit, reports.count)
  }

  @Test(
    arguments: [
      (nil, nil), ("n >= 0", nil), ("n % 3 = 1 AND n IS NOT NULL AND n + 1 > 0 AND n * 2 > 1 AND n - 1 < 80000", nil),
      (nil, false),
    ] as [(String?, Bool?)])
  func `the search for a first page ends with it`(clause: String?, isSelected: Bool?) throws {
    var world = try Self.world()
    let all = try Self.ids(where: clause, isSelected: isSelected, offset: 0, limit: Self.count, in: &world)
    #expect(!all.exceeded && all.ids.count > 20_000)
    for offset in [0, 7, 3000] {
      let page = try Self.ids(where: clause, isSelected: isSelected, offset: offset, limit: 10, in: &world)
      #expect(page.ids == Array(all.ids[offset..<offset + 10]) && page.exceeded)
      #expect(page.checkpoints * 2 <= all.checkpoints)
    }
    let last = try Self.ids(where: clause, isSelected: isSelected, offset: all.ids.count - 10, limit: 10, in: &world)
    #expect(last.ids == all.ids.suffix(10) && !last.exceeded)
    // The topmost feature moved to the bottom: all have to be found before the first is known.
    var edit = FeatureEdit(id: Self.count - 1)
    edit.zIndex = -1
    _ = try world.updateGraphics([edit], of: OverlayID("o"))
    let bottom = try Self.ids(where: nil, isSelected: isSelected, offset: 0, limit: 2, in: &world)
    #expect(bottom.ids == [Self.count - 1, 0] && bottom.exceeded)
  }

  @Test func `writing one geometry of very many positions ends when it is cancelled`() throws {
    let line = Positions(values: (0..<60_000).map(Double.init))
    for geometry: Geometry in [.lineString(line), .polygon([line]), .collection([.multiPoint(line)])] {
      var checkpoints = 0
      var writer = JSONWriter(capacity: 16)
      #expect(throws: CancellationError.self) {
        try GeometryWriter.write(geometry, measures: true, to: &writer) {
          checkpoints += 1
          if checkpoints == 3 { throw CancellationError() }
        }
      }
      #expect(checkpoints == 3)
      var whole = JSONWriter(capacity: 16)
      GeometryWriter.write(geometry, to: &whole)
      #expect(writer.count < whole.count / 2)
    }
  }

  @Test func `one geometry of very many positions is transformed in pieces`() throws {
    let count = 50_000
    let line = Geometry.lineString(Positions(values: (0..<2 * count).map { Double($0 % 80) }))
    var checkpoints = 0
    let moved = try proj.transform(line, from: .wgs84, to: .webMercator) { checkpoints += 1 }
    #expect(checkpoints >= count / 4096)
    #expect(moved == (try proj.transform(line, from: .wgs84, to: .webMercator)))
    var outside = Positions(values: (0..<2 * count).map { Double($0 % 80) })
    outside.append(Point(x: 0, y: 91))
    #expect(throws: TransformError.outsideDomain(index: count, from: "EPSG:4326", to: "EPSG:3857", latitude: 91)) {
      try proj.transform(.lineString(outside), from: .wgs84, to: .webMercator) {}
    }
  }
}
