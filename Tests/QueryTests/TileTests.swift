// Geometries cut at a tile, rounded to its grid and written as commands; places of tiles; directories of archives.

import FeatureStore
import Geometry
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

  @Test func `a large archive has leaves and its root ends within the first 16 KiB`() throws {
    var archive = TileArchive()
    var stored = 0
    let addresses = (0..<1 << 16).compactMap { TileAddress(zoom: 8, x: $0 & 255, y: $0 >> 8) }.sorted { $0.hilbertID < $1.hilbertID }
    for (index, address) in addresses.prefix(30_000).enumerated() {
      // Every fourth tile is like another.
      if archive.place(address, Array("\(index % 4 == 0 ? 0 : index)".utf8)) { stored += 1 }
    }
    let (head, tail) = archive.finished(
      metadata: Array("{}".utf8), zooms: 8...8, bounds: Envelope(xMin: -180, yMin: -85, xMax: 180, yMax: 85))
    #expect(stored == 22_501)
    #expect(head.count <= TileArchive.dataOffset && head.starts(with: Array("PMTiles".utf8) + [3]))
    #expect(tail.count > 30_000)
  }
}
