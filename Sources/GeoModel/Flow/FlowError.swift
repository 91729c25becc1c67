// What view models, bindings and the environment refuse.

/// Why a command on view models, bindings or the environment was refused.
public enum FlowError: Error, Hashable, Sendable {
  /// The view model has no such property.
  case unknownProperty(String, available: [String])
  /// A value is not of the type that was declared; `place` is a JSON Pointer to it from the values given.
  case wrongType(place: String, expected: String)
  /// A value, or all of a definition, takes too much room.
  case valueTooLarge(place: String)
  /// A derived property, a constant, or a binding that was made read-only.
  case readOnly(String)
  /// Nothing that a client can set stands there.
  case notWritable(String)
  /// The way leads nowhere.
  case invalidPath(String)
  /// Values that would follow one another for ever; the paths of the loop.
  case cycle([String])
  /// Nobody shares an object of that name with the node; nil is the session.
  case sharedObjectMissing(name: String, node: String?)
  /// Something else is defined under the name.
  case defined(String)
  /// Not a map, scene, view, overlay or layer.
  case notANode(String)
  /// A list without an item of that id.
  case unknownItem(String)
  /// An item of that id is in the list already, or twice among those given; `place` is a JSON Pointer to it from the values given.
  case duplicateItem(String, place: String)
  /// A reference to no object; `place` as with ``wrongType(place:expected:)``.
  case unknownReference(String, place: String)
  /// A property, or a definition, that cannot be: why.
  case invalidDefinition(property: String, expected: String)
  /// The default of a property among those defined is none.
  indirect case inDefault(ofProperty: Int, FlowError)
  /// What a link had to write was refused.
  case linkFailed(link: String, target: String, Failure)
}
