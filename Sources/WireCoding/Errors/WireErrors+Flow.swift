// Wire errors of view models, bindings and the environment.

import GeoModel
import GeoProtocol
import JSON
import JSONRPC

extension RPCError {
  /// - Parameters:
  ///   - root: the params. The member that contains the value determines the error's path.
  ///   - prefix: the JSON Pointer of the params.
  ///   - place: where a subject without a known path is searched.
  init(_ error: FlowError, in root: JSONValue?, at prefix: String, _ place: ErrorPlace) {
    /// The path of a value, from its pointer within the member that contains it.
    func path(_ pointer: String) -> String? {
      let names = [
        ("values", pointer), ("setNull", ""), ("items", pointer), ("ids", pointer), ("defaultValue", ""), ("value", pointer),
        ("path", ""), ("clear", ""),
      ]
      return names.first { root?.member($0.0).isPresent ?? false }.map { "\(prefix)/\($0.0)\($0.1)" }
    }
    switch error {
    case .unknownProperty(let name, let available):
      let isGiven = root?.member("values").member(name).isPresent == true
      let path = isGiven ? path("/" + jsonPointerEscaped(name)) : place.path(toMember: "path", "from", "name")
      self.init(.unknownProperty, no: "property", name, among: available, at: path)
    case .unknownField(let name, let pointer, let available):
      self.init(.unknownProperty, no: "field", name, among: available, at: pointer.map(path) ?? place.path(toMember: "path"))
    case .wrongType(let pointer, let expected):
      self.init(.wrongType, "Expected \(expected).", path: path(pointer), expected: expected)
    case .notAllowed(let pointer, let rule, let expected):
      self = RPCError(.notAllowed, "Expected \(expected).", path: path(pointer), expected: expected)
        .with("rule", rule.rawValue)
    case .valueTooLarge(let pointer):
      self.init(.valueTooLarge, "The value takes more than \(Value.byteLimit >> 20) MiB.", path: path(pointer))
    case .readOnly(let target):
      self = RPCError(.readOnly, "\(target) cannot be set.", path: place.path(toText: target)).with("target", target)
    case .notWritable(let target):
      self = RPCError(.notWritable, "No command sets \(target).", path: place.path(toText: target))
        .with("target", target)
    case .invalidPath(let pointer):
      self.init(
        .invalidPath, "There is no value at \"\(pointer.prefix(200))\".",
        path: place.path(toText: pointer) ?? place.path(toMember: "path"),
        expected: "a JSON Pointer to an existing value")
    case .cycle(let paths):
      self = RPCError(
        .cycle, "These depend on one another without end: \(paths.joined(separator: ", ")).",
        path: paths.lazy.compactMap { place.path(toText: $0) }.first ?? place.path(toMember: "properties")
      ).with("paths", paths)
    case .sharedObjectMissing(let name, let node):
      let error = RPCError(
        .sharedObjectMissing, "No object is shared as \"\(name)\".", path: place.path(toText: name)
      ).with("name", name)
      self = node.map { error.with("node", $0) } ?? error
    case .defined(let name): self.init(.alreadyDefined, "\"\(name)\" has a different definition.")
    case .notANode(let id):
      self.init(
        .notANode, "\"\(id)\" has no environment.", path: "\(prefix)/node",
        expected: "a map, scene, view, overlay or layer")
    case .unknownItem(let id):
      self = RPCError(
        .unknownItem, "The list has no item \"\(id)\".", path: place.path(toText: id, in: ["ids", "before", "path"])
      ).with("id", id)
    case .duplicateItem(let id, let pointer):
      self = RPCError(.duplicateItem, "The list would contain \"\(id)\" twice.", path: path(pointer)).with("id", id)
    case .unknownReference(let id, let pointer):
      self = RPCError(
        .unknownId, "There is no object \"\(id)\".", path: path(pointer),
        expected: "the id of an existing object, or null"
      ).with("id", id)
    case .invalidDefinition(let property, let expected):
      self.init(
        .invalidDefinition, "The property \"\(property)\" needs \(expected).", path: "\(prefix)/properties",
        expected: expected)
    case .inDefault(let index, let error):
      self.init(error, in: nil, at: prefix, ErrorPlace(root: nil, prefix: prefix))
      self.path = "\(prefix)/properties/\(index)/defaultValue" + (error.path ?? "")
    case .linkFailed(let link, let target, let failure):
      self = RPCError(.linkFailed, "The link \"\(link)\" could not write \(target): \(failure.message)")
        .with("link", link).with("target", target).with("error", Wire.failure(failure))
    }
  }
}
