// Labels before they are placed, and how large their texts are.

import GeoModel
import Geometry
import Pictures

/// A label that is to be placed, for one copy of its feature on the screen.
struct LabelCandidate {
  /// The index of the layer in drawing order.
  let object: Int
  let id: Int
  let label: Label
  let shape: ScreenShape
  /// How far the symbol of a point reaches.
  let reach: Float
  /// The place in drawing order.
  let order: Int

  init(_ object: Int, _ id: Int, _ label: Label, _ shape: ScreenShape, reach: Float, order: Int) {
    (self.object, self.id, self.label, self.shape) = (object, id, label, shape)
    (self.reach, self.order) = (reach, order)
  }

  var key: LabelKey { LabelKey(object: object, id: id, definition: label.definition) }

  /// What is placed first: what is on top, then by priority and id. Not by what was placed before.
  static func isFirst(_ one: LabelCandidate, _ other: LabelCandidate) -> Bool {
    (-one.object, one.label.priority, one.id, one.order) < (-other.object, other.label.priority, other.id, other.order)
  }
}

/// What a label is of, whatever copies of its feature are seen.
struct LabelKey: Hashable {
  let object: Int
  let id: Int
  let definition: Int
}

/// The labels of a picture that are tried. Of points in the same small square of a layer, those that are placed first are: more would
/// hardly find room, and a layer may have a label for each of a million points.
struct LabelCandidates {
  private struct Square: Hashable {
    let object: Int
    let place: SIMD2<Int32>
  }
  private static let side: Float = 8
  private static let limit = 8

  private(set) var list: [LabelCandidate] = []
  /// Those that are not tried.
  private(set) var leftOut: Set<LabelKey> = []
  /// The indexes of those in a square, in the order of placing.
  private var crowds: [Square: [Int]] = [:]
  private var count = 0

  mutating func add(_ object: Int, _ id: Int, _ label: Label, _ shape: ScreenShape, reach: Float) {
    let candidate = LabelCandidate(object, id, label, shape, reach: reach, order: count)
    count += 1
    guard shape.lines.isEmpty, shape.areas.isEmpty, let point = shape.points.first else { return list.append(candidate) }
    let square = Square(object: object, place: SIMD2(Int32(point.x / Self.side), Int32(point.y / Self.side)))
    var crowd = crowds.removeValue(forKey: square) ?? []
    defer { crowds[square] = crowd }
    var index = list.count
    if crowd.count < Self.limit {
      list.append(candidate)
    } else if let last = crowd.last, LabelCandidate.isFirst(candidate, list[last]) {
      leftOut.insert(list[last].key)
      list[last] = candidate
      index = last
      crowd.removeLast()
    } else {
      leftOut.insert(candidate.key)
      return
    }
    let place = crowd.lastIndex { !LabelCandidate.isFirst(candidate, list[$0]) } ?? -1
    crowd.insert(index, at: place + 1)
  }
}

extension TextSize {
  /// Where no font is at hand: letters are half as wide as high, as `view/identify` has it.
  package static func estimates(_ words: PictureWriter) -> [TextSize] {
    words.words.withUnsafeBytes { bytes in
      var (reader, sizes, size): (PictureReader, [TextSize], Float) = (PictureReader(bytes), [], 0)
      while let command = try? reader.command() {
        switch command {
        case .setFont(let font): size = font.size
        case .text(let text, _, _, _):
          let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
          let width = size / 2 * Float(lines.map(\.count).max() ?? 0)
          sizes.append(TextSize(width: width, height: size * Float(lines.count), ascent: 0.8 * size))
        default: break
        }
      }
      return sizes
    }
  }
}
