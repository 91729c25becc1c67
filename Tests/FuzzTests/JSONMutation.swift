// Variations of a JSON text by values: bytes that are changed at random seldom give JSON that means something else.

import JSON

/// Writes a document with a change at one of its values.
struct JSONMutation {
  private enum Change: CaseIterable { case leaveOut, replace, exchange, twice, number, rename, add }

  private var random: Random
  private let change: Change
  /// The value to be changed, by its number in the order of the text.
  private let chosen: Int
  private let values: [JSONValue]
  private let names: [[UInt8]]
  private var number = 0

  /// Nil if the text is no JSON.
  static func variation(of text: UnsafeRawBufferPointer, _ seed: UInt32) -> [UInt8]? {
    guard let document = try? JSONDocument(text) else { return nil }
    return document.read { root in
      var all: [JSONValue] = []
      var names: [[UInt8]] = []
      collect(root, &all, &names)
      var mutation = JSONMutation(all, names, seed)
      var writer = JSONWriter(capacity: text.count + 64)
      mutation.write(root, nil, to: &writer)
      return Array(writer.bytes)
    }
  }

  private init(_ values: [JSONValue], _ names: [[UInt8]], _ seed: UInt32) {
    random = Random(state: UInt64(seed))
    change = Change.allCases.randomElement(using: &random) ?? .replace
    chosen = values.count > 1 ? Int.random(in: 1..<values.count, using: &random) : 0
    self.values = values
    self.names = names
  }

  private static func collect(_ value: JSONValue, _ all: inout [JSONValue], _ names: inout [[UInt8]]) {
    all.append(value)
    switch value.kind {
    case .array: for index in 0..<value.count { collect(value[index], &all, &names) }
    case .object:
      value.forEachMember { name, member in
        names.append(Array(name))
        collect(member, &all, &names)
      }
    default: break
    }
  }

  /// Writes a value, behind its name if it is a member.
  private mutating func write(_ value: JSONValue, _ name: [UInt8]?, to writer: inout JSONWriter) {
    let isChosen = number == chosen
    number += 1
    if isChosen, change == .leaveOut, number > 1 { return skip(value) }
    let other = isChosen && change == .rename ? names.randomElement(using: &random) : nil
    if let name = other ?? name { name.withUnsafeBufferPointer { writer.key(utf8: $0) } }
    guard isChosen else { return writeContents(value, to: &writer) }
    switch change {
    case .replace: writer.raw(interesting())
    case .exchange: values.randomElement(using: &random)?.encode(to: &writer)
    case .number: writer.raw(changedNumber(value.number ?? 0))
    case .twice where name == nil:
      value.encode(to: &writer)
      value.encode(to: &writer)
    case .add where value.kind == .object || value.kind == .array:
      return writeContents(value, to: &writer, isAdding: true)
    default: return writeContents(value, to: &writer)
    }
    skip(value)
  }

  private mutating func writeContents(_ value: JSONValue, to writer: inout JSONWriter, isAdding: Bool = false) {
    switch value.kind {
    case .array:
      writer.beginArray()
      for index in 0..<value.count { write(value[index], nil, to: &writer) }
      if isAdding { values.randomElement(using: &random)?.encode(to: &writer) }
      writer.endArray()
    case .object:
      writer.beginObject()
      value.forEachMember { name, member in write(member, Array(name), to: &writer) }
      if isAdding, let name = names.randomElement(using: &random) {
        name.withUnsafeBufferPointer { writer.key(utf8: $0) }
        values.randomElement(using: &random)?.encode(to: &writer)
      }
      writer.endObject()
    default: value.encode(to: &writer)
    }
  }

  /// Counts what is within a value that was written otherwise.
  private mutating func skip(_ value: JSONValue) {
    var all: [JSONValue] = []
    var names: [[UInt8]] = []
    Self.collect(value, &all, &names)
    number += all.count - 1
  }

  private mutating func interesting() -> String {
    let texts = [
      "null", "true", "false", "0", "-1", "1", "[]", "{}", "\"\"", "\"a\"", "1e300", "-1e300", "1e-300", "-1e-15",
      "360", "359.99999999999997",
      "1e15", "1e16", "1e9", "90", "180.00000000000003", "9007199254740993", "9223372036854775807", "2147483648",
      "100000000000000",
      "\"EPSG:4326\"", "\"EPSG:3857\"", "\"EPSG:32633\"", "\"1 = 1\"", "\"#FF0000\"", "\"2024-01-01T00:00:00Z\"",
      "[0,0]", "\"/maps/m1\"",
      #"{"type":"Point","coordinates":[180,90]}"#, #"{"type":"WKT","text":"POINT M (1 2 3)"}"#,
      #"{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[]}]}"#,
    ]
    return texts.randomElement(using: &random) ?? "null"
  }

  private mutating func changedNumber(_ value: Double) -> String {
    let changed = [-value, value + 1, value.nextUp, value.nextDown, value * 10, value / 3, value * 1e9, value * 1e-9]
    let number = changed.randomElement(using: &random) ?? 0
    return number.isFinite ? "\(number)" : "0"
  }
}

private struct Random: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    var mixed = state
    mixed = (mixed ^ (mixed >> 33)) &* 0xFF51_AFD7_ED55_8CCD
    return mixed ^ (mixed >> 33)
  }
}
