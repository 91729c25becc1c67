// Places as texts: the notations, their options, what is read of them and why it cannot be.

import Geometry
import Platform

/// A way to write a place on WGS 84.
public enum Notation: String, Sendable {
  case decimalDegrees
  /// Degrees, minutes and seconds; degrees and minutes.
  case dms, ddm
  /// With the hemisphere, N or S, behind the zone; with the letter of the latitude band.
  case utm, utmBand
  case mgrs, usng, georef, gars

  /// The finest precision: decimals of the last unit; for grids the digits of each coordinate; of GARS 0 is a cell, 1 its quadrant, 2 the
  /// key.
  public var finest: Int {
    switch self {
    case .decimalDegrees: 13
    case .ddm: 11
    case .dms, .utm, .utmBand: 9
    case .mgrs, .usng, .georef: 8
    case .gars: 2
    }
  }

  /// About a metre or finer, but for GARS.
  public var usual: Int {
    switch self {
    case .decimalDegrees: 6
    case .ddm: 4
    case .dms: 2
    case .utm, .utmBand: 1
    case .mgrs, .usng, .georef: 5
    case .gars: 2
    }
  }
}

/// How texts look.
public struct NotationStyle: Hashable, Sendable {
  public enum Marks: String, Sendable { case symbols, spaces, colons }
  /// Between degrees, minutes and seconds.
  public let marks: Marks
  /// `-` for south and west in place of letters.
  public let signed: Bool
  public let longitudeFirst: Bool
  /// Of MGRS; UTM and USNG always have spaces.
  public let spaced: Bool

  public init(marks: Marks = .symbols, signed: Bool = false, longitudeFirst: Bool = false, spaced: Bool = false) {
    (self.marks, self.signed, self.longitudeFirst, self.spaced) = (marks, signed, longitudeFirst, spaced)
  }
}

/// Why a text is no place, or a place has no text in a notation.
public struct NotationError: Error, Hashable, Sendable {
  public enum Kind: Sendable {
    /// Not of the notation's form.
    case malformed
    /// Of its form, but nowhere: 91° north, a square that its band does not meet.
    case outside
    /// Different places in several notations.
    case ambiguous
    /// A place that the notation does not cover.
    case uncovered
  }
  public let kind: Kind
  public let expected: String
  /// Where in the text, in code points from 0; nil if the text as a whole is meant.
  public let offset: Int?

  init(_ kind: Kind, _ expected: String, at offset: Int? = nil) { (self.kind, self.expected, self.offset) = (kind, expected, offset) }
}

/// A place that a text names.
public struct NotedPlace: Hashable, Sendable {
  /// The sides of a cell, in metres of the grid or in degrees.
  public struct Cell: Hashable, Sendable {
    public let size: Double
    public let isDegrees: Bool
  }
  /// Longitude and latitude: the middle of the cell or its corner in the south-west.
  public let point: Point
  /// Nil for notations of points.
  public let cell: Cell?
  /// What the text is in: of angles, as the numbers tell.
  public let notation: Notation
}

extension Notation {
  /// A position as a text. Grids truncate, as their standards have it; the other notations round.
  ///
  /// - Parameters:
  ///   - point: longitude, taken modulo 360, and latitude.
  ///   - precision: `usual` if nil; at most ``finest``.
  public func text(of point: Point, precision: Int? = nil, _ style: NotationStyle = NotationStyle()) throws(NotationError) -> String {
    guard point.x.isFinite, abs(point.y) <= 90 else { throw NotationError(.uncovered, "a finite longitude and a latitude in -90...90") }
    let point = Point(x: point.x.remainder(dividingBy: 360), y: point.y)
    let precision = min(max(precision ?? usual, 0), finest)
    switch self {
    case .decimalDegrees, .dms, .ddm: return Angles.text(point, self, precision, style)
    case .utm, .utmBand: return UTMPosition(point).text(precision, banded: self == .utmBand ? point.y : nil)
    case .mgrs: return UTMPosition(point).square(precision, latitude: point.y, spaced: style.spaced)
    case .usng:
      let position = UTMPosition(point)
      guard position.zone != 0 else { throw NotationError(.uncovered, "a latitude in -80..<84, which USNG covers") }
      return position.square(precision, latitude: point.y, spaced: true, padded: false)
    case .georef: return WorldGrid.georef(point, precision)
    case .gars: return WorldGrid.gars(point, precision)
    }
  }

  private func read(_ text: String, _ corner: Bool, _ longitudeFirst: Bool) throws(NotationError) -> NotedPlace {
    switch self {
    case .decimalDegrees, .dms, .ddm: return try Angles.place(text, longitudeFirst: longitudeFirst)
    case .utm, .utmBand: return NotedPlace(point: try UTMPosition(text, banded: self == .utmBand).point, cell: nil, notation: self)
    case .mgrs, .usng: return try UTMPosition.place(inSquare: text, self, corner)
    case .georef: return try WorldGrid.place(georef: text, corner)
    case .gars: return try WorldGrid.place(gars: text, corner)
    }
  }

  /// The place that a text names in a notation, or in whichever it is. Small and capital letters are the same; each notation of angles
  /// reads all three.
  ///
  /// - Parameters:
  ///   - corner: whether a cell is answered by its corner of the least coordinates, not by its middle.
  ///   - longitudeFirst: of two angles without letters.
  /// - Throws: without a notation: if several have different places for the text; else the error of the one that reads it farthest.
  public static func place(
    _ text: String, in notation: Notation?, corner: Bool = false, longitudeFirst: Bool = false
  ) throws(NotationError) -> NotedPlace {
    let most = 128
    guard text.unicodeScalars.dropFirst(most).isEmpty else { throw NotationError(.malformed, "at most \(most) characters", at: most) }
    if let notation { return try notation.read(text, corner, longitudeFirst) }
    var found: NotedPlace?
    var worst: (error: NotationError, notation: Notation, rank: Int)?
    // What is USNG is MGRS.
    for notation in [Notation.decimalDegrees, .utm, .utmBand, .mgrs, .georef, .gars] {
      do throws(NotationError) {
        let place = try notation.read(text, corner, longitudeFirst)
        if let found, found.point != place.point {
          throw NotationError(.ambiguous, "a format: \(found.notation.rawValue) and \(notation.rawValue) have different places")
        }
        found = found ?? place
      } catch {
        if error.kind == .ambiguous { throw error }
        let rank = (error.offset ?? 0) + (error.kind == .outside ? 1000 : 0)
        if worst.map({ $0.rank < rank }) ?? true { worst = (error, notation, rank) }
      }
    }
    if let found { return found }
    guard let worst, worst.rank > 0 else { throw NotationError(.malformed, "two angles or a grid reference", at: 0) }
    throw NotationError(worst.error.kind, worst.error.expected + ", as in \(worst.notation.rawValue)", at: worst.error.offset)
  }
}

/// Reads a text of capital letters and digits from left to right.
struct TextScanner {
  private let scalars: [Unicode.Scalar]
  /// Of each scalar, without spaces, in the text.
  private let offsets: [Int]
  private(set) var next = 0

  init(_ text: String) {
    let kept = text.unicodeScalars.enumerated().filter { !$0.element.properties.isWhitespace }
    // Of the alphabet alone: other letters, too, have these as their capitals.
    scalars = kept.map { ("a"..."z").contains($0.element) ? Unicode.Scalar(UInt8($0.element.value) - 32) : $0.element }
    offsets = kept.map(\.offset)
  }

  var left: Int { scalars.count - next }
  var offset: Int { next < offsets.count ? offsets[next] : (offsets.last ?? -1) + 1 }

  func fault(_ expected: String) -> NotationError { NotationError(.malformed, expected, at: offset) }

  /// The index of the next letter in `letters`.
  mutating func letter(_ letters: [Unicode.Scalar], _ expected: String) throws(NotationError) -> Int {
    guard next < scalars.count, let index = letters.firstIndex(of: scalars[next]) else { throw fault(expected) }
    next += 1
    return index
  }

  /// The next digits, at most `most`.
  mutating func digits(_ most: Int) -> [Int] {
    var found: [Int] = []
    while found.count < most, next < scalars.count, (48...57).contains(scalars[next].value) {
      found.append(Int(scalars[next].value) - 48)
      next += 1
    }
    return found
  }

  /// The number of a zone; 0 if there is none.
  mutating func zone() throws(NotationError) -> Int {
    let start = offset
    let digits = digits(2)
    guard digits.isEmpty || (1...60).contains(digits.number) else { throw NotationError(.outside, "a zone in 1...60", at: start) }
    return digits.number
  }

  /// The end of the text: as many digits of one coordinate as of the other, with spaces between at most.
  mutating func pair() throws(NotationError) -> (x: [Int], y: [Int]) {
    let (first, start) = (next, offset)
    let digits = digits(22)
    if left > 0 { throw fault(digits.count == 22 ? "at most 11 digits for each coordinate" : "digits") }
    let half = digits.count / 2
    let gap = (0..<max(digits.count - 1, 0)).first { offsets[first + $0 + 1] != offsets[first + $0] + 1 && $0 != half - 1 }
    guard digits.count.isMultiple(of: 2), gap == nil else {
      throw NotationError(.malformed, "as many digits for one coordinate as for the other", at: start)
    }
    return (Array(digits[..<half]), Array(digits[half...]))
  }
}

extension Collection<Int> {
  /// Of digits.
  var number: Int { reduce(0) { $0 * 10 + $1 } }
}

func power(_ digits: Int) -> Int { (0..<digits).reduce(1) { power, _ in power * 10 } }

func padded(_ number: Int, _ width: Int) -> String {
  let digits = String(number)
  return String(repeating: "0", count: max(width - digits.utf8.count, 0)) + digits
}

/// A number of units of 10^-decimals.
func decimal(_ units: Int, _ decimals: Int, width: Int = 1) -> String {
  let scale = power(decimals)
  return padded(units / scale, width) + (decimals > 0 ? "." + padded(units % scale, decimals) : "")
}
