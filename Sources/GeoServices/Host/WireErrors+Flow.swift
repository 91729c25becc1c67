// What view models, bindings and the environment refuse, in the wire's words.

import GeoModel
import GeoProtocol
import JSON
import JSONRPC

extension RPCError {
  /// - Parameters:
  ///   - root: the params, which tell where a value came in.
  ///   - prefix: their path.
  init(_ error: FlowError, in root: JSONValue?, at prefix: String) {
    /// Where a value stands whose place among those given is known.
    func path(_ place: String) -> String? {
      let names = [
        ("values", place), ("items", place), ("ids", place), ("defaultValue", ""), ("value", ""), ("path", ""),
      ]
      return names.first { root?.member($0.0).isPresent ?? false }.map { "\(prefix)/\($0.0)\($0.1)" }
    }
    switch error {
    case .unknownProperty(let name, let available):
      self = RPCError(.unknownProperty, "There is no property \"\(name)\".", path: path("/\(name)"))
        .with("available", json: Self.json(available))
    case .wrongType(let place, let expected):
      self.init(.wrongType, "Expected \(expected).", path: path(place), expected: expected)
    case .valueTooLarge(let place):
      self.init(.valueTooLarge, "The value takes more than \(Value.byteLimit >> 20) MiB.", path: path(place))
    case .readOnly(let place): self = RPCError(.readOnly, "\(place) cannot be set.").with("target", place)
    case .notWritable(let place):
      self = RPCError(.notWritable, "No command sets \(place).").with("target", place)
    case .invalidPath(let place):
      self.init(
        .invalidPath, "\"\(place.prefix(200))\" leads nowhere.",
        path: root?.member("path").isPresent == true ? "\(prefix)/path" : nil,
        expected: "a JSON Pointer to a place that is there")
    case .cycle(let paths):
      self = RPCError(.cycle, "These would follow one another for ever: \(paths.joined(separator: ", ")).")
        .with("paths", json: Self.json(paths))
    case .sharedObjectMissing(let name, let node):
      let error = RPCError(.sharedObjectMissing, "No object is shared as \"\(name)\".").with("name", name)
      self = node.map { error.with("node", $0) } ?? error
    case .defined(let name): self.init(.alreadyDefined, "\"\(name)\" is defined otherwise.")
    case .notANode(let id):
      self.init(
        .notANode, "\"\(id)\" has no environment.", path: "\(prefix)/node",
        expected: "a map, scene, view, overlay or layer")
    case .unknownItem(let id): self = RPCError(.unknownItem, "The list has no item \"\(id)\".").with("id", id)
    case .duplicateItem(let id, let place):
      self = RPCError(.duplicateItem, "The item \"\(id)\" would be there twice.", path: path(place)).with("id", id)
    case .unknownReference(let id, let place):
      self = RPCError(
        .unknownId, "There is no object \"\(id)\".", path: path(place),
        expected: "the id of an object that is there, or null"
      ).with("id", id)
    case .invalidDefinition(let property, let expected):
      self.init(
        .invalidDefinition, "The property \"\(property)\" needs \(expected).", path: "\(prefix)/properties",
        expected: expected)
    case .inDefault(let index, let error):
      self.init(error, in: nil, at: prefix)
      self.path = "\(prefix)/properties/\(index)/defaultValue"
    case .linkFailed(let link, let target, let failure):
      self = RPCError(.linkFailed, "The link \"\(link)\" could not write \(target): \(failure.message)")
        .with("link", link).with("target", target).with("error", Wire.failure(failure))
    }
  }
}
