// Meridians and parallels over a map, with their degrees at its edges.

import GeoModel
import Geometry
import Pictures
import Platform

/// Lines of longitude and latitude.
package struct Graticule: Sendable {
  /// In degrees; nil for one that gives some five lines each way.
  package var interval: Double?
  package var color: Color

  package init(interval: Double?, color: Color) { (self.interval, self.color) = (interval, color) }

  /// Intervals that people expect, in degrees: round degrees, minutes and seconds.
  private static let steps: [Double] = [
    30, 20, 10, 5, 2, 1, 1 / 2, 1 / 3, 1 / 6, 1 / 12, 1 / 30, 1 / 60, 1 / 120, 1 / 180, 1 / 360, 1 / 720, 1 / 1800, 1 / 3600,
  ]
  /// Lines each way that are drawn at most.
  private static let limit = 400
  /// Pieces of a line, which may be bent.
  private static let pieces = 64
  /// Copies of the world to either side.
  private static let copies = 64.0

  /// The lines of a view and the degrees at which they are.
  private func lines(_ box: Envelope) -> [(isMeridian: Bool, degrees: Double, line: Positions)] {
    let (west, east) = (box.xMin, box.xMin > box.xMax ? box.xMax + 360 : box.xMax)
    let (south, north) = (max(box.yMin, -90), min(box.yMax, 90))
    let widest = max(east - west, north - south)
    let step = interval ?? Self.steps.first { widest / $0 >= 4 } ?? Self.steps[Self.steps.count - 1]
    guard step > 0, widest > 0, (east - west + north - south) / step <= Double(Self.limit) else { return [] }
    func run(_ from: Double, _ to: Double) -> [Double] {
      (0...Self.pieces).map { from + (to - from) * Double($0) / Double(Self.pieces) }
    }
    func multiples(_ from: Double, _ to: Double) -> [Double] {
      let (first, last) = ((from / step).rounded(.up), (to / step).rounded(.down))
      return first <= last ? stride(from: first, through: last, by: 1).map { $0 * step } : []
    }
    return multiples(west, min(east, west + 360)).map { x in
      (true, x, Positions(run(south, north).map { Point(x: x, y: $0) }))
    } + multiples(south, north).filter { abs($0) < 90 }.map { y in
      (false, y, Positions(run(west, min(east, west + 360)).map { Point(x: $0, y: y) }))
    }
  }

  /// 12°30′E, in the form that the interval needs.
  static func text(_ degrees: Double, isMeridian: Bool) -> String {
    let turned = isMeridian ? (degrees + 540).truncatingRemainder(dividingBy: 360) - 180 : degrees
    let seconds = Int((abs(turned) * 3600).rounded())
    var text = "\(seconds / 3600)°"
    if seconds % 3600 != 0 { text += "\(seconds / 60 % 60)′" }
    if seconds % 60 != 0 { text += "\(seconds % 60)″" }
    let isMiddle = seconds == 0 || isMeridian && seconds == 180 * 3600
    return text + (isMiddle ? "" : isMeridian ? (turned < 0 ? "W" : "E") : turned < 0 ? "S" : "N")
  }

  /// A line on the map: where a part of it has no place there, as beyond the horizon of a globe, the others.
  private static func parts(of line: Positions, _ transform: MapTransform) -> [Positions] {
    if case .lineString(let drawn)? = try? transform.drawn(.lineString(line), checking: {}) { return [drawn] }
    var parts: [[Double]] = [[]]
    for (start, end) in zip(line.points, line.points.dropFirst()) {
      for step in 0..<8 {
        let part = Double(step) / 8
        var place = [start.x + (end.x - start.x) * part, start.y + (end.y - start.y) * part]
        if (try? transform.transform(&place)) != nil, place.allSatisfy(\.isFinite) {
          parts[parts.count - 1] += place
        } else if !parts[parts.count - 1].isEmpty {
          parts.append([])
        }
      }
    }
    return parts.filter { $0.count >= 4 }.map { Positions(values: $0) }
  }

  /// - Parameters:
  ///   - panels: boxes that cover the map, in which no text would be read.
  ///   - ground: what a scene's camera sees; nil for a flat picture.
  func draw(
    on view: View, _ transformer: any CoordinateTransformer, ratio: Double, over ground: SceneGround?, besides panels: [ScreenBox],
    _ painter: inout Painter
  ) throws {
    if let ground {
      painter.words.set(Stroke(color: color.word, width: 0.75))
      for each in ground.box.map({ self.lines($0) }) ?? [] {
        let line = Geometry.lineString(each.line)
        painter.words.lines(try ground.shape(of: line, heightsOf: line, ratio: ratio, checking: {}).lines)
      }
      return
    }
    let area = try view.visibleArea(in: .wgs84, transformer)
    let transform = try MapTransform(from: .wgs84, to: view.reference.reference, transformer)
    let shapes = ScreenShapes(width: view.screen.width, height: view.screen.height, margin: 4, ratio: ratio)
    let size = SIMD2(Float(view.screen.width), Float(view.screen.height))
    let lines = lines(area.box).flatMap { each in Self.parts(of: each.line, transform).map { (isMeridian: each.isMeridian, degrees: each.degrees, line: $0) } }
    var texts: [(text: String, place: SIMD2<Float>, anchor: Anchor)] = []
    painter.words.set(Stroke(color: color.word, width: 0.75))
    for each in lines {
      let drawn = Geometry.lineString(each.line)
      // A map that wraps shows a line in each copy of the world.
      let turns = view.wrap.map { wrap -> [Double] in
        guard let box = drawn.envelope, let seen = Geometry.multiPoint(view.visibleArea).envelope else { return [0] }
        let first = max(((seen.xMin - box.xMax) / wrap.width).rounded(.up), -Self.copies)
        let last = min(((seen.xMax - box.xMin) / wrap.width).rounded(.down), Self.copies)
        return first <= last ? stride(from: first, through: last, by: 1).map { $0 * wrap.width } : []
      } ?? [0]
      let frame = view.frame(x: 0, y: 0)
      for turn in turns {
        let runs = shapes.lines([each.line], frame.moved(east: turn))
        painter.words.lines(runs)
        for run in runs {
          let ends = [run[0], run[run.count - 1]]
          if each.isMeridian, let end = ends.first(where: { $0.y >= size.y - 1 && $0.x > 0 && $0.x < size.x }) {
            texts.append((Self.text(each.degrees, isMeridian: true), SIMD2(end.x + 3, size.y - 3), Anchor(.left, .bottom)))
          } else if !each.isMeridian, let end = ends.first(where: { $0.x <= 1 && $0.y > 12 && $0.y < size.y }) {
            texts.append((Self.text(each.degrees, isMeridian: false), SIMD2(3, end.y - 2), Anchor(.left, .bottom)))
          }
        }
      }
    }
    painter.words.set(Font(size: 10, color: color.word, haloColor: 0xffff_ffff, haloWidth: 1.5))
    for each in texts {
      // Digits are about half as wide as high.
      let box = ScreenBox(each.place - SIMD2(0, 12), each.place + SIMD2(6 * Float(each.text.unicodeScalars.count), 0))
      if !panels.contains(where: box.meets) { painter.words.text(each.text, at: each.place, each.anchor) }
    }
  }
}
