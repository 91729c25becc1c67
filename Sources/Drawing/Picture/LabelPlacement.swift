// Places labels: one after the other, each where it meets none that was placed before, or not at all.

import GeoModel
import Geometry
import Pictures
import Platform

/// A label where it is drawn.
package struct PlacedLabel: Sendable {
  /// The index of its layer in ``ViewPicture/objects``.
  package let object: Int
  /// The id of its feature.
  package let id: Int
  /// The index of its definition.
  package let definition: Int
  /// With the label's text.
  package let symbol: TextSymbol
  package let center: SIMD2<Float>
  /// Clockwise, in degrees.
  package let angle: Float
  /// Without its halo.
  package let size: SIMD2<Float>
  /// The line along which it is bent; nil if it is straight.
  package let line: [SIMD2<Float>]?

  /// The distance from a point to the text and its halo, in device-independent pixels.
  package func distance(from point: SIMD2<Double>) -> Double {
    let place = SIMD2(Float(point.x), Float(point.y))
    var distance = Float.infinity
    if let line, let part = line.part(at: line.length / 2, size.x) {
      for (start, end) in zip(part, part.dropFirst()) {
        let step = end - start
        guard step.norm > 0 else { continue }
        let box = ScreenBox(center: (start + end) / 2, size: SIMD2(step.norm, size.y), axis: step / step.norm)
        distance = min(distance, box.distance(from: place))
      }
      // Between boxes that lean apart.
      for corner in part.dropFirst().dropLast() { distance = min(distance, max((place - corner).norm - size.y / 2, 0)) }
    } else {
      distance = ScreenBox(center: center, size: size, angle: angle).distance(from: place)
    }
    return max(Double(distance) - (symbol.haloColor == nil ? 0 : symbol.haloWidth), 0)
  }
}

extension ViewPicture {
  /// The labels that find room, in the order in which they were placed: layers from the top, then by priority, then by id.
  ///
  /// - Parameters:
  ///   - panels: boxes of what covers the map.
  ///   - meter: measures the texts.
  ///   - check: called every few hundred labels; throws to cancel.
  /// - Complexity: O(n log n) in the labels.
  package func placedLabels(
    besides panels: [ScreenBox] = [], measuredBy meter: TextMeter, checking check: () throws -> Void
  ) throws -> [PlacedLabel] {
    let ordered = labels.list.sorted(by: LabelCandidate.isFirst)
    var meter = meter
    try meter.learn(ordered.lazy.map(\.label.symbol))
    var places = LabelPlaces(width: Float(view.screen.width), height: Float(view.screen.height))
    for panel in panels { places.block(panel) }
    for label in ordered { if label.reach > 0, let point = label.shape.points.first { places.avoid(point, label.reach) } }
    for (index, label) in ordered.enumerated() {
      if index & 255 == 255 { try check() }
      let size = meter[label.label.symbol]
      try places.place(label, SIMD2(size.width, size.height), checking: check)
    }
    return places.placed
  }
}

/// The labels placed so far, and the room that they take.
private struct LabelPlaces {
  private(set) var placed: [PlacedLabel] = []
  private let screen: SIMD2<Float>
  /// Boxes by the squares that they meet.
  private var boxes: [SIMD2<Int32>: [ScreenBox]] = [:]
  /// Symbols of points, likewise, with the points: other labels keep off them where they can.
  private var symbols: [SIMD2<Int32>: [(box: ScreenBox, point: SIMD2<Float>)]] = [:]
  /// Where texts along lines are, by their text.
  private var repeated: [Text: [SIMD2<Float>]] = [:]

  private static let side: Float = 64
  /// Distance between repeated texts along lines.
  private static let distance: Float = 320

  init(width: Float, height: Float) { screen = SIMD2(width, height) }

  mutating func block(_ box: ScreenBox) { for square in squares(of: box) { boxes[square, default: []].append(box) } }

  mutating func avoid(_ point: SIMD2<Float>, _ reach: Float) {
    // A disc leaves the corners of its box.
    let box = ScreenBox(center: point, size: SIMD2(repeating: 1.7 * reach))
    for square in squares(of: box) { symbols[square, default: []].append((box, point)) }
  }

  mutating func place(_ label: LabelCandidate, _ size: SIMD2<Float>, checking check: () throws -> Void) rethrows {
    guard size.x > 0, size.y > 0 else { return }
    let placement = label.label.placement
    if let point = label.shape.points.first {
      let offsets = placement.offsets(size, label.reach)
      let clear = offsets.first { isClear(ScreenBox(center: point + $0, size: size), of: point) && place(label, size, at: point + $0) }
      if clear == nil { _ = offsets.contains { place(label, size, at: point + $0) } }
    } else if !label.shape.areas.isEmpty {
      guard let middle = label.shape.areas.max(by: { $0.extent < $1.extent })?.insidePoint else { return }
      let offsets = placement.isOfPoint ? placement.offsets(size, 0) : [SIMD2<Float>.zero]
      _ = offsets.contains { place(label, size, at: middle + $0) }
    } else if placement.isOfPoint {
      guard let line = label.shape.lines.max(by: { $0.length < $1.length }), let middle = line.part(at: line.length / 2, 0)?.first
      else { return }
      _ = placement.offsets(size, 0).contains { place(label, size, at: middle + $0) }
    } else {
      for line in label.shape.lines { try place(label, size, along: line, checking: check) }
    }
  }

  /// Places a straight text with its center near a point; false if there is no room.
  private mutating func place(_ label: LabelCandidate, _ size: SIMD2<Float>, at point: SIMD2<Float>) -> Bool {
    let symbol = label.label.symbol
    let center = point + SIMD2(Float(symbol.xOffset), Float(-symbol.yOffset))
    return add(label, size, center: center, angle: Float(symbol.angle), line: nil)
  }

  /// Places texts along a line: in the middle of equal parts of it.
  private mutating func place(
    _ label: LabelCandidate, _ size: SIMD2<Float>, along line: [SIMD2<Float>], checking check: () throws -> Void
  ) rethrows {
    let line = MeasuredLine(line)
    let length = line.length
    guard length >= size.x + size.y else { return }
    let count = max(1, Int(length / max(Self.distance, 3 * size.x)))
    let side: Float =
      switch label.label.placement {
      case .lineCenterAlong: 0
      case .lineBelowAlong: 1
      default: -1
      }
    for index in 0..<count {
      if index & 255 == 255 { try check() }
      let middle = (Float(index) + 0.5) * length / Float(count)
      guard var part = line.part(at: middle, size.x + size.y), let last = part.last, part.count > 1 else { continue }
      // Texts are read from the left.
      if last.x < part[0].x { part.reverse() }
      let chord = part[part.count - 1] - part[0]
      // Bends around which a text cannot be read have none.
      guard (chord * chord).sum().squareRoot() > 0.85 * (size.x + size.y), part.bend < 50 else { continue }
      part = part.moved(by: side * (size.y / 2 + label.reach + 1))
      guard let center = part.part(at: part.length / 2, 0)?.first else { continue }
      let near = repeated[label.label.symbol.text, default: []]
      guard !near.contains(where: { (($0 - center) * ($0 - center)).sum() < Self.distance * Self.distance }) else { continue }
      let isStraight = part.deviation < 0.1 * size.y
      let angle = atan2(Double(chord.y), Double(chord.x)) * 180 / .pi
      if add(label, size, center: center, angle: Float(angle), line: isStraight ? nil : part) {
        repeated[label.label.symbol.text, default: []].append(center)
      }
    }
  }

  private mutating func add(
    _ label: LabelCandidate, _ size: SIMD2<Float>, center: SIMD2<Float>, angle: Float, line: [SIMD2<Float>]?
  ) -> Bool {
    let symbol = label.label.symbol
    let margin = Float(symbol.haloColor == nil ? 0 : symbol.haloWidth) + 1
    let taken =
      if let line {
        ScreenBox.along(line, height: size.y + 2 * margin)
      } else {
        [ScreenBox(center: center, size: size + 2 * margin, angle: angle)]
      }
    guard taken.allSatisfy({ $0.isInside(screen) && isFree($0) }) else { return false }
    for box in taken { block(box) }
    placed.append(
      PlacedLabel(
        object: label.object, id: label.id, definition: label.label.definition, symbol: symbol, center: center, angle: angle,
        size: size, line: line))
    return true
  }

  private func squares(of box: ScreenBox) -> [SIMD2<Int32>] {
    let (low, high) = (box.low / Self.side, box.high / Self.side)
    return (Int32(low.y)...Int32(high.y)).flatMap { y in (Int32(low.x)...Int32(high.x)).map { SIMD2($0, y) } }
  }

  /// Whether a label of a point would meet no other's symbol.
  private func isClear(_ box: ScreenBox, of point: SIMD2<Float>) -> Bool {
    squares(of: box).allSatisfy { square in !(symbols[square]?.contains { $0.point != point && $0.box.meets(box) } ?? false) }
  }

  private func isFree(_ box: ScreenBox) -> Bool {
    squares(of: box).allSatisfy { square in !(boxes[square]?.contains { $0.meets(box) } ?? false) }
  }
}

/// A box that a label takes, which may be turned, or a panel.
package struct ScreenBox: Sendable {
  /// The corners of the upright box around it.
  let low: SIMD2<Float>
  let high: SIMD2<Float>
  private let center: SIMD2<Float>
  private let half: SIMD2<Float>
  /// Where its width goes.
  private let axis: SIMD2<Float>

  init(_ low: SIMD2<Float>, _ high: SIMD2<Float>) { self.init(center: (low + high) / 2, size: high - low) }

  /// - Parameter axis: of length 1.
  fileprivate init(center: SIMD2<Float>, size: SIMD2<Float>, axis: SIMD2<Float>) {
    (self.center, half, self.axis) = (center, size / 2, axis)
    let (x, y) = (abs(axis.x), abs(axis.y))
    let reach = SIMD2(x * size.x + y * size.y, y * size.x + x * size.y) / 2
    (low, high) = (center - reach, center + reach)
  }

  /// - Parameter angle: clockwise, in degrees.
  init(center: SIMD2<Float>, size: SIMD2<Float>, angle: Float = 0) {
    let turn = Double(angle) * .pi / 180
    self.init(center: center, size: size, axis: angle == 0 ? SIMD2(1, 0) : SIMD2(Float(cos(turn)), Float(sin(turn))))
  }

  func isInside(_ screen: SIMD2<Float>) -> Bool { low.x >= 0 && low.y >= 0 && high.x <= screen.x && high.y <= screen.y }

  fileprivate func distance(from place: SIMD2<Float>) -> Float {
    let way = place - center
    let beyond = SIMD2(abs((way * axis).sum()), abs(way.y * axis.x - way.x * axis.y)) - half
    return SIMD2(max(beyond.x, 0), max(beyond.y, 0)).norm
  }

  func meets(_ other: ScreenBox) -> Bool {
    guard low.x < other.high.x, other.low.x < high.x, low.y < other.high.y, other.low.y < high.y else { return false }
    return !isApart(from: other) && !other.isApart(from: self)
  }

  /// Whether a line along one of its edges separates it from another.
  private func isApart(from other: ScreenBox) -> Bool {
    let way = other.center - center
    func isApart(_ direction: SIMD2<Float>, _ half: Float) -> Bool {
      let along = abs((direction * other.axis).sum()) * other.half.x
      let across = abs(direction.y * other.axis.x - direction.x * other.axis.y) * other.half.y
      return abs((way * direction).sum()) >= half + along + across
    }
    return isApart(axis, half.x) || isApart(SIMD2(-axis.y, axis.x), half.y)
  }

  /// Boxes that cover a text along a line.
  static func along(_ line: [SIMD2<Float>], height: Float) -> [ScreenBox] {
    let length = line.length
    let count = max(1, Int((2 * length / height).rounded(.up)))
    let places = (0...count).compactMap { line.part(at: Float($0) * length / Float(count), 0)?.first }
    return zip(places, places.dropFirst()).compactMap { start, end in
      let step = end - start
      guard step.norm > 0 else { return nil }
      // A little longer, as the line turns between them.
      return ScreenBox(center: (start + end) / 2, size: SIMD2(1.5 * step.norm, height), axis: step / step.norm)
    }
  }
}

extension LabelDefinition.Placement {
  fileprivate var isOfPoint: Bool {
    switch self {
    case .automatic, .lineAboveAlong, .lineBelowAlong, .lineCenterAlong, .polygonAlwaysHorizontal: false
    default: true
    }
  }

  /// Where the center of a text may be, from its point; the best first.
  ///
  /// - Parameter reach: of the point's symbol.
  fileprivate func offsets(_ size: SIMD2<Float>, _ reach: Float) -> [SIMD2<Float>] {
    let (half, gap) = (size / 2, reach + 1)
    let (x, y) = (half.x + gap, half.y + gap)
    // Beside the corner of a round symbol there is more room.
    let (cornerX, cornerY) = (half.x + 0.7 * gap, half.y + 0.7 * gap)
    switch self {
    case .pointAboveCenter: return [SIMD2(0, -y)]
    case .pointAboveLeft: return [SIMD2(-cornerX, -cornerY)]
    case .pointAboveRight: return [SIMD2(cornerX, -cornerY)]
    case .pointBelowCenter: return [SIMD2(0, y)]
    case .pointBelowLeft: return [SIMD2(-cornerX, cornerY)]
    case .pointBelowRight: return [SIMD2(cornerX, cornerY)]
    case .pointCenterCenter: return [.zero]
    case .pointCenterLeft: return [SIMD2(-x, 0)]
    case .pointCenterRight: return [SIMD2(x, 0)]
    case .automatic, .lineAboveAlong, .lineBelowAlong, .lineCenterAlong, .polygonAlwaysHorizontal:
      return [
        SIMD2(cornerX, -cornerY), SIMD2(x, 0), SIMD2(cornerX, cornerY), SIMD2(0, -y), SIMD2(-cornerX, -cornerY), SIMD2(-x, 0),
        SIMD2(-cornerX, cornerY), SIMD2(0, y),
      ]
    }
  }
}
