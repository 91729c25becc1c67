// GEOREF and GARS, which divide longitudes and latitudes.

import Geometry
import Platform

enum WorldGrid {
  private static let letters = Array("ABCDEFGHJKLMNPQRSTUVWXYZ".unicodeScalars)

  private static let minute = 1_000_000_000
  private static let degree = 60 * minute

  /// Longitude from -180 and latitude from -90 in units of 1e-9 minutes. Rounded, so that the corner of a cell is in it; the northern and
  /// eastern edges of the world are in its last cells.
  private static func units(_ point: Point) -> (x: Int, y: Int) {
    let longitude = point.x >= 180 ? point.x - 360 : point.x
    return (
      min(Int((longitude * Double(degree)).rounded()) + 180 * degree, 360 * degree - 1),
      min(Int((point.y * Double(degree)).rounded()) + 90 * degree, 180 * degree - 1)
    )
  }

  /// - Parameters:
  ///   - x, y: the corner from longitude -180 and latitude -90, and the side, in units of which a degree has many.
  private static func place(
    _ x: Int, _ y: Int, side: Int, of degree: Int, _ notation: Notation, _ corner: Bool
  ) -> NotedPlace {
    func degrees(_ number: Int, _ origin: Int) -> Double {
      Double(2 * (number - origin * degree) + (corner ? 0 : side)) / Double(2 * degree)
    }
    return NotedPlace(
      point: Point(x: degrees(x, 180), y: degrees(y, 90)), cell: .init(size: Double(side) / Double(degree), isDegrees: true),
      notation: notation)
  }

  /// Squares of 15 degrees, degrees in them, minutes and their decimals. Source: NATO's and NGA's World Geographic Reference System.
  static func georef(_ point: Point, _ precision: Int) -> String {
    let (x, y) = units(point)
    let (column, row) = (x / degree, y / degree)
    let name = [letters[column / 15], letters[row / 15], letters[column % 15], letters[row % 15]]
    let text = name.map(String.init).joined()
    guard precision > 0 else { return text }
    // Minutes have two digits.
    let digits = max(precision, 2)
    let unit = minute / power(digits - 2)
    return text + padded(x % degree / unit, digits) + padded(y % degree / unit, digits)
  }

  static func place(georef text: String, _ corner: Bool) throws(NotationError) -> NotedPlace {
    var scanner = TextScanner(text)
    let column = try scanner.letter(letters, "a column of 15 degrees, A to Z without I and O")
    let row = try scanner.letter(Array(letters[..<12]), "a row of 15 degrees, A to M without I")
    if scanner.left == 0 { return place(15 * column, 15 * row, side: 15, of: 1, .georef, corner) }
    let ones = Array(letters[..<15])
    let east = try scanner.letter(ones, "a degree of longitude, A to Q without I and O")
    let north = try scanner.letter(ones, "a degree of latitude, A to Q without I and O")
    let start = scanner.offset
    let digits = try scanner.pair()
    let count = digits.x.count
    guard count != 1 else { throw NotationError(.malformed, "two digits of minutes for each coordinate, at least", at: start) }
    let (x, y) = (15 * column + east, 15 * row + north)
    guard count > 0 else { return place(x, y, side: 1, of: 1, .georef, corner) }
    guard digits.x[0] < 6, digits.y[0] < 6 else { throw NotationError(.outside, "minutes below 60", at: start) }
    let degree = 60 * power(count - 2)
    return place(x * degree + digits.x.number, y * degree + digits.y.number, side: 1, of: degree, .georef, corner)
  }

  /// Cells of 30 minutes, quadrants of 15, and keys of 5, both numbered from the north-west. Source: NGA's Global Area Reference System.
  static func gars(_ point: Point, _ precision: Int) -> String {
    let key = 5 * minute
    let (x, y) = (units(point).x / key, units(point).y / key)
    let row = y / 6
    var text = padded(x / 6 + 1, 3) + String(letters[row / 24]) + String(letters[row % 24])
    let (east, south) = (x % 6, 5 - y % 6)
    if precision > 0 { text += String(south / 3 * 2 + east / 3 + 1) }
    if precision > 1 { text += String(south % 3 * 3 + east % 3 + 1) }
    return text
  }

  static func place(gars text: String, _ corner: Bool) throws(NotationError) -> NotedPlace {
    var scanner = TextScanner(text)
    let column = scanner.digits(3)
    guard column.count == 3 else { throw NotationError(.malformed, "three digits, 001 to 720, of the longitude", at: 0) }
    guard (1...720).contains(column.number) else { throw NotationError(.outside, "a column in 001...720", at: 0) }
    let start = scanner.offset
    let expected = "two letters, AA to QZ without I and O, of the latitude"
    let row = try scanner.letter(letters, expected) * 24 + scanner.letter(letters, expected)
    guard row < 360 else { throw NotationError(.outside, expected, at: start) }
    var (x, y, size) = ((column.number - 1) * 6, row * 6, 6)
    for (count, part) in [(2, 3), (3, 1)] where scanner.left > 0 {
      let place = scanner.offset
      let digit = scanner.digits(1).number
      guard (1...count * count).contains(digit) else { throw NotationError(.malformed, "a digit in 1...\(count * count)", at: place) }
      (x, y, size) = (x + (digit - 1) % count * part, y + (count - 1 - (digit - 1) / count) * part, part)
    }
    if scanner.left > 0 { throw scanner.fault("the end, after two letters and at most two digits") }
    return place(x, y, side: size, of: 12, .gars, corner)
  }
}
