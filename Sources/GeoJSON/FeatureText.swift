// One feature as it is read: its id, its geometry, and its properties as tokens that refer to the buffer.

/// A property's value.
public struct PropertyToken {
  public enum Kind: UInt8, Sendable { case null, no, yes, integer, double, string, array, object }

  /// The number of the field, in the order in which names were first seen.
  public let field: Int
  public let kind: Kind
  /// Whether a string has escapes.
  public let hasEscapes: Bool
  /// The string without its quotes; the text of an array or object.
  public let text: UnsafeRawBufferPointer
  /// An integer, or the pattern of a double.
  let bits: UInt64

  public var integer: Int64 { Int64(bitPattern: bits) }
  public var double: Double { kind == .integer ? Double(integer) : Double(bitPattern: bits) }
}

/// The id of a feature outside of its properties.
public enum FeatureIdentifier {
  case none
  case integer(Int64)
  case string(RawString)
}

public struct FeatureText {
  public internal(set) var id = FeatureIdentifier.none
  public internal(set) var geometry = GeometryText()
  public internal(set) var properties: [PropertyToken] = []
  /// Whether its properties are null.
  var isBare = false
  var nestedNames: OpenNames? = OpenNames()
}

extension FeatureText {
  /// Reads the feature; the scanner is at its opening brace.
  mutating func read(_ scanner: inout TextScanner, _ fields: inout FieldNames) throws(TextStop) {
    id = .none
    isBare = false
    geometry.reset()
    properties.removeAll(keepingCapacity: true)
    scanner.at += 1
    var seen = Seen()
    var hasOthers = false
    repeat {
      let name = try scanner.name()
      switch GeoJSONName(name) {
      case .type:
        try seen.note(.type)
        guard scanner.next() == UInt8(ascii: "\"") else { throw scanner.at >= scanner.end ? .more : .odd("a type") }
        scanner.at += 1
        guard try scanner.string().equals("Feature") else { throw .odd("a member that is no feature") }
      case .id:
        try seen.note(.id)
        id = try Self.id(&scanner)
      case .geometry:
        try seen.note(.geometry)
        try geometry.read(&scanner)
      case .properties:
        try seen.note(.properties)
        try readProperties(&scanner, &fields)
      case .similar: throw .odd("a name that GDAL takes for another")
      case .bbox: try scanner.skipValue()
      default:
        hasOthers = true
        try scanner.skipValue()
      }
    } while try scanner.goesOn(UInt8(ascii: "}"))
    // GDAL takes the other members as properties if there are none.
    guard seen.contains(.type), seen.contains(.properties), !(isBare && hasOthers) else {
      throw .odd("a feature without a type or properties")
    }
  }

  private static func id(_ scanner: inout TextScanner) throws(TextStop) -> FeatureIdentifier {
    let byte = scanner.next()
    switch byte {
    case UInt8(ascii: "\""):
      scanner.at += 1
      return .string(try scanner.string())
    case UInt8(ascii: "n"):
      try scanner.literal("null")
      return .none
    default:
      guard TextScanner.beginsNumber(byte) else { throw scanner.at >= scanner.end ? .more : .odd("an id of this type") }
      let number = try scanner.number()
      guard number.isInteger else { throw .odd("an id that is no integer") }
      return .integer(number.integer)
    }
  }

  // MARK: Properties

  private mutating func readProperties(_ scanner: inout TextScanner, _ fields: inout FieldNames) throws(TextStop) {
    let byte = scanner.next()
    if byte == UInt8(ascii: "n") {
      isBare = true
      return try scanner.literal("null")
    }
    guard byte == UInt8(ascii: "{") else { throw scanner.at >= scanner.end ? .more : .odd("properties of this type") }
    scanner.at += 1
    if scanner.next() == UInt8(ascii: "}") {
      scanner.at += 1
      return
    }
    fields.begin()
    repeat {
      let name = try scanner.name()
      let field = try fields.number(of: name)
      properties.append(try token(&scanner, field))
    } while try scanner.goesOn(UInt8(ascii: "}"))
  }

  @inline(__always)
  private mutating func token(_ scanner: inout TextScanner, _ field: Int) throws(TextStop) -> PropertyToken {
    let byte = scanner.next()
    if byte == UInt8(ascii: "\"") {
      scanner.at += 1
      let string = try scanner.string()
      return PropertyToken(field: field, kind: .string, hasEscapes: string.hasEscapes, text: string.bytes, bits: 0)
    }
    if TextScanner.beginsNumber(byte) {
      let number = try scanner.number()
      return PropertyToken(
        field: field, kind: number.isInteger ? .integer : .double, hasEscapes: false, text: .init(start: nil, count: 0),
        bits: number.bits)
    }
    return try otherToken(&scanner, field, byte)
  }

  @inline(never)
  private mutating func otherToken(
    _ scanner: inout TextScanner, _ field: Int, _ byte: UInt8
  ) throws(TextStop) -> PropertyToken {
    let start = scanner.at
    let kind: PropertyToken.Kind =
      switch byte {
      case UInt8(ascii: "n"): .null
      case UInt8(ascii: "t"): .yes
      case UInt8(ascii: "f"): .no
      case UInt8(ascii: "["): .array
      default: .object
      }
    nestedNames = OpenNames()
    try scanner.skipValue(&nestedNames)
    let text = UnsafeRawBufferPointer(start: start, count: scanner.at - start)
    return PropertyToken(field: field, kind: kind, hasEscapes: false, text: text, bits: 0)
  }
}

/// The members of a feature read so far.
private struct Seen: OptionSet {
  let rawValue: UInt8
  static let type = Seen(rawValue: 1)
  static let id = Seen(rawValue: 2)
  static let geometry = Seen(rawValue: 4)
  static let properties = Seen(rawValue: 8)

  mutating func note(_ member: Seen) throws(TextStop) {
    guard insert(member).inserted else { throw .odd("a member that occurs twice") }
  }
}
