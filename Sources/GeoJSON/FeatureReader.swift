// Reads the features of a collection, or of a sequence of them, one by one.

/// Walks through a file once.
///
/// Reading advances in steps. A step that reaches the end of the buffer is repeated from its beginning after more text was read.
public struct FeatureReader: ~Copyable {
  /// What the next step expects.
  enum State {
    case start
    /// A member of the collection.
    case member
    /// An item of the array `features`.
    case firstFeature, furtherFeature, afterFeatures
    /// Nothing but white space.
    case tail
    /// A feature of a sequence.
    case sequence
  }

  /// Result of a step.
  enum Step { case moved, feature }

  private var window: TextWindow
  private var place = 0
  private var state = State.start
  private var names = FieldNames()
  private let allowsSequence: Bool
  /// Whether a file of nothing but white space is an empty sequence.
  private let allowsNothing: Bool
  /// The feature that was read last; its strings are valid until the next is read.
  public private(set) var feature = FeatureText()
  var collection = CollectionMembers()
  var sequence = SequenceState()

  /// - Parameters:
  ///   - allowsSequence: whether the text may be a sequence.
  ///   - allowsNothing: whether a text of nothing but white space is an empty sequence.
  ///   - source: reads the file's next bytes into a buffer; returns their number, 0 at the end.
  public init(
    allowsSequence: Bool, allowsNothing: Bool = false, _ source: @escaping (UnsafeMutableRawBufferPointer) -> Int
  ) {
    window = TextWindow(source)
    self.allowsSequence = allowsSequence
    self.allowsNothing = allowsNothing
  }

  /// Reads the features of a layer that has been scanned; a name that the scan has not seen is ``TextStop/odd(_:)``.
  public init(_ layer: TextLayer, _ source: @escaping (UnsafeMutableRawBufferPointer) -> Int) {
    window = TextWindow(source)
    names = layer.names
    names.isOpen = false
    allowsSequence = true
    allowsNothing = layer.featureCount == 0
  }

  /// Reads the whole file to determine its layer.
  ///
  /// - Throws: ``TextStop/odd(_:)`` for JSON that is left to GDAL.
  /// - Complexity: O(n) in the file, in memory for one feature.
  public mutating func scan() throws(TextStop) -> TextLayer {
    var schema = LayerSchema()
    while try next() { try schema.include(feature, &names) }
    if schema.count == 0, case .start = state { sequence.isOne = true }
    // A single feature without a separator is not a sequence.
    guard sequence.isOne ? schema.count != 1 || sequence.hasSeparators : collection.isComplete else {
      throw .odd("no collection of features")
    }
    return try schema.layer(
      sequence.isOne ? .sequence : .collection, name: collection.name ?? nil, reference: collection.reference ?? nil,
      names)
  }

  /// Reads the next feature.
  ///
  /// - Returns: false after the last feature, when the file has been read to its end.
  public mutating func next() throws(TextStop) -> Bool {
    while true {
      var scanner = window.scanner(from: place)
      do throws(TextStop) {
        let step = try self.step(&scanner)
        place = scanner.offset
        if step == .feature { return true }
      } catch {
        guard case .more = error else { throw error }
        guard try window.refill(keepingFrom: place) else {
          guard mayEnd else { throw .broken(offset: window.count, expected: "more: the text ends here") }
          return false
        }
        place = 0
      }
    }
  }

  private mutating func step(_ scanner: inout TextScanner) throws(TextStop) -> Step {
    switch state {
    case .furtherFeature:
      guard try scanner.goesOn(UInt8(ascii: "]")) else {
        state = .afterFeatures
        return .moved
      }
      try readFeature(&scanner)
      return .feature
    case .sequence:
      try sequence.skipSeparators(&scanner)
      try readFeature(&scanner)
      sequence.isBehindFirst = true
      return .feature
    case .firstFeature:
      if scanner.next() == UInt8(ascii: "]") {
        scanner.at += 1
        state = .afterFeatures
        return .moved
      }
      try readFeature(&scanner)
      state = .furtherFeature
      return .feature
    case .start: state = try start(&scanner)
    case .member: state = try collection.read(&scanner)
    case .afterFeatures: state = try scanner.goesOn(UInt8(ascii: "}")) ? .member : .tail
    case .tail:
      _ = scanner.next()
      throw scanner.stop(at: scanner.at, "nothing behind the end")
    }
    return .moved
  }

  @inline(__always)
  private mutating func readFeature(_ scanner: inout TextScanner) throws(TextStop) {
    guard scanner.next() == UInt8(ascii: "{") else { throw scanner.at >= scanner.end ? .more : .odd("no feature") }
    try feature.read(&scanner, &names)
  }

  /// Determines from the first object whether the text is a collection or, by the object's type, a sequence of features.
  private mutating func start(_ scanner: inout TextScanner) throws(TextStop) -> State {
    guard scanner.end - scanner.at >= 3 || window.isAtEnd else { throw .more }
    scanner.skipByteOrderMark()
    let byte = scanner.next()
    let isFeature = byte == UInt8(ascii: "{") ? try Self.isFeature(scanner) : false
    if isFeature || byte == 0x1E {
      guard allowsSequence else { throw .odd("a feature") }
      sequence.isOne = true
      return .sequence
    }
    guard byte == UInt8(ascii: "{") else { throw scanner.at >= scanner.end ? .more : .odd("no object") }
    scanner.at += 1
    return .member
  }

  private static func isFeature(_ scanner: TextScanner) throws(TextStop) -> Bool {
    var scanner = scanner
    scanner.at += 1
    repeat {
      let name = try scanner.name()
      if name.equals("features") { return false }
      if name.equals("type"), scanner.next() == UInt8(ascii: "\"") {
        scanner.at += 1
        return try scanner.string().equals("Feature")
      }
      try scanner.skipValue()
    } while try scanner.goesOn(UInt8(ascii: "}"))
    return false
  }

  /// Whether the text is complete at the end of the buffer.
  private var mayEnd: Bool {
    var scanner = window.scanner(from: place)
    switch state {
    case .tail: break
    case .start where allowsNothing: scanner.skipByteOrderMark()
    case .sequence: while scanner.next() == 0x1E { scanner.at += 1 }
    default: return false
    }
    _ = scanner.next()
    return scanner.at >= scanner.end
  }
}

/// The members of a collection other than its features, each at most once.
struct CollectionMembers {
  private var hasType = false
  private var hasFeatures = false
  private(set) var name: String??
  /// The text of the member `crs`.
  private(set) var reference: String??

  var isComplete: Bool { hasType && hasFeatures }

  /// Reads one member, and the comma or brace after it.
  mutating func read(_ scanner: inout TextScanner) throws(TextStop) -> FeatureReader.State {
    let member = GeoJSONName(try scanner.name())
    let byte = scanner.next()
    let start = scanner.at
    var found: String?
    switch member {
    case .features:
      guard !hasFeatures, byte == UInt8(ascii: "[") else { throw byte == 0 ? .more : .odd("other features") }
      scanner.at += 1
      hasFeatures = true
      return .firstFeature
    case .type, .name:
      if byte == UInt8(ascii: "\"") {
        scanner.at += 1
        found = Self.decoded(try scanner.string())
      } else {
        try scanner.skipValue()
      }
    case .crs:
      try scanner.skipValue()
      if byte != UInt8(ascii: "n") {
        found = String(decoding: UnsafeRawBufferPointer(start: start, count: scanner.at - start), as: UTF8.self)
      }
    case .similar: throw .odd("a name that GDAL takes for another")
    default: try scanner.skipValue()
    }
    let goesOn = try scanner.goesOn(UInt8(ascii: "}"))
    switch member {
    case .type:
      guard found == "FeatureCollection", !hasType else { throw .odd("no collection") }
      hasType = true
    case .name:
      guard name == nil else { throw .odd("two names") }
      name = .some(found)
    case .crs:
      guard reference == nil else { throw .odd("two references") }
      reference = .some(found)
    default: break
    }
    return goesOn ? .member : .tail
  }

  private static func decoded(_ string: RawString) -> String {
    var bytes: [UInt8] = []
    appendDecoded(string.bytes, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Features in sequence, each on a line of its own or after a record separator (RFC 8142).
struct SequenceState {
  var isOne = false
  var isBehindFirst = false
  private(set) var hasSeparators = false

  mutating func skipSeparators(_ scanner: inout TextScanner) throws(TextStop) {
    let start = scanner.at
    while scanner.next() == 0x1E {
      hasSeparators = true
      scanner.at += 1
    }
    guard isBehindFirst, !hasSeparators, scanner.at < scanner.end else { return }
    let between = UnsafeRawBufferPointer(start: start, count: scanner.at - start)
    guard between.contains(0x0A) else { throw .odd("two features on a line") }
  }
}
