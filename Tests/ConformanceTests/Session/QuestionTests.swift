// Questions about many features: they look up often enough to be stopped soon, and say how far they are.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import Query
import Synchronization
import Testing

@testable import GeoServices

struct QuestionTests {
  private static let count = 70_000

  private typealias Ask = @Sendable (inout World) throws -> @Sendable (Worker) throws -> Void

  /// A world with an overlay `o` of points in Web Mercator.
  private static func world() throws -> World {
    var world = World(transformer: proj, geodesy: proj, now: Instant(nanoseconds: 0))
    _ = try world.createMap(id: MapID("m"), title: nil, reference: .webMercator)
    _ = try world.createView(id: ViewID("v"), over: .map(MapID("m")), screen: Screen(), viewpoint: nil)
    _ = try world.createOverlay(id: OverlayID("o"), on: ViewID("v"), reference: .webMercator)
    var batch = FeatureBatch()
    for place in 0..<count {
      let number = Double((place &* 7919) % count)
      batch.begin(id: place)
      batch.setPoint(x: number, y: number)
      batch.set(column: batch.column(named: "n"), .double(number))
    }
    _ = try world.addGraphics(batch, to: OverlayID("o"))
    return world
  }

  /// What can be asked for long, and how many features are gone through for it.
  private static let questions: [(ask: Ask, steps: Int)] = [
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
          .init(overlay: "o", whereClause: "n >= 0", orderBy: order, limit: count), in: &world)
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

  /// What a worker says on its way; told to stop after so many words.
  private static func told(_ work: (Worker) throws -> Void, stopAfter last: Int = .max) throws -> [Double] {
    let told = Mutex<[Double]>([])
    let worker = Mutex<Worker?>(nil)
    let made = Worker(files: FilePaths(root: "/", allowedDirectories: []), resultBytes: 1 << 26) { fraction in
      let count = told.withLock { told in
        told.append(fraction)
        return told.count
      }
      if count == last { worker.withLock { $0?.cancel() } }
    }
    worker.withLock { $0 = made }
    do {
      try work(made)
      #expect(last == .max)
    } catch is CancellationError {
      #expect(last != .max)
    }
    worker.withLock { $0 = nil }
    return told.withLock { $0 }
  }

  @Test(arguments: questions.indices)
  func `a long question says how far it is over all its parts, and stops at the next look`(number: Int) throws {
    var world = try Self.world()
    let question = Self.questions[number]
    let work = try question.ask(&world)
    let told = try Self.told(work)
    #expect(told == told.sorted())
    #expect(told.allSatisfy { (0...1).contains($0) })
    // A look in each 2^15 features that one step goes through.
    #expect(told.count >= question.steps >> 15)
    // No word for a long way is none for a long time: no part is most of these.
    #expect(zip([0] + told, told + [1]).allSatisfy { $1 - $0 <= 0.6 })
    for last in [1, told.count / 2, told.count - 1] {
      #expect(try Self.told(work, stopAfter: last).count == last)
    }
  }

  @Test func `writing one geometry of very many positions ends when nobody wants it`() throws {
    let line = Positions(values: (0..<60_000).map(Double.init))
    for geometry: Geometry in [.lineString(line), .polygon([line]), .collection([.multiPoint(line)])] {
      var looks = 0
      var writer = JSONWriter(capacity: 16)
      #expect(throws: CancellationError.self) {
        try GeometryWriter.write(geometry, measures: true, to: &writer) {
          looks += 1
          if looks == 3 { throw CancellationError() }
        }
      }
      #expect(looks == 3)
      var whole = JSONWriter(capacity: 16)
      GeometryWriter.write(geometry, to: &whole)
      #expect(writer.count < whole.count / 2)
    }
  }

  @Test func `one geometry of very many positions is transformed by pieces`() throws {
    let count = 50_000
    let line = Geometry.lineString(Positions(values: (0..<2 * count).map { Double($0 % 80) }))
    var looks = 0
    let moved = try proj.transform(line, from: .wgs84, to: .webMercator) { looks += 1 }
    #expect(looks >= count / 4096)
    #expect(moved == (try proj.transform(line, from: .wgs84, to: .webMercator)))
    var lost = Positions(values: (0..<2 * count).map { Double($0 % 80) })
    lost.append(Point(x: 0, y: 91))
    #expect(throws: TransformError.outsideDomain(index: count, from: "EPSG:4326", to: "EPSG:3857")) {
      try proj.transform(.lineString(lost), from: .wgs84, to: .webMercator) {}
    }
  }
}
