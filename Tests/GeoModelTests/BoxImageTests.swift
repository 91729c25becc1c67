// Images of boxes in another reference contain every position in the box, even at discontinuities of a projection.

import GeoModel
import Geometry
import Testing

/// References of all kinds; for polar and local ones, the areas from which boxes are taken.
private let sources: [(name: String, domain: Envelope?)] = [
  ("EPSG:4326", nil), ("EPSG:3857", nil), ("EPSG:3832", nil), ("ESRI:54030", nil), ("EPSG:8857", nil),
  ("EPSG:6933", nil),
  ("EPSG:3995", Envelope(xMin: -6e6, yMin: -6e6, xMax: 6e6, yMax: 6e6)),
  ("EPSG:3413", Envelope(xMin: -6e6, yMin: -6e6, xMax: 6e6, yMax: 6e6)),
  ("EPSG:3031", Envelope(xMin: -6e6, yMin: -6e6, xMax: 6e6, yMax: 6e6)),
  ("EPSG:32633", Envelope(xMin: 166_000, yMin: 0, xMax: 834_000, yMax: 9.3e6)),
  ("EPSG:32601", Envelope(xMin: 166_000, yMin: -9e6, xMax: 834_000, yMax: 9e6)),
  ("EPSG:2056", Envelope(xMin: 2.48e6, yMin: 1.07e6, xMax: 2.84e6, yMax: 1.3e6)),
  ("EPSG:3035", Envelope(xMin: 2.5e6, yMin: 1.4e6, xMax: 7.4e6, yMax: 5.5e6)),
]

/// A reference for features, with positions of the whole world that have coordinates in it.
private struct Places {
  let reference: SpatialReference
  let points: [Point]
  let extent: Envelope

  init(in name: String, count: Int, _ random: inout SeededGenerator) {
    reference = SpatialReference(name)
    var points: [Point] = []
    var extent = Envelope.none
    for index in 0..<count {
      // Some of them are at discontinuities.
      let longitude =
        index.isMultiple(of: 50) ? 179.9 * (index.isMultiple(of: 100) ? 1 : -1) : random.between(-180, 180)
      let latitude = index.isMultiple(of: 40) ? random.between(85, 89.99) : random.between(-89, 89)
      guard
        let point = try? proj.transform(Point(x: longitude, y: latitude), from: .wgs84, to: reference),
        abs(point.x) < 1e9, abs(point.y) < 1e9
      else { continue }
      points.append(point)
      extent.include(x: point.x, y: point.y)
    }
    (self.points, self.extent) = (points, extent)
  }
}

extension SeededGenerator {
  fileprivate mutating func between(_ low: Double, _ high: Double) -> Double {
    Double.random(in: min(low, high)...max(low, high), using: &self)
  }

  fileprivate mutating func box(in domain: Envelope) -> Envelope {
    let x = between(domain.xMin, domain.xMax)
    let y = between(domain.yMin, domain.yMax)
    let parts: [Double] = [1, 0.3, 0.05]
    let part = parts.randomElement(using: &self) ?? 1
    return Envelope(
      xMin: x, yMin: y, xMax: x + (between(x, domain.xMax) - x) * part, yMax: y + (between(y, domain.yMax) - y) * part)
  }
}

@Suite struct `Images of boxes in another reference` {
  @Test(arguments: ["EPSG:4326", "EPSG:3857", "EPSG:3832", "EPSG:3413", "EPSG:8857"])
  func `contain every position in the box`(target: String) throws {
    var random = SeededGenerator(seed: 3)
    let places = Places(in: target, count: 2000, &random)
    for source in sources where source.name != target {
      let reference = SpatialReference(source.name)
      let images = places.points.map { try? proj.transform($0, from: places.reference, to: reference) }
      var domain = source.domain ?? Envelope.none
      if source.domain == nil {
        for image in images { if let image, abs(image.y) < 1e9 { domain.include(x: image.x, y: image.y) } }
      }
      var (answered, candidates, hits) = (0, 0, 0)
      for _ in 0..<40 {
        let box = random.box(in: domain)
        let boxes = proj.boxes(holding: box, of: reference, in: places.reference, within: places.extent)
        if boxes != nil { answered += 1 }
        for (point, image) in zip(places.points, images) {
          let isHeld = boxes?.contains { $0.contains(x: point.x, y: point.y) } ?? true
          if boxes != nil, isHeld { candidates += 1 }
          guard let image, box.contains(x: image.x, y: image.y) else { continue }
          if boxes != nil { hits += 1 }
          #expect(isHeld, "\(source.name) \(box) leaves out \(point) of \(target)")
        }
      }
      // Nil, or a box around everything, would be correct but useless.
      #expect(answered > 20 && candidates < 20 * hits + 40 * 100, "\(source.name) to \(target)")
    }
  }
}
