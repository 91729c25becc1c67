// Geometries on the screen of a picture: clipped to it, without vertices that nobody would see.

import GeoModel
import Geometry
import Platform
import Pictures

/// Brings runs of positions of the map to a picture, and cuts what is outside.
struct ScreenShapes {
  /// What is left of a picture and a margin around it, so that cut edges are not seen.
  private let low: SIMD2<Double>
  private let high: SIMD2<Double>
  /// Vertices nearer than this to the last one are left out, in device-independent pixels.
  private let tolerance: Double

  /// - Parameters:
  ///   - ratio: pixels to a device-independent pixel.
  init(width: Double, height: Double, margin: Double, ratio: Double) {
    low = SIMD2(-margin, -margin)
    high = SIMD2(width + margin, height + margin)
    tolerance = 0.25 / max(ratio, 0.25)
  }

  func contains(_ place: SIMD2<Double>) -> Bool {
    place.x >= low.x && place.y >= low.y && place.x <= high.x && place.y <= high.y
  }

  /// The parts of lines within the picture.
  func lines(_ lines: [Positions], _ frame: ScreenFrame) -> [[SIMD2<Float>]] {
    var result: [[SIMD2<Float>]] = []
    for line in lines {
      let places = places(line, frame)
      if isInside(places) {
        result.append(places.map { SIMD2(Float($0.x), Float($0.y)) })
      } else {
        cut(places, into: &result)
      }
    }
    return result
  }

  /// The rings of an area within the picture, closed; what a ring encloses of the picture stays.
  func rings(_ rings: [Positions], _ frame: ScreenFrame) -> [[SIMD2<Float>]] {
    self.rings(rings.map { places($0, frame) })
  }

  /// The same of rings that are on the screen already.
  func rings(_ rings: [[SIMD2<Double>]]) -> [[SIMD2<Float>]] {
    rings.compactMap { ring in
      var places = ring
      if !isInside(places) { places = clipped(places) }
      guard places.count > 2 else { return nil }
      return places.map { SIMD2(Float($0.x), Float($0.y)) }
    }
  }

  /// Positions on the screen, without those that nobody would see; empty if one has none.
  private func places(_ run: Positions, _ frame: ScreenFrame) -> [SIMD2<Double>] {
    var places: [SIMD2<Double>] = []
    let (stride, square) = (run.stride, tolerance * tolerance)
    let count = run.values.count
    places.reserveCapacity(min(count / stride, 1 << 14))
    run.values.withUnsafeBufferPointer { values in
      var last = SIMD2(Double.infinity, .infinity)
      for index in Swift.stride(from: 0, to: count, by: stride) {
        let place = frame.offset(x: values[index], y: values[index + 1])
        guard place.x.isFinite, place.y.isFinite else {
          places = []
          return
        }
        let step = place - last
        // The last one stays, so that lines end and rings close where they do.
        if (step * step).sum() >= square || index + stride >= count {
          places.append(place)
          last = place
        }
      }
    }
    return places
  }

  private func isInside(_ places: [SIMD2<Double>]) -> Bool { places.allSatisfy(contains) }

  // MARK: Cutting

  /// Liang and Barsky's algorithm, edge by edge.
  private func cut(_ places: [SIMD2<Double>], into runs: inout [[SIMD2<Float>]]) {
    var run: [SIMD2<Float>] = []
    func end() {
      if run.count > 1 { runs.append(run) }
      run = []
    }
    for index in places.indices.dropFirst() {
      let (start, edge) = (places[index - 1], places[index] - places[index - 1])
      var (enters, leaves) = (0.0, 1.0)
      for axis in 0..<2 {
        let (step, from) = (edge[axis], start[axis])
        guard step != 0 else {
          if from < low[axis] || from > high[axis] { leaves = -1 }
          continue
        }
        let (one, other) = ((low[axis] - from) / step, (high[axis] - from) / step)
        (enters, leaves) = (max(enters, min(one, other)), min(leaves, max(one, other)))
      }
      guard enters <= leaves else {
        end()
        continue
      }
      if run.isEmpty || enters > 0 {
        end()
        let place = start + edge * enters
        run.append(SIMD2(Float(place.x), Float(place.y)))
      }
      let place = leaves < 1 ? start + edge * leaves : places[index]
      run.append(SIMD2(Float(place.x), Float(place.y)))
      if leaves < 1 { end() }
    }
    end()
  }

  /// Sutherland and Hodgman's algorithm: what is cut runs along the edge of the margin.
  private func clipped(_ ring: [SIMD2<Double>]) -> [SIMD2<Double>] {
    var ring = ring
    for (axis, bound, sign) in [(0, low.x, 1.0), (0, high.x, -1.0), (1, low.y, 1.0), (1, high.y, -1.0)] {
      guard var last = ring.last else { return [] }
      var result: [SIMD2<Double>] = []
      result.reserveCapacity(ring.count + 4)
      for place in ring {
        let (from, to) = ((last[axis] - bound) * sign, (place[axis] - bound) * sign)
        if (from < 0) != (to < 0) { result.append(last + (place - last) * (from / (from - to))) }
        if to >= 0 { result.append(place) }
        last = place
      }
      ring = result
    }
    return ring
  }
}
