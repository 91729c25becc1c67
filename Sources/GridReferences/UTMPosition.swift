// UTM and UPS, and the squares of the military grid on them (NGA.STND.0037, 2014).

import Geometry
import Platform

/// A position in a zone of UTM, or in UPS.
struct UTMPosition {
  /// 1 to 60; 0 is UPS.
  let zone: Int
  let isNorth: Bool
  /// Easting and northing in metres, with their false origins.
  let metres: SIMD2<Double>

  private static let bands = Array("CDEFGHJKLMNPQRSTUVWX".unicodeScalars)
  private static let poles = Array("ABYZ".unicodeScalars)

  /// In the zone of the standard. Longitude 180 is in zone 1.
  init(_ point: Point) {
    isNorth = point.y >= 0
    zone = Self.zone(of: point)
    if zone == 0 {
      metres = PolarStereographic.project(point, isNorth: isNorth) + 2_000_000
    } else {
      let meridian = (point.x - Double(6 * zone - 183)).remainder(dividingBy: 360)
      metres =
        TransverseMercator.project(latitude: point.y, meridian: meridian)
        + SIMD2(500_000, isNorth ? 0 : 10_000_000)
    }
  }

  private init(zone: Int, isNorth: Bool, _ metres: SIMD2<Double>) { (self.zone, self.isNorth, self.metres) = (zone, isNorth, metres) }

  /// Norway has zone 32 from 3 degrees east, Svalbard four zones of 9 and 12 degrees.
  private static func zone(of point: Point) -> Int {
    guard point.y >= -80, point.y < 84 else { return 0 }
    let degrees = Int((point.x >= 180 ? point.x - 360 : point.x).rounded(.down))
    let zone = (degrees + 186) / 6
    switch point.y {
    case 56..<64 where zone == 31 && degrees >= 3: return 32
    case 72... where (0..<42).contains(degrees): return 2 * ((degrees + 183) / 12) + 1
    default: return zone
    }
  }

  private static func band(of latitude: Double) -> Int { min(max(Int(((latitude + 80) / 8).rounded(.down)), 0), 19) }

  /// The half of a pole's area: west is first.
  private func pole(isEast: Bool) -> Int { (isNorth ? 2 : 0) + (isEast ? 1 : 0) }

  var point: Point {
    guard zone > 0 else { return PolarStereographic.place(metres - 2_000_000, isNorth: isNorth) }
    let place = TransverseMercator.place(metres - SIMD2(500_000, isNorth ? 0 : 10_000_000))
    return Point(x: (place.x + Double(6 * zone - 183)).remainder(dividingBy: 360), y: place.y)
  }

  /// - Parameter latitude: if the letter is that of the band.
  func text(_ decimals: Int, banded latitude: Double?) -> String {
    let scale = Double(power(decimals))
    let numbers = [metres.x, metres.y].map { decimal(Int(($0 * scale).rounded()), decimals) }
    let letter = latitude.map { zone > 0 ? Self.bands[Self.band(of: $0)] : Self.poles[pole(isEast: metres.x >= 2_000_000)] }
    let name = (zone > 0 ? padded(zone, 2) : "") + (letter.map(String.init) ?? (isNorth ? "N" : "S"))
    return ([name] + numbers).joined(separator: " ")
  }

  /// `31 N 448251.8 5411943.8`; UPS without a zone.
  init(_ text: String, banded: Bool) throws(NotationError) {
    var scanner = TextScanner(text)
    zone = try scanner.zone()
    var band: Int?
    if banded {
      let letter = try Self.band(&scanner, zone)
      (band, isNorth) = (zone > 0 ? letter : nil, letter > (zone > 0 ? 9 : 1))
    } else {
      isNorth = try scanner.letter(["S", "N"], "N or S, the hemisphere") == 1
    }
    // Numbers are told apart by what is between them.
    let rest = text.unicodeScalars.dropFirst(scanner.offset)
    let words = rest.split { $0.properties.isWhitespace || $0 == "," || $0 == ";" }
    guard words.count == 2 else {
      throw NotationError(.malformed, "an easting and a northing in metres, with a space between", at: scanner.offset)
    }
    let reach = 700_000...3_300_000
    let ranges = zone > 0 ? [0...1_000_000, isNorth ? 0...9_600_000 : 400_000...10_000_000] : [reach, reach]
    var metres = SIMD2<Double>()
    var offset = 0
    for (index, word) in words.enumerated() {
      offset = scanner.offset + rest.distance(from: rest.startIndex, to: word.startIndex)
      let name = index == 0 ? "an easting" : "a northing"
      let digits = word.prefix { ("0"..."9").contains($0) || $0 == "." }
      let unit = String(String.UnicodeScalarView(word[digits.endIndex...])).lowercased()
      let direction = index == 0 ? "e" : "n"
      guard digits.count <= 24, let number = Double(String(String.UnicodeScalarView(digits))),
        ["", "m", direction, "m" + direction].contains(unit)
      else { throw NotationError(.malformed, name + " in metres", at: offset) }
      guard number >= Double(ranges[index].lowerBound), number <= Double(ranges[index].upperBound) else {
        throw NotationError(.outside, "\(name) in \(ranges[index].lowerBound)...\(ranges[index].upperBound) m", at: offset)
      }
      metres[index] = number
    }
    self.metres = metres
    // Rounding may lead some metres across the edge of a band.
    if let band {
      let latitudes = Self.latitudes(band)
      guard (latitudes.lowerBound - 1e-4..<latitudes.upperBound + 1e-4).contains(point.y) else {
        throw NotationError(.outside, "a northing in the band \(Self.bands[band])", at: offset)
      }
    }
  }

  /// The index of the letter behind the zone: of a band, or of the half of a pole's area.
  private static func band(_ scanner: inout TextScanner, _ zone: Int) throws(NotationError) -> Int {
    try zone > 0
      ? scanner.letter(bands, "the letter of a latitude band, C to X without I and O")
      : scanner.letter(poles, "a zone, or A, B, Y or Z, the half of a pole's area")
  }

  private static func latitudes(_ band: Int) -> Range<Double> {
    let south = Double(8 * band - 80)
    return south..<(band == 19 ? 84 : south + 8)
  }

  // MARK: Military grid

  /// The letters of the columns of 100 km: of three zones in turn, and of the halves of both poles' areas.
  private static let columns = ["ABCDEFGH", "JKLMNPQR", "STUVWXYZ"].map { Array($0.unicodeScalars) }
  private static let polarColumns = ["JKLPQRSTUXYZ", "ABCFGHJKLPQR", "RSTUXYZ", "ABCFGHJ"].map { Array($0.unicodeScalars) }
  private static let rows = Array("ABCDEFGHJKLMNPQRSTUV".unicodeScalars)
  private static let polarRows = ["ABCDEFGHJKLMNPQRSTUVWXYZ", "ABCDEFGHJKLMNP"].map { Array($0.unicodeScalars) }
  /// Of the first column and row, in squares of 100 km.
  private static func polarOrigin(_ pole: Int) -> (column: Int, row: Int) { (pole & 1 == 1 ? 20 : pole == 0 ? 8 : 13, pole < 2 ? 8 : 13) }

  /// The square and the digits in it. Positions are truncated, after rounding to 0.1 micrometres, so that the corner of a cell is in it.
  func square(_ digits: Int, latitude: Double, spaced: Bool, padded isPadded: Bool = true) -> String {
    let side = 1_000_000_000_000
    var (x, y) = (Int((metres.x * 1e7).rounded()), Int((metres.y * 1e7).rounded()))
    // South of the equator by less than that.
    if zone > 0, !isNorth { y = min(y, 100 * side - 1) }
    let name: String
    let letters: [Unicode.Scalar]
    if zone > 0 {
      name = (isPadded ? padded(zone, 2) : String(zone)) + String(Self.bands[Self.band(of: latitude)])
      letters = [
        Self.columns[(zone - 1) % 3][min(max(x / side - 1, 0), 7)], Self.rows[(y / side + (zone.isMultiple(of: 2) ? 5 : 0)) % 20],
      ]
    } else {
      let pole = pole(isEast: x >= 20 * side)
      let origin = Self.polarOrigin(pole)
      let (columns, rows) = (Self.polarColumns[pole], Self.polarRows[isNorth ? 1 : 0])
      name = String(Self.poles[pole])
      letters = [
        columns[min(max(x / side - origin.column, 0), columns.count - 1)], rows[min(max(y / side - origin.row, 0), rows.count - 1)],
      ]
    }
    (x, y) = (x % side, y % side)
    let unit = side / power(digits)
    let numbers = digits > 0 ? [padded(x / unit, digits), padded(y / unit, digits)] : []
    return ([name, letters.map(String.init).joined()] + numbers).joined(separator: spaced ? " " : "")
  }

  /// - Parameter notation: MGRS, or USNG, which has no poles.
  static func place(inSquare text: String, _ notation: Notation, _ corner: Bool) throws(NotationError) -> NotedPlace {
    var scanner = TextScanner(text)
    let zone = try scanner.zone()
    if zone == 0, notation == .usng { throw scanner.fault("a zone, 1 to 60") }
    let band = try band(&scanner, zone)
    let isNorth = band > (zone > 0 ? 9 : 1)
    let start = scanner.offset
    let origin: (column: Int, row: Int)
    let (columns, rows): ([Unicode.Scalar], [Unicode.Scalar])
    if zone > 0 {
      (origin, columns, rows) = ((1, 0), Self.columns[(zone - 1) % 3], Self.rows)
    } else {
      (origin, columns, rows) = (polarOrigin(band), polarColumns[band], polarRows[isNorth ? 1 : 0])
    }
    let column = try scanner.letter(columns, "the letter of a column: \(columns.map(String.init).joined())") + origin.column
    let letter = try scanner.letter(rows, "the letter of a row: \(rows.map(String.init).joined())")
    let digits = try scanner.pair()
    let size = 100_000 / pow(10, Double(digits.x.count))
    let within = SIMD2(Double(digits.x.number), Double(digits.y.number)) * size + (corner ? 0 : size / 2)
    func point(_ row: Int, _ offset: SIMD2<Double>) -> Point {
      UTMPosition(zone: zone, isNorth: isNorth, SIMD2(Double(column), Double(row)) * 100_000 + offset).point
    }
    guard zone > 0 else {
      return NotedPlace(point: point(letter + origin.row, within), cell: .init(size: size, isDegrees: false), notation: notation)
    }
    // Rows repeat every 2,000 km: the one whose square meets the band. Squares end at the central meridian, so latitudes are extreme at
    // corners.
    let first = (letter + (zone.isMultiple(of: 2) ? 15 : 0)) % 20
    let latitudes = latitudes(band)
    let row = stride(from: first, to: 100, by: 20).first { row in
      let corners = [0.0, 100_000].flatMap { x in [0.0, 100_000].map { y in point(row, SIMD2(x, y)).y } }
      guard let low = corners.min(), let high = corners.max() else { return false }
      return high > latitudes.lowerBound + 1e-9 && low < latitudes.upperBound - 1e-9
    }
    guard let row else { throw NotationError(.outside, "a square that meets the band \(bands[band])", at: start) }
    return NotedPlace(point: point(row, within), cell: .init(size: size, isDegrees: false), notation: notation)
  }
}
