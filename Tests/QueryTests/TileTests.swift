// Geometries cut at a tile, rounded to its grid and written as commands; places of tiles; directories of archives.

import FeatureStore
import Geometry
import Platform
import Testing
import VectorTiles

struct TileTests {
  /// A shape's commands, decoded: positions of each part, and whether it is closed.
  private func parts(_ shape: TileShape) -> [(positions: [SIMD2<Int>], isClosed: Bool)] {
    var parts: [(positions: [SIMD2<Int>], isClosed: Bool)] = []
    var (cursor, index) = (SIMD2(0, 0), 0)
    while index < shape.commands.count {
      let (command, count) = (shape.commands[index] & 7, Int(shape.commands[index] >> 3))
      index += 1
      guard command != 7 else {
        parts[parts.count - 1].isClosed = true
        continue
      }
      for _ in 0..<count {
        let change = (0..<2).map { Int(shape.commands[index + $0]) }.map { ($0 >> 1) ^ -($0 & 1) }
        cursor &+= SIMD2(change[0], change[1])
        index += 2
        if command == 1 { parts.append(([], false)) }
        parts[parts.count - 1].positions.append(cursor)
      }
    }
    return parts
  }

  private func line(_ values: [Double], shift: Double = 0) -> [[SIMD2<Int>]] {
    var shape = TileShape()
    values.withUnsafeBufferPointer { shape.addLine($0, shift: shift) }
    return parts(shape).map(\.positions)
  }

  private func ring(_ values: [Double], isHole: Bool = false) -> [SIMD2<Int>]? {
    var shape = TileShape()
    if isHole { [-9.0, -9, 20, -9, 20, 20, -9, 20, -9, -9].withUnsafeBufferPointer { _ = shape.addRing($0, shift: 0, isHole: false) } }
    let isLeft = values.withUnsafeBufferPointer { shape.addRing($0, shift: 0, isHole: isHole) }
    shape.writeRings { $0 }
    let parts = parts(shape)
    #expect(isLeft == (parts.count > (isHole ? 1 : 0)) && parts.allSatisfy(\.isClosed))
    return isLeft ? parts.last?.positions : nil
  }

  private func area(_ ring: [SIMD2<Int>]) -> Int {
    zip(ring, ring.dropFirst() + ring.prefix(1)).reduce(0) { $0 + $1.0.x * $1.1.y - $1.1.x * $1.0.y }
  }

  @Test func `keys that differ only in how their accents are written are two`() {
    var layer = TileLayer(name: "places")
    let keys = [layer.key("\u{E9}"), layer.key("e\u{301}"), layer.key("\u{E9}")]
    #expect(keys == [0, 1, 0])
  }

  @Test func `a line is cut at the buffer into the parts inside`() {
    #expect(line([-100, 10, 100, 10, 100, 5000, 200, 5000, 200, 20]) == [
      [SIMD2(-64, 10), SIMD2(100, 10), SIMD2(100, 4160)], [SIMD2(200, 4160), SIMD2(200, 20)],
    ])
    #expect(line([-100, -100, -70, 5000]).isEmpty)
    #expect(line([4000, 0, 4100, 0], shift: -4096) == [[SIMD2(-64, 0), SIMD2(4, 0)]])
  }

  @Test func `repeated positions and those on a straight line are left out`() {
    #expect(line([0, 0, 0.2, 0.3, 5, 0, 10, 0, 10, 5]) == [[SIMD2(0, 0), SIMD2(10, 0), SIMD2(10, 5)]])
    #expect(line([0, 0, 10, 0, 5, 0]) == [[SIMD2(0, 0), SIMD2(10, 0), SIMD2(5, 0)]])
    #expect(line([1, 1, 1.2, 1.2]).isEmpty)
    #expect(line([0, 0, .nan, 5, 10, 0, 10, 5]) == [[SIMD2(10, 0), SIMD2(10, 5)]])
  }

  @Test func `outer rings have a positive area and holes a negative one, however they wind`() throws {
    let square = [0.0, 0, 10, 0, 10, 10, 0, 10, 0, 0]
    let reversed = [0.0, 0, 0, 10, 10, 10, 10, 0, 0, 0]
    for values in [square, reversed] {
      #expect(area(try #require(ring(values))) == 200)
      #expect(area(try #require(ring(values, isHole: true))) == -200)
    }
    #expect(ring([0, 0, 0.3, 0, 0.3, 0.3, 0, 0]) == nil)
    #expect(ring([0, 0, 10, 0, 20, 0, 0, 0]) == nil)
  }

  @Test func `a ring is cut at each side of the buffer`() throws {
    let whole = try #require(ring([-1e6, -1e6, 1e6, -1e6, 1e6, 1e6, -1e6, 1e6, -1e6, -1e6]))
    #expect(Set(whole) == [SIMD2(-64, -64), SIMD2(4160, -64), SIMD2(4160, 4160), SIMD2(-64, 4160)])
    #expect(area(whole) == 2 * 4224 * 4224)
    #expect(ring([5000, 0, 6000, 0, 6000, 10, 5000, 0]) == nil)
  }

  @Test func `tiles follow a Hilbert curve behind all tiles of the zooms before`() throws {
    let ids = { (zoom: Int) in
      (0..<1 << zoom).flatMap { y in (0..<1 << zoom).compactMap { TileAddress(zoom: zoom, x: $0, y: y) } }
        .sorted { $0.hilbertID < $1.hilbertID }
    }
    // The first values are those of the format's description.
    #expect([(0, 0), (0, 1), (1, 1), (1, 0)].map { TileAddress(zoom: 1, x: $0.0, y: $0.1)?.hilbertID } == [1, 2, 3, 4])
    var next: UInt64 = 0
    for zoom in 0...5 {
      var last: TileAddress?
      for tile in ids(zoom) {
        #expect(tile.hilbertID == next)
        if let last { #expect(abs(tile.x - last.x) + abs(tile.y - last.y) == 1) }
        (last, next) = (tile, next + 1)
      }
    }
    #expect(TileAddress(zoom: 1, x: 2, y: 0) == nil)
    #expect(TileAddress(zoom: 25, x: 0, y: 0) == nil)
  }

  @Test func `equal values of attributes are written once, whatever their type`() {
    var layer = TileLayer(name: "a")
    var shape = TileShape()
    [1.0, 2].withUnsafeBufferPointer { shape.addPoints($0, shift: 0) }
    let key = layer.key("k")
    for value in 0..<2000 {
      layer.beginFeature()
      layer.tag(key, .integer(Int64(value % 3)))
      layer.tag(key, .double(Double(value)))
      layer.add(id: value, .point, shape)
    }
    #expect(layer.featureCount == 2000)
    // Three integers of 4 bytes and 2000 doubles of 11 bytes follow the features.
    let features = layer.size
    let rest = layer.tile().count - features
    #expect(rest > 3 * 4 + 2000 * 11 && rest < 3 * 4 + 2000 * 11 + 40)
  }

  /// The rings that are written, and the areas that had to be mended.
  private func areas(_ rings: [([Double], Bool)], mended: Geometry? = nil) -> (rings: [[SIMD2<Int>]], mended: [Geometry]) {
    var shape = TileShape()
    for (values, isHole) in rings { values.withUnsafeBufferPointer { _ = shape.addRing($0, shift: 0, isHole: isHole) } }
    var asked: [Geometry] = []
    shape.writeRings { areas in
      asked.append(areas)
      return mended ?? areas
    }
    return (parts(shape).map(\.positions), asked)
  }

  private func square(_ x: Double, _ y: Double, _ side: Double) -> [Double] { [x, y, x + side, y, x + side, y + side, x, y + side, x, y] }

  @Test func `rings that are apart are written as they are`() {
    let comb = (0..<50).flatMap { index -> [Double] in [Double(index) * 4, index % 2 == 0 ? 0 : 100] } + [400, 200, 0, 200, 0, 0]
    let all: [[([Double], Bool)]] = [
      [(square(0, 0, 10), false)], [(square(0, 0, 100), false), (square(10, 10, 10), true), (square(30, 10, 1), true)],
      [(square(0, 0, 100), false), (square(10, 10, 50), true), (square(20, 20, 2), false)], [(comb, false)],
      [(square(-1e6, -1e6, 3e6), false)],
    ]
    for rings in all {
      let (written, mended) = areas(rings)
      #expect(mended.isEmpty && written.count == rings.count)
    }
  }

  @Test func `rings that meet on the grid are mended`() {
    let star = [0.0, 0, 100, 30, 0, 60, 80, -20, 80, 90, 0, 0]
    let spike = [0.0, 0, 100, 0, 100, 100, 50, 100, 50, 150, 50.2, 100, 0, 100, 0, 0]
    let edge = (0..<40).map { Double($0) }
    let upper = edge.flatMap { x -> [Double] in [x, 10.3 + x.truncatingRemainder(dividingBy: 3)] }
    let lower = edge.reversed().flatMap { x -> [Double] in [x, 9.8] }
    let gap: [Double] = upper + lower + [0, 10.3]
    let all: [[([Double], Bool)]] = [
      [(star, false)], [(spike, false)], [(gap, false)], [(square(0, 0, 10), false), (square(10.3, 0, 10), false)],
      [(square(0, 0, 100), false), (square(0.4, 10, 5), true)],
      // A hole that rounding has moved out of its shell, and an area that lies in another.
      [(square(0, 0, 10), false), (square(20, 20, 1), true)], [(square(0, 0, 100), false), (square(20, 20, 1), false)],
      // Cut at the buffer into two parts with an edge along it between them.
      [([-100, 0, 50, 0, 50, 10, -80, 10, -80, 20, 50, 20, 50, 30, -100, 30, -100, 0], false)],
    ]
    for rings in all { #expect(areas(rings).mended.count == 1, "\(rings)") }
    let mended = Geometry.multiPolygon([[Positions(values: square(5, 5, 20)), Positions(values: square(7, 7, 2))]])
    #expect(areas([(star, false)], mended: mended).rings.map(area) == [800, -8])
    #expect(areas([(star, false)], mended: .collection([])).rings.isEmpty)
  }

  @Test func `many segments are compared as each with each would be`() {
    var random = SplitMix(5)
    for _ in 0..<300 {
      // A ring around a place with a step of random size, in a grid so coarse that some meet.
      let (count, size) = (Int(random.next() % 60) + 33, Double(random.next() % 60) + 4)
      let values = (0..<count).flatMap { index -> [Double] in
        let (angle, radius) = (Double(index) / Double(count) * 2 * .pi, size + Double(random.next() % 3))
        return [(100 + radius * cos(angle)).rounded(), (100 + radius * sin(angle)).rounded()]
      }
      let (written, mended) = areas([(values + values.prefix(2), false)])
      guard let ring = written.first else { continue }
      let edges = zip(ring, ring.dropFirst() + ring.prefix(1)).map { ($0, $1) }
      var meets = false
      for (one, a) in edges.enumerated() {
        for (other, b) in edges.enumerated() where other > one {
          let isNext = other == one + 1 || (one == 0 && other == edges.count - 1)
          meets = meets || (isNext ? isFolded(a, b, isLast: other != one + 1) : meet(a, b))
        }
      }
      #expect(mended.isEmpty == !meets, "\(ring)")
    }
  }

  private func side(_ a: SIMD2<Int>, _ b: SIMD2<Int>, _ c: SIMD2<Int>) -> Int { ((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)).signum() }

  private func meet(_ a: (SIMD2<Int>, SIMD2<Int>), _ b: (SIMD2<Int>, SIMD2<Int>)) -> Bool {
    let isApart = (0..<2).contains { axis in
      max(a.0[axis], a.1[axis]) < min(b.0[axis], b.1[axis]) || max(b.0[axis], b.1[axis]) < min(a.0[axis], a.1[axis])
    }
    return !isApart && side(a.0, a.1, b.0) * side(a.0, a.1, b.1) <= 0 && side(b.0, b.1, a.0) * side(b.0, b.1, a.1) <= 0
  }

  private func isFolded(_ a: (SIMD2<Int>, SIMD2<Int>), _ b: (SIMD2<Int>, SIMD2<Int>), isLast: Bool) -> Bool {
    let (first, second) = isLast ? (b, a) : (a, b)
    let (one, other) = (first.1 &- first.0, second.1 &- second.0)
    return one.x * other.y == one.y * other.x && one.x * other.x + one.y * other.y < 0
  }

  private static let about = TileSet(
    name: "a", metadata: "{}", zooms: 8...8, bounds: Envelope(xMin: -180, yMin: -85, xMax: 180, yMax: 85))

  @Test func `what is packed is gzip`() throws {
    let text = Array(String(repeating: "tiles ", count: 1000).utf8)
    let packed = try text.gzip
    #expect(try packed.starts(with: [0x1f, 0x8b, 8]) && [UInt8]().gzip.starts(with: [0x1f, 0x8b, 8]))
    #expect(packed.count < 1000)
    // The size of what is packed is at the end.
    #expect(packed.suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) } == text.count)
  }

  @Test func `a large archive has leaves and its root ends within the first 16 KiB`() throws {
    var archive = TileArchive()
    var random = SplitMix(3)
    var (stored, shared) = (0, 0)
    let addresses = (0..<1 << 16).compactMap { TileAddress(zoom: 8, x: $0 & 255, y: $0 >> 8) }.sorted { $0.hilbertID < $1.hilbertID }
    // Gaps and sizes that do not repeat, as packed directories would be small otherwise.
    for (index, address) in addresses.enumerated() where random.next() % 3 > 0 {
      // Every fourth tile is like another.
      let data = index % 4 == 0 ? [0] : Array("\(index)".utf8) + [UInt8](repeating: 1, count: Int(random.next() % 900))
      if archive.place(address, data).isEmpty { shared += 1 } else { stored += 1 }
    }
    let (head, tail) = try archive.finished(Self.about)
    let numbers = (0..<11).map { head[8 + 8 * $0..<16 + 8 * $0].reversed().reduce(0) { $0 << 8 | Int($1) } }
    #expect(head.starts(with: Array("PMTiles".utf8) + [3]) && head.count <= TileArchive.dataOffset)
    // The root directory ends the head; the leaves, then the metadata, are the tail.
    #expect(numbers[0] + numbers[1] == head.count)
    #expect(numbers[5] > TileArchive.dataOffset && numbers[5] + numbers[3] == tail.count)
    #expect(numbers[8] == archive.tileCount && archive.tileCount == stored + shared && numbers[10] == stored)
  }
}
