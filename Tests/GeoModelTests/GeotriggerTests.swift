// Geotriggers against a model without an index, without memory and without shortcuts.

import FeatureStore
import Geometry
import Testing

@testable import GeoModel

struct GeotriggerTests {
  private var world = World.manual()
  private let feed = ObjectReference(.locationSources, "feed")

  /// A world with an overlay `zones` and a monitor `w` of the objects of `feed`.
  private mutating func watch(_ members: [MemberChange] = []) throws {
    _ = try world.makeView(in: .wgs84)
    try world.run {
      try $0.createOverlay(id: "zones", on: "v", reference: .wgs84)
      try $0.createSimulatedLocationSource(
        id: "feed", line: .lineString(Positions(values: [0, 0, 1, 0])), reference: .wgs84, velocity: 1, interval: 1,
        startTime: nil, loops: false)
    }
    let settings = [MemberChange("feed", .text("feed")), MemberChange("fences", .text("zones"))] + members
    try world.run { _ = try $0.createGeotrigger(id: "w", owner: nil, settings) }
    try world.run { _ = try $0.startGeotrigger("w") }
    _ = world.takeChanges()
  }

  private func box(_ x: Double, _ y: Double, _ size: Double) -> Geometry {
    .polygon([Positions(values: [x, y, x + size, y, x + size, y + size, x, y + size, x, y])])
  }

  private mutating func add(_ geometries: [Geometry]) throws {
    var batch = FeatureBatch()
    for geometry in geometries {
      batch.begin()
      batch.setGeometry(geometry)
    }
    try world.run { _ = try $0.addGraphics(batch, to: "zones") }
    _ = world.takeChanges()
  }

  private func memberships() throws -> Set<String> {
    var found: Set<String> = []
    try world.forEachMembership(of: "w", object: nil) { object, membership in
      found.insert("\(object.string) in \(membership.fence)")
      return true
    }
    return found
  }

  @Test(arguments: UInt64(0)..<20)
  mutating func `memberships are those of a scan, whatever moves, and events say each change of them once`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let strict = seed % 2 == 1
    try watch(strict ? [MemberChange("relation", .text("enterContainsExitDoesNotContain"))] : [])
    var objects: [String: Point] = [:]
    var (told, last, edits): (Set<String>, Int, Int) = ([], 0, 0)
    for round in 0..<60 {
      switch Int.random(in: 0..<6, using: &random) {
      case 0:
        edits += 1
        try add((0..<3).map { _ in box(grid(&random), grid(&random), Double.random(in: 0.5...3, using: &random).rounded(.up)) })
      case 1:
        let ids = ids().filter { _ in Bool.random(using: &random) }.prefix(2)
        let moves = ids.map { id -> FeatureEdit in
          var edit = FeatureEdit(id: id)
          edit.geometry = .set(box(grid(&random), grid(&random), 2))
          return edit
        }
        let moved = try world.run { try $0.updateGraphics(moves, of: "zones") }
        edits += moved.isEmpty ? 0 : 1
      case 2:
        let ids = ids().filter { _ in Int.random(in: 0..<4, using: &random) == 0 }
        edits += ids.isEmpty ? 0 : 1
        try world.run { _ = try $0.removeGraphics(ids, from: "zones") }
      case 3:
        guard edits > 0 else { continue }
        edits -= 1
        try world.run { _ = try $0.undo() }
      default:
        let fixes = (0..<5).map { _ -> Fix in
          let number = Int.random(in: 0..<8, using: &random)
          let name = "o\(number)"
          let place = Point(x: grid(&random), y: grid(&random))
          objects[name] = place
          return Fix(object: Text(name), number: number, time: world.clock.now.advanced(by: Double(round)), position: place)
        }
        // A command that fails changes nothing of what is known.
        try? world.run { [feed] in
          $0.judge(fixes.map { var fix = $0; fix.position.x += 1; return fix }, of: feed)
          throw ModelError.nothingToUndo
        }
        world.run { [feed] in $0.judge(fixes, of: feed) }
      }
      _ = world.takeChanges()
      let expected = Set(
        ids().flatMap { id -> [String] in
          guard let box = world.overlays["zones"]?.store.feature(id: id)?.envelope else { return [] }
          return objects.filter { holds(box, $0.value, strictly: strict) }.map { "\($0.key) in \(id)" }
        })
      #expect(try memberships() == expected)
      for event in try world.events(of: "w", after: last) {
        let pair = "\(event.object.string) in \(event.fence)"
        #expect(event.number == last + 1)
        last = event.number
        #expect(event.kind == .enter ? told.insert(pair).inserted : told.remove(pair) != nil)
      }
      #expect(told == expected)
      #expect(world.geotriggers["w"]?.live.insideCount == expected.count)
    }
  }

  private func ids() -> [Int] {
    var ids: [Int] = []
    world.overlays["zones"]?.store.forEach {
      ids.append($0.id)
      return true
    }
    return ids
  }

  private func grid(_ random: inout SeededGenerator) -> Double { Double(Int.random(in: 0..<10, using: &random)) }

  private func holds(_ box: Envelope, _ place: Point, strictly: Bool) -> Bool {
    strictly
      ? place.x > box.xMin && place.x < box.xMax && place.y > box.yMin && place.y < box.yMax : box.contains(x: place.x, y: place.y)
  }

  @Test mutating func `edits that concern more than may be judged at once are judged by the next ticks`() throws {
    try watch()
    world.setClock(mode: .real, now: nil, tickRate: nil, realTime: world.clock.now)
    let fixes = (0..<30_000).map {
      Fix(object: Text("o\($0)"), number: $0, time: world.clock.now, position: Point(x: Double($0 % 100) / 100, y: Double($0 / 100) / 1000))
    }
    world.run { [feed] in $0.judge(fixes, of: feed) }
    try add((0..<20).map { box(Double($0) / 20, 0, 1) })
    #expect(world.isMoving)
    var ticks = 0
    while world.isMoving, ticks < 100 {
      world.advance(seconds: 1.0 / 30)
      ticks += 1
      // The host goes on every millisecond between ticks of a real clock.
      for _ in 0..<30 where world.isJudging { world.run { $0.pass(realTime: $0.realTime) } }
    }
    #expect(ticks > 0 && ticks < 100)
    var count = 0
    try world.forEachMembership(of: "w", object: nil) { _, _ in
      count += 1
      return true
    }
    let boxes = (0..<20).map { Envelope(xMin: Double($0) / 20, yMin: 0, xMax: Double($0) / 20 + 1, yMax: 1) }
    let expected = fixes.reduce(0) { sum, fix in sum + boxes.count { holds($0, fix.position, strictly: false) } }
    #expect(count == expected)
  }

  @Test(arguments: [[MemberChange("reportCrossings", .flag(true))], [MemberChange("buffer", .number(400_000))]])
  mutating func `a fix that concerns many fences is judged a part at a time, and what comes after it waits`(
    _ members: [MemberChange]
  ) throws {
    try watch(members)
    let isJump = members[0].name == "reportCrossings"
    // Distances cost less than crossings, so that more of them are judged at once.
    let count = isJump ? 400 : 2000
    try add((0..<count).map { box(Double($0 % 30) / 30, -0.5, 1) })
    let now = world.clock.now
    func fix(_ object: String, _ number: Int, _ seconds: Double, _ x: Double) -> Fix {
      Fix(object: Text(object), number: number, time: now.advanced(by: seconds), position: Point(x: x, y: 0))
    }
    // What a command that fails has begun is forgotten.
    try? world.run { [feed] in
      $0.judge([fix("o", 0, 0, -9), fix("o", 0, 1, 9)], of: feed)
      throw ModelError.nothingToUndo
    }
    #expect(!world.isJudging)
    world.run { [feed] in $0.judge([fix("o", 0, 0, isJump ? -9 : 1), fix("o", 0, 10, 9)], of: feed) }
    world.run { [feed] in $0.judge([fix("p", 1, 5, 20), fix("o", 0, 9, -9), fix("p", 1, 6, 21)], of: feed) }
    #expect(world.isJudging)
    #expect(try world.events(of: "w").count < count)
    var (events, steps) = ([GeotriggerEvent](), 0)
    while world.isJudging, steps < 1000 {
      events += try world.events(of: "w", after: events.last?.number ?? 0)
      world.begin(origin: .animation)
      world.continueAdvance()
      steps += 1
    }
    events += try world.events(of: "w", after: events.last?.number ?? 0)
    #expect(steps > 2 && steps < 1000)
    #expect(events.map(\.number) == Array(1...2 * count))
    #expect(events.map(\.object).allSatisfy { $0 == "o" })
    #expect(Dictionary(grouping: events, by: \.fence).values.allSatisfy { $0.map(\.kind) == [.enter, .exit] })
    if isJump { #expect(zip(events, events.dropFirst()).allSatisfy { $0.time <= $1.time }) }
    #expect(world.geotriggers["w"]?.live.lateCount == 1)
    #expect(world.geotriggers["w"]?.live.insideCount == 0)
    #expect(!world.isMoving)
  }

  /// Under a manual clock without its ticks.
  @Test(arguments: [Clock.Mode.real, .manual])
  mutating func `a start over many entities takes several ticks, and ends when the last was judged`(mode: Clock.Mode) throws {
    try watch()
    world.setClock(mode: mode, now: nil, tickRate: nil, realTime: world.clock.now)
    try add([box(0, 0, 1)])
    var batch = FeatureBatch()
    let column = batch.column(named: "id")
    for entity in 0..<30_000 {
      batch.begin()
      batch.setPoint(x: Double(entity % 200) / 100, y: 0.5)
      batch.set(column: column, .integer(Int64(entity)))
    }
    try world.run {
      _ = try $0.createEntitySource(
        id: "fleet", owner: nil, EntityFields(fields: [Field(name: "id", type: .integer)], track: "id"), reference: .wgs84,
        [])
      try $0.connectEntitySource("fleet")
      try $0.receive(batch, of: "fleet")
      _ = try $0.createGeotrigger(id: "f", owner: nil, [MemberChange("feed", .text("fleet")), MemberChange("fences", .text("zones"))])
    }
    _ = world.takeEndedProcesses()
    let process = try world.run { try $0.startGeotrigger("f") }
    _ = world.takeChanges()
    var ended = world.takeEndedProcesses()
    #expect(ended.isEmpty)
    #expect(world.geotriggers["f"]?.live.status == .starting)
    for _ in 0..<100 where world.isMoving {
      if mode == .real { world.advance(seconds: 1.0 / 30) } else { world.run { $0.continueAdvance() } }
    }
    #expect(world.geotriggers["f"]?.live.status == .started)
    ended += world.takeEndedProcesses()
    #expect(ended.map(\.0) == [process])
    #expect(world.geotriggers["f"]?.live.insideCount == (0..<30_000).count { $0 % 200 <= 100 })
  }

  @Test mutating func `of many events the last thousand are kept, and a client is told how many it missed`() throws {
    try watch()
    try add([box(0, 0, 1)])
    for step in 0..<3000 {
      world.run { [feed] in
        $0.judge(
          [Fix(object: "o", time: $0.clock.now.advanced(by: Double(step)), position: Point(x: step % 2 == 0 ? 0.5 : 5, y: 0.5))], of: feed)
      }
    }
    #expect(try world.events(of: "w").count == 1000)
    #expect(try world.events(of: "w").last?.number == 3000)
    #expect(try world.events(of: "w", after: 2998).map(\.number) == [2999, 3000])
    #expect(world.geotriggers["w"]?.live.eventCount == 3000)
  }

  @Test mutating func `fixes of one batch are judged in the order of their times, older ones are counted`() throws {
    try watch()
    try add([box(0, 0, 1)])
    let now = world.clock.now
    world.run { [feed] in
      $0.judge(
        [(3.0, 5.0), (1, 0.5), (2, 0.25)].map { Fix(object: "o", time: now.advanced(by: $0.0), position: Point(x: $0.1, y: 0.5)) }, of: feed)
      $0.judge([Fix(object: "o", time: now.advanced(by: 2.5), position: Point(x: 0.5, y: 0.5))], of: feed)
    }
    #expect(try world.events(of: "w").map(\.kind) == [.enter, .exit])
    #expect(try world.events(of: "w").map { $0.time.seconds(since: now) } == [1, 3])
    #expect(world.geotriggers["w"]?.live.lateCount == 1)
    world.run { [feed] in $0.forget([0], of: feed) }
    world.run { [feed] in $0.judge([Fix(object: "o", time: now, position: Point(x: 0.5, y: 0.5))], of: feed) }
    #expect(try memberships() == ["o in 0"])
    world.run { [feed] in $0.forget([0], of: feed) }
    #expect(try world.events(of: "w").last?.cause == .objectPurged)
  }
}
