// Names of properties, each with a number. Features mostly repeat names in the same order, so the next name is predicted.

/// The names of all properties, in the order in which they were first seen.
struct FieldNames {
  private struct Name {
    let range: Range<Int>
    let hash: UInt64
    /// The number of the last feature with the name.
    var lastFeature = -1
    /// The number of the name that followed it last.
    var next = 0
  }

  /// More fields are left to GDAL: their order takes a search for each new pair of neighbours.
  static let limit = 4096

  private var bytes: [UInt8] = []
  private var names: [Name] = []
  private var numbers: [UInt64: Int] = [:]
  private var feature = 0
  private var last = -1
  private var first = 0
  /// Whether unknown names are added; otherwise they are ``TextStop/odd(_:)``.
  var isOpen = true

  func name(_ number: Int) -> String { String(decoding: bytes[names[number].range], as: UTF8.self) }

  /// The number of `id`.
  private(set) var idNumber: Int?

  /// Adds `id` if it is missing.
  mutating func addID() -> Int {
    if let idNumber { return idNumber }
    return [UInt8]("id".utf8).withUnsafeBytes { add($0, hashed($0)) }
  }

  /// Starts the names of the next feature.
  mutating func begin() {
    feature += 1
    last = -1
  }

  @inline(__always)
  mutating func number(of name: RawString) throws(TextStop) -> Int {
    let guess = last < 0 ? first : names[last].next
    let number = !name.hasEscapes && guess < names.count && holds(guess, name.bytes) ? guess : try search(name)
    guard names[number].lastFeature != feature else { throw .odd("a property that occurs twice") }
    names[number].lastFeature = feature
    if last < 0 { first = number } else { names[last].next = number }
    last = number
    return number
  }

  @inline(__always)
  private func holds(_ number: Int, _ name: UnsafeRawBufferPointer) -> Bool {
    let range = names[number].range
    guard range.count == name.count else { return false }
    return bytes.withUnsafeBufferPointer { known in
      for index in 0..<name.count where known[range.lowerBound + index] != name[index] { return false }
      return true
    }
  }

  @inline(never)
  private mutating func search(_ name: RawString) throws(TextStop) -> Int {
    guard name.hasEscapes else { return try search(name.bytes) }
    var decoded: [UInt8] = []
    appendDecoded(name.bytes, to: &decoded)
    // Through a `Result`, as closures of the standard library rethrow any error.
    return try decoded.withUnsafeBytes { bytes in
      Result { () throws(TextStop) in try search(bytes) }
    }.get()
  }

  private mutating func search(_ name: UnsafeRawBufferPointer) throws(TextStop) -> Int {
    let hash = hashed(name)
    if let number = numbers[hash] {
      guard holds(number, name) else { throw .odd("names with the same hash") }
      return number
    }
    // GDAL takes an empty name for the id column, which has no name.
    guard !name.isEmpty, !name.contains(0) else { throw .odd("an empty name, or one with a NUL") }
    guard isOpen else { throw .odd("a name that was not there before") }
    guard names.count < Self.limit else { throw .odd("too many fields") }
    return add(name, hash)
  }

  private mutating func add(_ name: UnsafeRawBufferPointer, _ hash: UInt64) -> Int {
    let number = names.count
    names.append(Name(range: bytes.count..<bytes.count + name.count, hash: hash, next: number + 1))
    bytes.append(contentsOf: name)
    numbers[hash] = number
    if name.elementsEqual("id".utf8) { idNumber = number }
    return number
  }
}
