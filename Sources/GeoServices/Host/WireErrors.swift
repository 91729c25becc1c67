// The one place where failures become errors of the wire.

import Elevation
import FeatureFormats
import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC

extension RPCError {
  init(_ kind: ErrorKind, _ message: String, path: String? = nil, expected: String? = nil) {
    self.init(code: kind.code, kind: kind.rawValue, message: message, path: path, expected: expected)
  }

  /// What `error` becomes; `root` is what paths start from, at `prefix`. Nil for what nobody foresaw.
  init?(_ error: any Error, in root: JSONValue?, at prefix: String) {
    func path(_ error: JSONError) -> String { prefix + (root.map { error.path(from: $0) } ?? "") }
    switch error {
    case let error as RPCError: self = error
    case let error as JSONError:
      self.init(
        .invalidParams, "Expected \(error.expected) at \(path(error)), found \(error.found).", path: path(error),
        expected: error.expected)
    case let fault as WireFault:
      self.init(
        fault.kind, "Expected \(fault.error.expected) at \(path(fault.error)), found \(fault.error.found).",
        path: path(fault.error), expected: fault.error.expected)
    case let error as ModelError where error.unknown != nil:
      self.init(error)
      if let root, let (noun, id) = error.unknown {
        self.path = Self.place(of: id, noun, in: root).map { "\(prefix)/\($0)" }
      }
    case let error as SymbologyError: self.init(error, at: prefix)
    case ModelError.symbology(let error): self.init(error, at: prefix)
    case ModelError.flow(let error): self.init(error, in: root, at: prefix)
    case let error as ModelError: self.init(error)
    case let error as TransformError: self.init(error)
    case let error as FormatError: self.init(error)
    case let error as ElevationError: self.init(error)
    case is CancellationError: self = .cancelled
    default: return nil
    }
  }

  /// Which member of params names something by its id: the one called like what is meant, or another.
  private static func place(of id: String, _ noun: String, in params: JSONValue) -> String? {
    func names(_ value: JSONValue) -> Bool { Text(try? value.string()) == Text(id) }
    if names(params.member(noun)) { return noun }
    var found: String?
    params.forEachMember { name, value in
      let name = String(decoding: name, as: UTF8.self)
      if found == nil, name != "title", name != "name", names(value) { found = name }
    }
    // What is not named as it stands in a member of that name.
    return found ?? (params.member(noun).isPresent ? noun : nil)
  }

  init(_ error: ModelError) {
    switch error {
    case .unknownID(let collection, let id):
      self = RPCError(.unknownId, "There is no \(collection.noun) \"\(id)\".").with("id", id)
    case .idExists(let id):
      self = RPCError(.idExists, "The id \"\(id)\" is taken, or was an object's that has been closed.").with("id", id)
    case .unknownItem(let noun, let id):
      self = RPCError(.unknownId, "There is no \(noun) \"\(id)\".").with("id", id)
    case .idRepeated(let id, let path):
      self = RPCError(.idExists, "\"\(id)\" stands in the list twice.", path: path).with("id", id)
    case .cycle(let cycle):
      self = RPCError(.cycle, "\"\(cycle.first ?? "")\" would lie in itself.", path: "/params/group")
        .with("paths", json: Self.json(cycle.map { "/layers/\($0)" }))
    case .tooDeeplyNested(let limit):
      self.init(
        .invalidParams, "Groups lie in one another at most \(limit) deep.", path: "/params/group",
        expected: "a group with fewer than \(limit) around it")
    case .wrongKind(let id, let kind, let expected):
      self = RPCError(
        .wrongKind, "\"\(id)\" is a \(Self.name(of: kind)).", expected: Self.list(expected.map(Self.name))
      ).with("id", id).with("found", Self.name(of: kind))
    case .noGeometry(let name):
      self.init(
        .noGeometry, "\"\(name)\" has no geometry.", path: "/params/sourceLayer", expected: "a layer with geometry")
    case .expression(let error, let path): self.init(error, at: path)
    case .cameraNeedsScene:
      self.init(.cameraNeedsScene, "A camera belongs to scenes.", expected: "a center and a scale, or a geometry")
    case .contentModified(let revision):
      self = RPCError(.contentModified, "The object has changed: its revision is \(revision).").with(
        "revision", revision)
    case .unknownMember(let name, let allowed):
      self.init(.unknownMember, "\"\(name)\" cannot be cleared.", path: "/params/clear", expected: Self.list(allowed))
    case .indexOutOfRange(let count):
      self = RPCError(.indexOutOfRange, "There are only \(count).", path: "/params/index").with("count", count)
    case .invalidScaleRange:
      self.init(
        .invalidScaleRange, "minScale has to be greater than maxScale.", expected: "minScale greater than maxScale")
    case .emptyGeometry: self.init(.emptyGeometry, "The geometry is empty.", expected: "a geometry that is not empty")
    case .invalidGeometry(let expected): self.init(.invalidGeometry, "Expected \(expected).", expected: expected)
    case .transform(let error): self.init(error)
    case .unknownSourceLayer(let name, let available):
      self = RPCError(
        .unknownSourceLayer,
        name.map { "The source has no layer \"\($0)\"." } ?? "The source has \(available.count) layers: name one.",
        path: "/params/sourceLayer", expected: Self.list(available)
      ).with("available", json: Self.json(available))
    case .sourceClosed: self.init(.sourceClosed, "The layer's source was closed before it was loaded.")
    case .notLoaded(let id): self.init(.notLoaded, "The layer \"\(id)\" has to be loaded first.")
    case .noTime(let id):
      self = RPCError(.noTime, "Nothing says when the features of \"\(id)\" are.", path: "/params/timeExtent").with(
        "id", id)
    case .clockIsReal: self.init(.clockIsReal, "Real time cannot be advanced; clock/set makes it manual.")
    case .tooManyTicks:
      self.init(.tooManyTicks, "More than a million ticks would come due, or 100,000 while something moves.")
    case .oneOf(let names):
      self.init(
        .invalidParams, "Exactly one of \(Self.list(names)) has to be there.", path: "/params",
        expected: "exactly one of \(Self.list(names))")
    case .unknownField(let name, let available, let path):
      self = RPCError(.unknownField, "There is no attribute \"\(name)\".", path: path)
        .with("available", json: Self.json(available))
    case .wrongFieldType(let name, let found, let expected, let path):
      self.init(wrongField: name, found: found.rawValue, expected: expected, at: path)
    case .items(let items, let count):
      self = RPCError(.invalidItems, "\(count) of the items are bad; nothing was changed.")
        .with("items", json: Self.json(items)).with("count", count)
    case .columnLengths(let expected, let found, let column):
      self.init(
        .columnLengths, "Column \"\(column)\" has \(found) values.", path: column.isEmpty ? nil : "/params/\(column)",
        expected: "\(expected) values")
    case .nothingToUndo: self.init(.nothingToUndo, "There is nothing more to undo.")
    case .nothingToRedo: self.init(.nothingToRedo, "There is nothing more to redo.")
    case .editInProgress: self.init(.editInProgress, "An edit is under way: end or cancel it first.")
    case .noEdit: self.init(.noEdit, "No edit is under way.")
    case .editTooLarge: self.init(.editTooLarge, "The edit is too large to be taken back; it can be ended.")
    case .symbology(let error): self.init(error, at: "/params")
    case .flow(let error): self.init(error, in: nil, at: "/params")
    case .failed(let failure): self.init(failure)
    }
  }

  /// What of a layer asks for fields that its features do not have, by its place in the state tree.
  init(_ fault: ModelError, ofLayer id: LayerID) {
    let place = ModelPath(ObjectReference(.layers, id.rawValue)).description
    self = RPCError(fault, in: nil, at: place) ?? .internalError("\(fault)")
    // Errors of the model name params.
    if let path, path.hasPrefix("/params/") { self.path = place + path.dropFirst("/params".utf8.count) }
  }

  /// A stored failure, as it was.
  init(_ failure: Failure) {
    self.init(
      ErrorKind(rawValue: failure.kind.string) ?? .internalError, failure.message.string, path: failure.path?.string,
      expected: failure.expected?.string)
  }

  init(_ error: TransformError) {
    switch error {
    case .unknownReference(let name, let reason):
      self.init(
        .unknownSpatialReference, "There is no spatial reference \"\(name.prefix(200))\": \(reason).",
        expected: "an authority code such as EPSG:4326, WKT or PROJJSON")
    case .noOperation(let source, let target):
      self = RPCError(.transformFailed, "No operation leads from \(source) to \(target).")
        .with("source", source).with("target", target)
    case .outsideDomain(let index, let source, let target):
      self = RPCError(.transformFailed, "Position \(index) has no coordinates in \(target).")
        .with("index", index).with("source", source).with("target", target)
    case .unavailable(let reason): self = Self.libraryMissing("PROJ", reason)
    }
  }

  static func libraryMissing(_ library: String, _ reason: String) -> RPCError {
    RPCError(.libraryMissing, "\(library) is not on this machine: \(reason)").with("library", library)
  }

  /// As data, for a status.
  var failure: Failure { Failure(kind: kind, message: message, path: path, expected: expected) }

  private static func name(of kind: Layer.Kind) -> String { kind.rawValue }

  private static func list(_ names: [String]) -> String { names.map { "`\($0)`" }.joined(separator: ", ") }

  static func json(_ names: [String]) -> String {
    var writer = JSONWriter(capacity: 256)
    writer.array(names) { $1.value($0) }
    return writer.string
  }

  private static func json(_ items: [ItemError]) -> String {
    var writer = JSONWriter(capacity: 256)
    writer.array(items) { item, writer in
      ErrorsProtocol.ItemFailure(
        index: item.index, kind: item.failure.kind.string, message: item.failure.message.string,
        path: item.failure.path?.string,
        expected: item.failure.expected?.string
      ).encode(to: &writer)
    }
    return writer.string
  }
}

extension ModelError {
  /// What there is not: what it is called in params, and its id.
  fileprivate var unknown: (noun: String, id: String)? {
    switch self {
    case .unknownID(let collection, let id): (collection.noun, id)
    case .unknownItem(let noun, let id): (noun, id)
    default: nil
    }
  }
}
