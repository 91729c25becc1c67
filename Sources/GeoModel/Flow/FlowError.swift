// Errors of view models, bindings and the environment.

/// Why a command on view models, bindings or the environment was refused. A `path` is a JSON Pointer from the values
/// given.
public enum FlowError: Error, Hashable, Sendable {
  /// The view model has no such property.
  case unknownProperty(String, available: [String])
  /// A struct has no such field.
  ///
  /// - Parameter path: nil for a name in the path to the value.
  case unknownField(String, path: String?, available: [String])
  /// A value has another type than declared.
  case wrongType(path: String, expected: String)
  /// A value has the declared type, but breaks a rule of its property's definition.
  case notAllowed(path: String, rule: ValueRule, expected: String)
  /// A value or a definition exceeds the size limit.
  case valueTooLarge(path: String)
  /// A derived property, a constant, or a read-only binding was set.
  case readOnly(String)
  /// No client can set the value at the path.
  case notWritable(String)
  /// There is no value at the path.
  case invalidPath(String)
  /// Values would depend on themselves; the paths of the cycle.
  case cycle([String])
  /// No object is shared under the name with the node; nil is the session.
  case sharedObjectMissing(name: String, node: String?)
  /// The name has another definition already.
  case defined(String)
  /// The object is not a map, scene, view, overlay or layer.
  case notANode(String)
  /// The list has no item with the id.
  case unknownItem(String)
  /// An item with the id is in the list already, or twice among the values given.
  case duplicateItem(String, path: String)
  /// A reference to an object that does not exist.
  case unknownReference(String, path: String)
  /// A property or definition is not valid.
  case invalidDefinition(property: String, expected: String)
  /// The default of the property at the index is not valid.
  indirect case inDefault(ofProperty: Int, FlowError)
  /// The target of a link refused the value.
  case linkFailed(link: String, target: String, Failure)

  /// The path of the fault in a value given; nil for other errors.
  public var path: String? {
    var found: String?
    _ = with { path in
      found = path
      return path
    }
    return found
  }

  /// The same error with another path, made of its own; unchanged if it is not about a value given.
  public func with(path: (String) -> String) -> FlowError {
    switch self {
    case .unknownField(let name, let own, let available): .unknownField(name, path: own.map(path), available: available)
    case .wrongType(let own, let expected): .wrongType(path: path(own), expected: expected)
    case .notAllowed(let own, let rule, let expected): .notAllowed(path: path(own), rule: rule, expected: expected)
    case .valueTooLarge(let own): .valueTooLarge(path: path(own))
    case .duplicateItem(let id, let own): .duplicateItem(id, path: path(own))
    case .unknownReference(let id, let own): .unknownReference(id, path: path(own))
    case .unknownProperty, .readOnly, .notWritable, .invalidPath, .cycle, .sharedObjectMissing, .defined, .notANode, .unknownItem,
      .invalidDefinition, .inDefault, .linkFailed:
      self
    }
  }
}
