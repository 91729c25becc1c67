// Converts all errors to errors of the wire. No other code does.

import FeatureStore
import GeoModel
import GeoProtocol
import Geometry
import GridReferences
import JSON
import JSONRPC
import Planning
import Reading
import SpatialRelations
import Statistics

extension RPCError {
  package init(_ kind: ErrorKind, _ message: String, path: String? = nil, expected: String? = nil) {
    self.init(code: kind.code, kind: kind.rawValue, message: message, path: path, expected: expected)
  }

  /// The wire form of an error; nil for an error of unknown type.
  ///
  /// - Parameters:
  ///   - root: the value from which the error's path starts.
  ///   - prefix: the JSON Pointer of `root` in the request.
  ///   - world: used to list existing ids, for an unknown id.
  ///   - searches: whether to search `root` for the error's subject; otherwise only a known path is used.
  package init?(
    _ error: any Error, in root: JSONValue?, at prefix: String, _ world: World? = nil, searches: Bool = true
  ) {
    let place = ErrorPlace(root: searches ? root : nil, prefix: prefix)
    func invalid(_ kind: ErrorKind, _ error: JSONError) -> RPCError {
      let path = prefix + (root.map { error.path(from: $0) } ?? "")
      var wire = RPCError.invalidParams(error, path: path)
      (wire.code, wire.kind) = (kind.code, kind.rawValue)
      return wire
    }
    switch error {
    case let error as RPCError: self = error
    case let nested as NestedError where nested.error is RPCError:
      // Made where the member is all that is known.
      guard var error = nested.error as? RPCError else { return nil }
      if let path = error.path, path.utf8.starts(with: "/params".utf8) { error.path = "\(prefix)/\(nested.member)\(path.dropFirst(7))" }
      self = error
    case let nested as NestedError:
      self.init(
        nested.error, in: root?.member(nested.member), at: "\(prefix)/\(nested.member)", world, searches: searches)
    case let error as JSONError: self = invalid(.invalidParams, error)
    case let fault as WireFault: self = invalid(fault.kind, fault.error)
    case let error as SymbologyError: self.init(error, at: prefix)
    case let error as ModelError: self.init(error, in: root, at: prefix, place, world)
    case let error as TransformError: self.init(error, place)
    case let error as NotationError: self.init(error, at: prefix)
    case let error as QueryError: self.init(error, at: prefix)
    case let error as TooManyGroups: self.init(error)
    case let error as SpatialError: self.init(error, at: prefix + "/geometry")
    case let error as ReadError: self.init(error, place)
    case is CancellationError: self = .cancelled
    default: return nil
    }
  }

  /// The member of params that contains an id; preferably the one named after the kind of object.
  private static func member(naming id: String, _ noun: String, in params: JSONValue) -> String? {
    func names(_ value: JSONValue) -> Bool { Text(try? value.string()) == Text(id) }
    if names(params.member(noun)) { return noun }
    let found = params.members.first { name, value in name != "title" && name != "name" && names(value) }?.name
    // The member of that name may contain the id in another form, such as a list.
    return found ?? (params.member(noun).isPresent ? noun : nil)
  }

  /// - Parameter known: the existing ids.
  private init(
    unknown noun: String, _ id: String, in root: JSONValue?, at prefix: String, _ place: ErrorPlace,
    pointer: String? = nil, known: [String] = []
  ) {
    let member = root.flatMap { Self.member(naming: id, noun, in: $0) }.map { "\(prefix)/\($0)" }
    let path = member ?? pointer.flatMap { place.path(toPathOf: $0) } ?? place.path(toText: id)
    self = RPCError(
      .unknownId, "There is no \(noun) \"\(id)\"\(Suggestion(for: id, among: known.contains(id) ? [] : known).end)",
      path: path
    ).with("id", id)
  }

  /// - Parameters:
  ///   - root: the params in which the error's path is searched; nil for an error without params.
  ///   - prefix: the JSON Pointer from which the error's paths start.
  package init(_ error: ModelError, in root: JSONValue? = nil, at prefix: String = "/params") {
    self.init(error, in: root, at: prefix, ErrorPlace(root: root, prefix: prefix), nil)
  }

  private init(
    _ error: ModelError, in root: JSONValue?, at prefix: String, _ place: ErrorPlace, _ world: World?
  ) {
    switch error {
    case .unknownID(let collection, let id):
      let pointer = ModelPath(ObjectReference(collection, id)).description
      self.init(
        unknown: collection.noun, id, in: root, at: prefix, place, pointer: pointer,
        known: world?.ids(of: collection) ?? [])
    case .idExists(let id, let holder, let isClosed):
      let reason =
        isClosed
        ? "a closed \(holder), which undo or redo can restore"
        : "\(holder == "overlay" || holder == "elevationSource" ? "an" : "a") \(holder)"
      let path = place.path(toText: id, in: ["id"])
      let isOfNew = path == "/params/id" && !isClosed && holder != "bookmark"
      self = RPCError(
        .idExists, "The id \"\(id)\" is that of \(reason).", path: path,
        expected: isOfNew ? "an id that is free, or, of the same kind, ifExists: reuse or replace" : nil
      ).with("id", id).with("holder", holder)
    case .unknownItem(let noun, let id): self.init(unknown: noun, id, in: root, at: prefix, place)
    case .idRepeated(let id, let path):
      self = RPCError(.idExists, "The list contains \"\(id)\" twice.", path: prefix + path).with("id", id)
    case .cycle(let cycle):
      self = RPCError(.cycle, "\"\(cycle.first ?? "")\" would contain itself.", path: prefix + "/group")
        .with("paths", cycle.map { "/layers/\($0)" })
    case .tooDeeplyNested(let limit):
      self.init(
        .invalidParams, "Groups can be nested at most \(limit) deep.", path: prefix + "/group",
        expected: "a group with fewer than \(limit) levels around it")
    case .tooManyOwners(let limit):
      self.init(
        .invalidParams, "Owners can be nested at most \(limit) deep.", path: prefix + "/owner",
        expected: "an owner with fewer than \(limit) owners around it")
    case .wrongKind(let id, let kind, let expected):
      self = RPCError(
        .wrongKind, "\"\(id)\" is a \(kind.rawValue).", path: place.path(toText: id),
        expected: Self.list(expected.map(\.rawValue))
      ).with("id", id).with("found", kind.rawValue)
    case .wrongLocationKind(let id, let kind, let expected):
      self = RPCError(
        .wrongSourceKind, "\"\(id)\" is \(kind.rawValue).", path: place.path(toText: id), expected: Self.list(expected.map(\.rawValue))
      ).with("id", id).with("found", kind.rawValue)
    case .notStarted(let id):
      self = RPCError(
        .notStarted, "\"\(id)\" is not started.", path: place.path(toText: id), expected: "a source that location/start has started"
      ).with("id", id)
    case .jobStatus(let id, let action, let found):
      let expected =
        switch action {
        case .start: "notStarted` or `paused"
        case .pause, .cancel: "started"
        case .resume: "paused"
        }
      self = RPCError(
        .jobStatus, "\"\(id)\" is \(found).", path: place.path(toText: id), expected: "a job that is `\(expected)`"
      ).with("id", id).with("status", found)
    case .noGeometry(let name, let columns):
      let source = columns.isEmpty ? nil : columns.map { "`\($0)`" }.joined(separator: ", ")
      self = RPCError(
        .noGeometry,
        "\"\(name)\" has no geometry"
          + (source.map { ": `xField` and `yField` of source/open name its columns, of \($0)." } ?? "."),
        path: prefix + "/sourceLayer", expected: "a layer with geometry"
      ).with("available", columns.isEmpty ? nil : columns)
    case .expression(let error, let path): self.init(error, at: prefix + path)
    case .cameraNeedsScene:
      self.init(
        .cameraNeedsScene, "A camera belongs to scenes.", path: place.path(toMember: "viewpoint", "camera", "cameraController"),
        expected: "a center and a scale, or a geometry")
    case .contentModified(let revision):
      self = RPCError(.contentModified, "The object has changed: its revision is \(revision).").with(
        "revision", revision)
    case .unknownMember(let name, let allowed):
      self.init(.unknownMember, "\"\(name)\" cannot be cleared.", path: prefix + "/clear", expected: Self.list(allowed))
    case .indexOutOfRange(let count):
      self = RPCError(.indexOutOfRange, "The index is beyond the \(count) elements.", path: prefix + "/index").with(
        "count", count)
    case .invalidScaleRange:
      self.init(
        .invalidScaleRange, "minScale has to be greater than maxScale.",
        path: place.path(toMember: "minScale", "maxScale", "value"), expected: "minScale greater than maxScale")
    case .outOfRange(let number, let expected, let path):
      self.init(
        .outOfRange, "Expected \(expected) at \(prefix)\(path), found \(number.jsonText).", path: prefix + path,
        expected: expected)
    case .emptyGeometry:
      self.init(
        .emptyGeometry, "The geometry is empty.", path: place.pathToGeometry, expected: "a geometry that is not empty")
    case .invalidGeometry(let expected):
      self.init(.invalidGeometry, "Expected \(expected).", path: place.pathToGeometry, expected: expected)
    case .transform(let error): self.init(error, place)
    case .unknownSourceLayer(let name, let available):
      self = RPCError(
        .unknownSourceLayer,
        name.map { "The source has no layer \"\($0)\"\(Suggestion(for: $0, among: available).end)" }
          ?? "The source has \(available.count) layers: name one.",
        path: prefix + "/sourceLayer", expected: Self.list(available)
      ).with("available", available)
    case .sourceClosed: self.init(.sourceClosed, "The layer's source was closed before it was loaded.")
    case .notLoaded(let id):
      self.init(.notLoaded, "The layer \"\(id)\" is not loaded: layer/load loads it.", path: place.path(toText: id))
    case .notConnected(let id):
      self = RPCError(
        .notConnected, "The entity source \"\(id.rawValue)\" is not connected: entity/connect connects it.",
        path: place.path(toText: id.rawValue)
      ).with("id", id.rawValue)
    case .noTime(let id):
      self = RPCError(.noTime, "\"\(id)\" has no time settings.", path: prefix + "/timeExtent").with("id", id)
    case .clockIsReal: self.init(.clockIsReal, "Real time cannot be advanced; clock/set makes it manual.")
    case .tooManyTicks:
      self.init(.tooManyTicks, "The advance takes more than a million ticks, or 100,000 during an animation.")
    case .oneOf(let names):
      self.init(
        .invalidParams, "Exactly one of \(Self.list(names)) is required.", path: prefix,
        expected: "exactly one of \(Self.list(names))")
    case .unknownField(let name, let available, let path):
      self.init(.unknownField, no: "attribute", name, among: available, at: prefix + path)
    case .wrongFieldType(let name, let found, let expected, let path):
      self.init(wrongField: name, found: found.rawValue, expected: expected, at: prefix + path)
    case .items(let items, let count):
      let first =
        items.first.map {
          $0.index == 0 && count == 1
            ? ": \($0.failure.message)" : ", the first with index \($0.index): \($0.failure.message)"
        } ?? ""
      let reason = first.hasSuffix(".") ? String(first.dropLast()) : first
      self = RPCError(
        .invalidItems, "\(count) of the items \(count == 1 ? "is" : "are") invalid\(reason); nothing was changed."
      )
      .with("items", items.map(ErrorsProtocol.ItemFailure.init)).with("count", count)
    case .notInColumns(let id):
      self.init(
        .invalidParams, "The source \"\(id.rawValue)\" was not opened with columns.", path: "\(prefix)/source",
        expected: "a source that was opened with columns")
    case .columnLengths(let expected, let found, let column):
      self.init(
        .columnLengths, "Column \"\(column)\" has \(found) values.", path: column.isEmpty ? nil : "\(prefix)/\(column)",
        expected: "\(expected) values")
    case .nothingToUndo: self.init(.nothingToUndo, "There is nothing more to undo.")
    case .nothingToRedo: self.init(.nothingToRedo, "There is nothing more to redo.")
    case .undoRequired:
      self.init(
        .undoRequired, "Only what sets values, or adds, changes and removes graphics, may leave no step of history.")
    case .editInProgress(nil): self.init(.editInProgress, "An edit is in progress: end or cancel it first.")
    case .editInProgress(let client?):
      self = RPCError(.editInProgress, "An edit of client \(client) is in progress.").with("client", client.rawValue)
    case .undoConflict(let step, let client):
      self = RPCError(.undoConflict, "A later step, \"\(step)\", has changed the same.")
        .with("step", step).with("client", client?.rawValue)
    case .noEdit: self.init(.noEdit, "No edit is in progress.")
    case .editTooLarge: self.init(.editTooLarge, "The edit is too large to be rolled back; it can only be ended.")
    case .symbology(let error): self.init(error, at: prefix)
    case .flow(let error): self.init(error, in: root, at: prefix, place)
    case .failed(let failure): self.init(failure)
    }
  }

  /// An error of a layer's own settings, such as a renderer with a field that the features lack. Its path is in the state tree.
  package init(_ fault: ModelError, ofLayer id: LayerID) {
    let pointer = ModelPath(ObjectReference(.layers, id.rawValue)).description
    self.init(fault, at: pointer)
  }

  package init(_ error: UnknownMember, in params: JSONValue, at prefix: String) {
    self = RPCError(
      .unknownMember,
      "unknown member `\(error.name)`"
        + (error.hint.map { ", did you mean \($0)?" } ?? error.nearest.map { ", did you mean `\($0)`?" } ?? ""),
      path: prefix + error.value.path(from: params), expected: Self.list(error.known)
    ).with("meant", error.nearest)
  }

  /// The error of a stored failure.
  package init(_ failure: Failure) {
    self.init(
      ErrorKind(rawValue: failure.kind.string) ?? .internalError, failure.message.string, path: failure.path?.string,
      expected: failure.expected?.string)
  }

  /// The error for a name that is not among those available.
  ///
  /// - Parameter lists: whether its data has them all.
  package init(
    _ kind: ErrorKind, no noun: String, _ name: String, among available: [String], at path: String?, lists: Bool = true
  ) {
    let suggestion = Suggestion(for: name, among: available)
    let end = lists ? suggestion.end : suggestion.meant.map { ", did you mean `\($0)`?" } ?? "."
    self = RPCError(
      kind, "There is no \(noun) \"\(name)\"\(end)", path: path,
      expected: suggestion.nearest.isEmpty ? nil : Self.list(suggestion.nearest)
    ).with("meant", suggestion.meant).with("available", lists ? available : nil)
  }

  package static func libraryMissing(_ library: String, _ reason: String) -> RPCError {
    RPCError(.libraryMissing, "\(library) cannot be loaded: \(reason)").with("library", library)
  }

  /// The error as a model value, for a layer's status.
  package var failure: Failure { Failure(kind: kind, message: message, path: path, expected: expected) }

  static func list(_ names: [String]) -> String { names.map { "`\($0)`" }.joined(separator: ", ") }
}

extension ErrorsProtocol.ItemFailure {
  fileprivate init(_ item: ItemError) {
    let failure = item.failure
    self.init(
      index: item.index, kind: failure.kind.string, message: failure.message.string, path: failure.path?.string,
      expected: failure.expected?.string)
  }
}

extension ItemError {
  /// The reason as an error of the wire.
  package var failure: Failure {
    switch reason {
    case .failure(let failure): failure
    case .latitude:
      Failure(
        .outOfRange, "the overlay is in degrees, and a y of the geometry is no latitude", path: "/geometry",
        expected: RPCError.latitudes)
    case .noFeature(let id): Failure(.unknownId, "there is no feature \(id)")
    case .store(let error): Failure(error)
    }
  }
}

extension Failure {
  /// Makes the failure of a status or an item.
  package init(_ kind: ErrorKind, _ message: String, path: String? = nil, expected: String? = nil) {
    self.init(kind: kind.rawValue, message: message, path: path, expected: expected)
  }

  fileprivate init(_ error: StoreError) {
    switch error {
    case .idOutOfRange(let id):
      self.init(.invalidParams, "\(id) is not an id", path: "/id", expected: "integer in 0...99999999999999")
    case .idExists(let id): self.init(.idExists, "the id \(id) is in use", path: "/id")
    case .idRepeated(let id): self.init(.idExists, "\(id) occurs twice in the request", path: "/id")
    case .noSuchID(let id): self.init(.unknownId, "there is no graphic \(id)", path: "/id")
    case .noIDsLeft: self.init(.invalidParams, "no ids are left")
    case .tooManyRows: self.init(.invalidParams, "an overlay holds no more graphics")
    case .tooManyColumns(let limit):
      self.init(.invalidParams, "an overlay holds at most \(limit) different attribute names")
    case .textTooLarge(let column):
      self.init(.invalidParams, "more than 4 GiB of text", path: "/attributes/\(column)")
    case .lengthMismatch(let expected, let found):
      self.init(.columnLengths, "\(expected) rows, but \(found)")
    }
  }
}
