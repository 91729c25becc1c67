// Work on many objects takes time in proportion to their number: for each kind of object, in thousands, ten thousands and
// a hundred thousand.

import Foundation
import TestSupport
import Testing

/// A kind of object, and how many of it are made and closed.
struct ManyObjects: Sendable, CustomTestStringConvertible {
  let name: String
  /// Commands that precede the objects.
  var before: [String] = []
  /// The command that makes the object of an id.
  let create: @Sendable (String) -> String
  /// The command that closes it.
  let close: @Sendable (String) -> String
  /// The command that closes them all; nil where nothing owns them.
  var closeOwner: String?
  /// Whether undo restores them.
  var isUndoable = true
  /// Whether documents contain them.
  var isSaved = true

  var testDescription: String { name }

  static func command(_ method: String, _ params: String) -> String {
    #"{"method":"\#(method)","params":{\#(params)}}"#
  }

  private static let map = command("map/create", #""id":"m""#)
  private static let view = command("view/create", #""id":"v","map":"m""#)
  private static let properties = #""properties":[{"name":"p","type":"integer"}]"#

  private static func layer(_ id: String) -> String { command("layer/remove", #""layer":"\#(id)""#) }
  private static func model(_ id: String) -> String { command("viewModel/close", #""viewModel":"\#(id)""#) }

  static let all: [ManyObjects] = [
    ManyObjects(
      name: "maps", create: { command("map/create", #""id":"\#($0)""#) },
      close: { command("map/close", #""map":"\#($0)""#) }),
    ManyObjects(
      name: "views", before: [map], create: { command("view/create", #""id":"\#($0)","map":"m""#) },
      close: { command("view/close", #""view":"\#($0)""#) }, closeOwner: command("map/close", #""map":"m""#),
      isUndoable: false),
    ManyObjects(
      name: "overlays", before: [map, view], create: { command("overlay/create", #""id":"\#($0)","view":"v""#) },
      close: { command("overlay/close", #""overlay":"\#($0)""#) }, closeOwner: command("view/close", #""view":"v""#)),
    ManyObjects(
      name: "groups", before: [map, view],
      create: { command("layer/addGroup", #""id":"\#($0)","map":"m","name":"g""#) }, close: layer,
      closeOwner: command("map/close", #""map":"m""#)),
    ManyObjects(
      name: "layers", before: [map],
      create: { command("layer/add", #""id":"\#($0)","map":"m","source":"s""#) }, close: layer,
      closeOwner: command("map/close", #""map":"m""#)),
    ManyObjects(
      name: "view models", create: { command("viewModel/create", #""id":"\#($0)",\#(properties)"#) }, close: model),
    ManyObjects(
      name: "owned and derived view models", before: [map],
      create: {
        let derived = #"{"name":"q","type":"integer","derived":{"expression":"p + 1"}}"#
        return command(
          "viewModel/create",
          #""id":"\#($0)","owner":"m","properties":[{"name":"p","type":"integer"},\#(derived)]"#)
      }, close: model, closeOwner: command("map/close", #""map":"m""#)),
    ManyObjects(
      name: "bindings", before: [map],
      create: { command("binding/create", #""id":"\#($0)","path":"/maps/m/title""#) },
      close: { command("binding/close", #""binding":"\#($0)""#) }, closeOwner: command("map/close", #""map":"m""#),
      isUndoable: false, isSaved: false),
    ManyObjects(
      name: "links",
      before: [
        command("viewModel/create", #""id":"a",\#(properties)"#),
        command("viewModel/create", #""id":"b",\#(properties)"#),
      ],
      create: {
        command(
          "binding/link",
          #""id":"\#($0)","first":"/viewModels/a/p","second":"/viewModels/b/p","direction":"firstToSecond""#)
      }, close: { command("binding/unlink", #""link":"\#($0)""#) },
      closeOwner: command("viewModel/close", #""viewModel":"a""#), isUndoable: false, isSaved: false),
  ]
}

@Suite(.serialized, .enabled(if: isBenchmark)) struct ScaleTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test(arguments: ManyObjects.all) func `work grows with the objects, and no faster`(kind: ManyObjects) throws {
    var samples: [String: [(count: Int, seconds: Double)]] = [:]
    for (count, runs) in [(1_000, 5), (10_000, 5), (100_000, 2)] {
      var fastest: [String: Double] = [:]
      for _ in 0..<runs { fastest.merge(try times(of: kind, count), uniquingKeysWith: min) }
      for (action, seconds) in fastest { samples[action, default: []].append((count, seconds)) }
    }
    for (action, samples) in samples {
      let exponent = Self.exponent(samples)
      #expect(exponent <= 1.15, "\(action) of \(kind.name): \(samples)")
    }
  }

  /// The slope of a line through the logarithms.
  private static func exponent(_ samples: [(count: Int, seconds: Double)]) -> Double {
    // What takes less than a microsecond an object is not measured, but what surrounds it.
    let points = samples.map { (x: log(Double($0.count)), y: log(max($0.seconds, 1e-6 * Double(samples[0].count)))) }
    let middle = points.reduce((0, 0)) { ($0.0 + $1.x / Double(points.count), $0.1 + $1.y / Double(points.count)) }
    let rise = points.reduce(0) { $0 + ($1.x - middle.0) * ($1.y - middle.1) }
    return rise / points.reduce(0) { $0 + ($1.x - middle.0) * ($1.x - middle.0) }
  }

  /// Processor time of each action.
  private func times(of kind: ManyObjects, _ count: Int) throws -> [String: Double] {
    let server = try MemoryServer()
    try server.call(
      "source/openInline",
      ["id": "s", "data": ["type": "FeatureCollection", "features": [["type": "Feature", "properties": ["a": 1]]]]])
    var times: [String: Double] = [:]
    func run(_ action: String, _ method: String, _ params: String) throws {
      let text = #"{"jsonrpc":"2.0","id":"\#(action)","method":"\#(method)","params":{\#(params)}}"#
      times[action] = processorTime { server.connection.send(text + "\n") }
      let answer = server.connection.takeOutput()
      #expect(answer.starts(with: #"{"jsonrpc":"2.0","id":"\#(action)","result""#.utf8), "\(kind.name), \(action)")
    }
    func apply(_ action: String, _ commands: [String]) throws {
      try run(action, "model/apply", #""commands":[\#(commands.joined(separator: ","))]"#)
    }
    let file = #""path":"\#(folder.path("\(kind.name).json"))""#
    if !kind.before.isEmpty { try apply("before", kind.before) }
    let ids = (0..<count).map { "x\($0)" }
    try apply("create", ids.map(kind.create))
    if kind.isUndoable {
      try run("undo", "edit/undo", "")
      try run("redo", "edit/redo", "")
    }
    try run("save", "document/saveAs", file)
    try apply("close", ids.map(kind.close))
    // Beyond the memory that history may take, there is nothing to undo.
    let canUndo = try server.call("edit/history")["undo"]?.array?.isEmpty == false
    if kind.isUndoable, canUndo { try run("undo of close", "edit/undo", "") }
    try run("open", "document/open", file)
    if !kind.isSaved { try apply("again", ids.map { kind.create("y" + $0) }) }
    if let owner = kind.closeOwner { try apply("close owner", [owner]) }
    if kind.isSaved { try run("revert", "document/revert", "") }
    try run("new", "document/new", "")
    return times.filter { !["before", "again"].contains($0.key) }
  }
}
