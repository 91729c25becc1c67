// What is fuzzed: readers of untrusted bytes, each with a check of what it accepts and the inputs to start from.

/// A reader of untrusted bytes.
struct FuzzTarget: Sendable {
  let name: String
  /// Words of the format, which mutations insert.
  var words: [String] = []
  /// Whether inputs are JSON, which is then varied by values, too.
  var isJSON = false
  /// Inputs to start from.
  let seeds: @Sendable () throws -> [[UInt8]]
  /// Reads one input, which may be refused. What is accepted is checked.
  ///
  /// - Throws: ``Broken`` alone.
  let run: @Sendable (UnsafeRawBufferPointer) throws(Broken) -> Void

  static let all = [framer, json, wkb, wkt, coordinates, expression, document, channel, columns, geojson]
}

/// What is wrong with the result of an accepted input.
struct Broken: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

func check(_ holds: Bool, _ reason: @autoclosure () -> String) throws(Broken) {
  if !holds { throw Broken(reason()) }
}

/// The result of `body`, which must not throw.
func accepted<R, E: Error>(_ what: String, _ body: () throws(E) -> R) throws(Broken) -> R {
  do throws(E) { return try body() } catch { throw Broken("\(what): \(error)") }
}
