// Longitudes and latitudes as texts: written one way, read in many.

import Geometry
import Platform

enum Angles {
  static func text(_ point: Point, _ notation: Notation, _ decimals: Int, _ style: NotationStyle) -> String {
    let parts = [(point.y, "N", "S"), (point.x, "E", "W")].map { angle, positive, negative in
      // Rounded once, so that 59.9999 seconds become a minute.
      let (unit, count) = notation == .decimalDegrees ? (1, 1) : notation == .ddm ? (60, 2) : (3600, 3)
      let scale = power(decimals)
      let total = Int((abs(angle) * Double(unit) * Double(scale)).rounded(.toNearestOrEven))
      var fields = [decimal(total % (count == 1 ? Int.max : 60 * scale), decimals, width: count == 1 ? 1 : 2)]
      if count == 3 { fields.insert(padded(total / scale / 60 % 60, 2), at: 0) }
      if count > 1 { fields.insert(String(total / scale / unit), at: 0) }
      let text: String =
        switch style.marks {
        case .symbols: zip(fields, ["°", "′", "″"]).map(+).joined()
        case .spaces: fields.joined(separator: " ")
        case .colons: fields.joined(separator: ":")
        }
      let isNegative = angle < 0 && total > 0
      return style.signed ? (isNegative ? "-" : "") + text : text + (angle < 0 ? negative : positive)
    }
    return (style.longitudeFirst ? parts.reversed() : parts).joined(separator: style.signed ? ", " : " ")
  }

  static func place(_ text: String, longitudeFirst: Bool) throws(NotationError) -> NotedPlace {
    try AngleReader(text).place(longitudeFirst: longitudeFirst)
  }
}

/// Reads two angles: degrees, or degrees and minutes, or degrees, minutes and seconds, with or without their symbols, with a sign or the letter
/// of a hemisphere before or after.
private struct AngleReader {
  private enum Token: Equatable {
    case number(Double, isWhole: Bool)
    /// Degrees, minutes, seconds; nil for a colon or hyphen, behind any.
    case mark(Int?)
    case sign(Double)
    case hemisphere(isLatitude: Bool, Double)
    case separator
  }

  private var tokens: [(token: Token, offset: Int)] = []
  private let end: Int

  private static let hemispheres: [Unicode.Scalar: (Bool, Double)] = [
    "N": (true, 1), "S": (true, -1), "E": (false, 1), "W": (false, -1), "n": (true, 1), "s": (true, -1), "e": (false, 1), "w": (false, -1),
  ]
  private static let marks: [Unicode.Scalar: Int] = [
    "°": 0, "º": 0, "˚": 0, "d": 0, "D": 0, "'": 1, "′": 1, "’": 1, "‘": 1, "´": 1, "`": 1, "\"": 2, "″": 2, "”": 2, "“": 2,
  ]

  init(_ text: String) throws(NotationError) {
    let scalars = Array(text.unicodeScalars)
    end = scalars.count
    func isDigit(_ index: Int) -> Bool { scalars.indices.contains(index) && (48...57).contains(scalars[index].value) }
    // Two commas between digits, and no point, are those of decimals: 48,8584 2,2945.
    let commas = scalars.indices.filter { scalars[$0] == "," && isDigit($0 - 1) && isDigit($0 + 1) }
    let hasDecimalCommas = commas.count == 2 && !scalars.contains(".")
    var index = 0
    while index < scalars.count {
      let (scalar, start) = (scalars[index], index)
      index += 1
      if scalar.properties.isWhitespace { continue }
      let token: Token
      if isDigit(start) || scalar == "." && isDigit(start + 1) {
        var number = "0"
        var isWhole = true
        index = start
        while isDigit(index) || isWhole && index < scalars.count && (scalars[index] == "." || hasDecimalCommas && commas.contains(index)) {
          if isDigit(index) { number.unicodeScalars.append(scalars[index]) } else { (isWhole, number) = (false, number + ".") }
          index += 1
        }
        guard index - start <= 30, let value = Double(number.hasSuffix(".") ? number + "0" : number) else {
          throw NotationError(.malformed, "a number of at most 30 digits", at: start)
        }
        token = .number(value, isWhole: isWhole)
      } else if let mark = Self.marks[scalar] {
        // Two marks of minutes are one of seconds.
        let isDoubled = mark == 1 && index < scalars.count && Self.marks[scalars[index]] == 1
        if isDoubled { index += 1 }
        token = .mark(isDoubled ? 2 : mark)
      } else if let (isLatitude, sign) = Self.hemispheres[scalar] {
        token = .hemisphere(isLatitude: isLatitude, sign)
      } else if ["-", "−", "–"].contains(scalar) {
        token = isDigit(start - 1) && isDigit(start + 1) ? .mark(nil) : .sign(-1)
      } else {
        switch scalar {
        case "+": token = .sign(1)
        case ":": token = .mark(nil)
        case ",", ";", "/": token = .separator
        default: throw NotationError(.malformed, "digits, signs, symbols of degrees, minutes and seconds, and N, S, E, W", at: start)
        }
      }
      tokens.append((token, start))
    }
  }

  private func offset(_ index: Int) -> Int { index < tokens.count ? tokens[index].offset : end }
  private func indices(_ isWanted: (Token) -> Bool) -> [Int] { tokens.indices.filter { isWanted(tokens[$0].token) } }

  func place(longitudeFirst: Bool) throws(NotationError) -> NotedPlace {
    let letters = indices { if case .hemisphere = $0 { true } else { false } }
    let numbers = indices { if case .number = $0 { true } else { false } }
    let separators = indices { $0 == .separator }
    guard numbers.count >= 2 else { throw NotationError(.malformed, "two angles, a latitude and a longitude", at: end) }
    guard letters.isEmpty || letters.count == 2 else {
      throw NotationError(
        .malformed, "a letter of a hemisphere for each of the two angles, or for none", at: offset(letters[letters.count > 2 ? 2 : 0]))
    }
    guard separators.count < 2 else { throw NotationError(.malformed, "one separator", at: offset(separators[1])) }
    let signs = indices { if case .sign = $0 { true } else { false } }
    let degrees = indices { $0 == .mark(0) }
    let seconds = indices { $0 == .mark(2) }
    let split: Int
    if letters.count == 2 { split = letters[0] == 0 ? letters[1] : letters[0] + 1 }
    else if let separator = separators.first { split = separator }
    else if let sign = signs.last, sign > 0 { split = sign }
    else if let degree = degrees.last, degree > 1 { split = degree - 1 }
    else if let second = seconds.first, second + 1 < tokens.count { split = second + 1 }
    else if numbers.count.isMultiple(of: 2) { split = numbers[numbers.count / 2] }
    else { throw NotationError(.malformed, "as many numbers for the latitude as for the longitude, or a separator", at: end) }
    // A separator is between the angles, and nowhere else.
    let (first, second) = (
      try angle(0..<(separators.first == split - 1 ? split - 1 : split)),
      try angle((separators.first == split ? split + 1 : split)..<tokens.count)
    )
    guard first.isLatitude == nil || first.isLatitude != second.isLatitude else {
      throw NotationError(.malformed, "one of N and S, and one of E and W", at: offset(letters[1]))
    }
    let isFirstLatitude = first.isLatitude ?? !longitudeFirst
    let (latitude, longitude) = isFirstLatitude ? (first, second) : (second, first)
    guard abs(latitude.value) <= 90 else { throw NotationError(.outside, "a latitude in -90...90", at: latitude.offset) }
    guard abs(longitude.value) <= 360 else { throw NotationError(.outside, "a longitude in -360...360", at: longitude.offset) }
    let notations: [Notation] = [.decimalDegrees, .ddm, .dms]
    return NotedPlace(
      point: Point(x: longitude.value.remainder(dividingBy: 360), y: latitude.value), cell: nil,
      notation: notations[max(first.fieldCount, second.fieldCount) - 1])
  }

  private func angle(_ range: Range<Int>) throws(NotationError) -> (value: Double, fieldCount: Int, isLatitude: Bool?, offset: Int) {
    var range = range
    var isLatitude: Bool?
    var sign: Double?
    let start = offset(range.lowerBound)
    for index in [range.first, range.last].compactMap({ $0 }) {
      guard case .hemisphere(let latitude, let direction) = tokens[index].token else { continue }
      (isLatitude, sign) = (latitude, direction)
      range = index == range.lowerBound ? index + 1..<range.upperBound : range.lowerBound..<index
      break
    }
    if let index = range.first, case .sign(let direction) = tokens[index].token {
      guard sign == nil else { throw NotationError(.malformed, "a sign or the letter of a hemisphere, not both", at: offset(index)) }
      sign = direction
      range = index + 1..<range.upperBound
    }
    var fields: [Double] = []
    var isLast = false
    var isMarked = true
    for index in range {
      switch tokens[index].token {
      case .number(let value, let isWhole):
        guard !isLast, fields.count < 3 else {
          throw NotationError(.malformed, "degrees, minutes and seconds, only the last with decimals", at: offset(index))
        }
        guard fields.isEmpty || value < 60 else {
          throw NotationError(.outside, "\(fields.count == 1 ? "minutes" : "seconds") below 60", at: offset(index))
        }
        fields.append(value)
        (isLast, isMarked) = (!isWhole, false)
      case .mark(let unit):
        guard !isMarked, unit == nil || unit == fields.count - 1 else {
          throw NotationError(.malformed, "each symbol behind its number: degrees, minutes, seconds", at: offset(index))
        }
        isMarked = true
      case .sign, .hemisphere, .separator: throw NotationError(.malformed, "degrees, minutes and seconds of one angle", at: offset(index))
      }
    }
    guard !fields.isEmpty else { throw NotationError(.malformed, "an angle", at: start) }
    // 10:20 may be one angle or two.
    if let last = range.last, tokens[last].token == .mark(nil) {
      throw NotationError(.malformed, "minutes or seconds of the same angle behind this", at: offset(last))
    }
    let total = fields.count == 1 ? fields[0] : (fields[0] * 3600 + fields[1] * 60 + (fields.count > 2 ? fields[2] : 0)) / 3600
    return ((sign ?? 1) * total + 0, fields.count, isLatitude, start)
  }
}
