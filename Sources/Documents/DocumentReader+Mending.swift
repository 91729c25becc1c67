// Leaves out and reports invalid parts of a document. Only a text that is not a document at all is refused.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import WireCoding

/// A value of a document with its path.
struct DocumentItem {
  let json: JSONValue
  /// The JSON Pointer of the list or object that contains it.
  private let parent: String
  private let step: String

  init(_ json: JSONValue, at parent: String = "", _ step: String = "") {
    self.json = json
    self.parent = parent
    self.step = step
  }

  /// The JSON Pointer.
  var path: String { step.isEmpty ? parent : "\(parent)/\(jsonPointerEscaped(step))" }

  func member(_ name: String) -> DocumentItem { DocumentItem(json.member(name), at: path, name) }
}

/// The invalid parts of a document, in the order in which they were found.
struct DocumentProblems: Sendable {
  /// The first problems, up to ``limit``.
  private(set) var first: [Failure] = []
  private(set) var count = 0
  /// Maximum number of problems that are reported in detail.
  private static let limit = 100

  mutating func append(_ problem: Failure) {
    count += 1
    if first.count < Self.limit { first.append(problem) }
  }
}

extension DocumentReader {
  /// The elements of a list of objects. A value that is not a list is reported.
  mutating func items(_ name: String, of owner: DocumentItem) throws -> [DocumentItem] {
    let list = owner.member(name)
    guard list.json.isPresent else { return [] }
    guard list.json.kind == .array else {
      try report(list.json.typeError(expected: "array"), at: list)
      return []
    }
    let path = list.path
    return (0..<list.json.count).map { DocumentItem(list.json[$0], at: path, String($0)) }
  }

  /// Reports an error about a value that is left out.
  mutating func report(_ error: any Error, at item: DocumentItem) throws {
    problems.append(try Self.problem(error, in: nil, at: item.path))
  }

  /// Converts an error to a problem of a document.
  ///
  /// - Parameters:
  ///   - json: the value that contains the error; nil for an error about the value itself.
  ///   - path: the JSON Pointer of that value.
  ///   - noun: the member with the object's id.
  /// - Throws: errors that the document did not cause: a cancellation, a missing library.
  static func problem(_ error: any Error, in json: JSONValue?, at path: String, _ noun: String? = nil) throws -> Failure
  {
    if let error = error as? JSONError {
      return Failure(
        .invalidDocument, "Expected \(error.expected), found \(error.found).",
        path: path + (json.map { error.path(from: $0) } ?? ""),
        expected: error.expected)
    }
    guard var wire = RPCError(error, in: json, at: path, searches: false) else { throw error }
    guard wire.kind != ErrorKind.cancelled.rawValue, wire.kind != ErrorKind.libraryMissing.rawValue else { throw error }
    if case ModelError.idExists = error, let noun { wire.path = "\(path)/\(noun)" }
    // Other paths are those of files, or less precise than the object's path.
    if wire.path?.hasPrefix(path) != true { wire.path = path }
    return wire.failure
  }

  /// The error with a path in the document.
  static func placed(_ error: any Error, at path: String) -> any Error {
    guard var wire = RPCError(error, in: nil, at: path, searches: false) else { return error }
    wire.path = path
    return wire
  }

  /// Makes an object of the document. Invalid members are left out and reported; so is the object if it cannot be made without them.
  ///
  /// - Parameters:
  ///   - noun: the member with the object's id.
  ///   - required: other members without which the object cannot be made.
  ///   - lists: members that contain other objects, which are read separately.
  ///   - body: makes the object from the given members. May be called several times, each time with the same world.
  /// - Returns: the result of `body`; nil if the object was left out.
  /// - Complexity: one more call of `body` per part that is left out; as many calls as members if its error does not tell which
  ///   member is invalid.
  mutating func restore<R>(
    _ item: DocumentItem, _ noun: String, keeping required: Set<String> = [], without lists: Set<String> = [],
    _ body: (inout World, JSONValue) throws -> R
  ) throws -> R? {
    guard item.json.kind == .object else {
      try report(item.json.typeError(expected: "object"), at: item)
      return nil
    }
    var object = MendedObject(item.json, required: required.union([noun]), without: lists)
    while true {
      let outcome = try attempt(object, of: item, noun, body)
      guard case .failure(var fault) = outcome else {
        world.discardChanges()
        return try outcome.get()
      }
      if fault.pointer(in: item).isEmpty, let (name, found) = try culprit(in: object, of: item, noun, body) {
        fault = found.pointer(in: item).isEmpty ? found.moved(to: item.member(name).path) : found
      }
      let pointer = fault.pointer(in: item)
      problems.append(fault.moved(to: item.path + object.original(pointer)))
      guard object.leaveOut(pointer) else { return nil }
    }
  }

  /// Calls `body` as a separate command. If it fails, the world is unchanged.
  private mutating func attempt<R>(
    _ object: MendedObject, of item: DocumentItem, _ noun: String, _ body: (inout World, JSONValue) throws -> R
  ) throws -> Result<R, Failure> {
    try worker.checkCancelled()
    return try object.read { json in
      world.begin(origin: .task)
      do { return .success(try body(&world, json)) } catch {
        world.rollBack()
        return .failure(try Self.problem(error, in: json, at: item.path, noun))
      }
    }
  }

  /// The first optional member with which `body` fails, and its error; nil if it fails without any optional member.
  private mutating func culprit<R>(
    in object: MendedObject, of item: DocumentItem, _ noun: String, _ body: (inout World, JSONValue) throws -> R
  ) throws -> (name: String, Failure)? {
    let names = object.optional
    for count in 0...names.count {
      if case .failure(let fault) = try attempt(object.keeping(names[..<count]), of: item, noun, body) {
        return count == 0 ? nil : (names[count - 1], fault)
      }
      world.rollBack()
    }
    return nil
  }
}

extension Failure {
  /// The problem's pointer within an object; empty if it concerns the whole object.
  func pointer(in item: DocumentItem) -> String {
    let path = item.path
    guard let own = self.path?.string, own.hasPrefix(path + "/") else { return "" }
    return String(Substring(own.utf8.dropFirst(path.utf8.count)))
  }

  /// The same problem with another path.
  func moved(to path: String) -> Failure {
    Failure(kind: kind.string, message: message.string, path: path, expected: expected?.string)
  }
}
