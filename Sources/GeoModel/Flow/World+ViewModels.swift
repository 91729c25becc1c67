// View models: defined, created, set, closed. Derived properties are computed elsewhere, where the whole state tree can
// be read.

import Geometry
import Query

extension World {
  /// Defines a type of view models. Defining an equal type again changes nothing.
  public mutating func defineViewModel(
    _ id: ViewModelTypeID, doc: String?, properties: [PropertyDefinition]
  ) throws(ModelError) {
    let type = ViewModelType(id: id, doc: doc, properties: properties)
    if let known = viewModelTypes[id] {
      guard known.isSame(as: type) else { throw .flow(.defined(id.rawValue)) }
      return
    }
    try check(properties)
    try checkCycles(with: ViewModel(id: Self.placeholderID, type: id, properties: properties, owner: nil, values: [:]))
    insert(type)
  }

  /// Stands in paths for a view model that has no id yet.
  private static let placeholderID = ViewModelID("*")

  /// Creates a view model.
  ///
  /// - Parameters:
  ///   - type: a defined type; nil if `properties` are given.
  ///   - owner: the object that closes the view model when it closes; nil for the session.
  ///   - values: initial values by property; missing ones are at their defaults.
  @discardableResult
  public mutating func createViewModel(
    id: ViewModelID?, type: ViewModelTypeID?, properties: [PropertyDefinition]?, owner: ObjectReference?,
    values: [(name: String, value: Value)]
  ) throws(ModelError) -> ViewModel {
    try checkFree(id)
    let definitions: [PropertyDefinition]
    switch (type, properties) {
    case (let type?, nil): definitions = try viewModelTypes.require(type).properties
    case (nil, let properties?):
      try check(properties)
      definitions = properties
    default: throw .oneOf(["type", "properties"])
    }
    return try makeViewModel(id, type, definitions, owner, values)
  }

  /// Creates a view model from a document, which may hold other properties than its type has in this session.
  ///
  /// - Parameter properties: nil for those of the type.
  public mutating func restoreViewModel(
    id: ViewModelID, type: ViewModelTypeID?, properties: [PropertyDefinition]?, owner: ObjectReference?,
    values: [(name: String, value: Value)]
  ) throws(ModelError) {
    guard let type, let properties else {
      try createViewModel(id: id, type: type, properties: properties, owner: owner, values: values)
      return
    }
    try checkFree(id)
    _ = try viewModelTypes.require(type)
    try check(properties)
    _ = try makeViewModel(id, type, properties, owner, values)
  }

  private mutating func makeViewModel(
    _ id: ViewModelID?, _ type: ViewModelTypeID?, _ definitions: [PropertyDefinition], _ owner: ObjectReference?,
    _ values: [(name: String, value: Value)]
  ) throws(ModelError) -> ViewModel {
    try checkNesting(inOwner: owner)
    var model = ViewModel(
      id: id ?? Self.placeholderID, type: type, properties: definitions, owner: owner,
      values: Dictionary(definitions.map { ($0.name, $0.derivation == nil ? $0.defaultValue : .null) }) { $1 })
    for (name, value) in try accepted(values, for: model) { model.values[name] = value }
    try checkCycles(with: model)
    return insert(
      ViewModel(
        id: try claim(id, prefix: "viewModel"), type: type, properties: definitions, owner: owner, values: model.values)
    )
  }

  public mutating func closeViewModel(_ id: ViewModelID) throws(ModelError) {
    _ = try viewModels.require(id)
    remove(id)
  }

  // MARK: Values

  /// Sets values and resets others to their defaults, all or none.
  ///
  /// - Parameter clear: names of properties to reset, or JSON Pointers to parts of values to remove (`/people/p1`).
  public mutating func setValues(
    of id: ViewModelID, _ values: [(name: String, value: Value)], clear: [String] = []
  ) throws(ModelError) {
    let model = try viewModels.require(id)
    var changes = try accepted(values, for: model)
    for name in clear {
      guard name.hasPrefix("/") else {
        let property = try model.property(name)
        guard property.derivation == nil else { throw .flow(.readOnly(ModelPath(model.reference, name).description)) }
        changes.append((name, property.defaultValue))
        continue
      }
      guard let path = ModelPath(pointer: name), let first = path.names.first?.string, path.names.count > 1 else {
        throw .flow(.invalidPath(name))
      }
      let property = try model.property(first)
      guard property.derivation == nil else { throw .flow(.readOnly(path.description)) }
      var value = changes.last { $0.name == first }?.value ?? model.values[first] ?? .null
      guard value.setPart(at: path.names.dropFirst(), to: nil) else { throw .flow(.invalidPath(name)) }
      changes.append((first, try checked(value, for: property, at: "/" + first)))
    }
    write(changes, of: id)
  }

  /// Sets a property, or a part of its value.
  ///
  /// - Parameter names: the property's name and the path in its value.
  public mutating func setValue(of id: ViewModelID, at names: [Text], to value: Value) throws(ModelError) {
    let model = try viewModels.require(id)
    let own = ModelPath(model.reference)
    guard let name = names.first?.string else { throw .flow(.notWritable(own.description)) }
    let property = try model.property(name)
    guard property.derivation == nil else { throw .flow(.readOnly(own.appending(name).description)) }
    var whole = model.values[name] ?? .null
    guard whole.setPart(at: names.dropFirst(), to: value) else {
      throw .flow(.invalidPath(ModelPath(own.names + names).description))
    }
    write([(name, try checked(whole, for: property, at: ""))], of: id)
  }

  /// Sets the computed value of a derived property; a value of another type becomes null.
  public mutating func setDerived(_ name: String, of id: ViewModelID, to value: Value) {
    guard let property = try? viewModels[id]?.property(name) else { return }
    let kept = (try? checked(value, for: property, at: "")) ?? .null
    write([(name, kept)], of: id, by: .binding)
  }

  /// Writes checked values. Equal values record nothing.
  mutating func write(_ values: [(name: String, value: Value)], of id: ViewModelID, by origin: Origin? = nil) {
    let former = viewModels[id].flatMap { $0.hasReferences ? $0 : nil }
    let before = viewModels.modify(id) { model in
      var before: [(name: String, value: Value)] = []
      for (name, value) in values {
        let old = model.values[name] ?? .null
        guard old != value else { continue }
        if !before.contains(where: { $0.name == name }) { before.append((name, old)) }
        model.values[name] = value
      }
      return before
    }
    guard let before, !before.isEmpty else { return }
    if let former { references.update(former, viewModels[id]) }
    recordUndo(ValuesChanged(id: id, before: before))
    for (name, _) in before { record(.member(ObjectReference(.viewModels, id.rawValue), name), by: origin) }
    touch(id)
  }

  // MARK: Checks

  private func accepted(
    _ values: [(name: String, value: Value)], for model: ViewModel
  ) throws(ModelError) -> [(name: String, value: Value)] {
    var result: [(name: String, value: Value)] = []
    for (name, value) in values {
      let property = try model.property(name)
      guard property.derivation == nil else { throw .flow(.readOnly(ModelPath(model.reference, name).description)) }
      result.append((name, try checked(value, for: property, at: "/" + name)))
    }
    return result
  }

  func checked(_ value: Value, for property: PropertyDefinition, at path: String) throws(ModelError) -> Value {
    let value = try property.accepted(value, at: path)
    if let id = value.text, isDangling(value, of: property) { throw .flow(.unknownReference(id, path: path)) }
    return value
  }

  /// Whether the value refers to an object that does not exist.
  func isDangling(_ value: Value, of property: PropertyDefinition) -> Bool {
    guard property.type == .reference, let id = value.text else { return false }
    return find(id) == nil
  }

  /// Throws if the default is not valid. The default of a reference is null, since definitions outlive objects.
  func checkDefault(of property: PropertyDefinition) throws(ModelError) {
    let value = property.defaultValue
    if value.isNull, property.isNullable { return }
    _ = try checked(value, for: property, at: "")
    guard property.type != .reference else {
      throw .flow(.wrongType(path: "", expected: "null, as an object may close"))
    }
  }

  private func check(_ properties: [PropertyDefinition]) throws(ModelError) {
    var names: Set<String> = []
    for (index, property) in properties.enumerated() {
      func refuse(_ expected: String) -> ModelError {
        .flow(.invalidDefinition(property: property.name, expected: expected))
      }
      // The state tree uses this name for the view model's id.
      guard property.name != "viewModel" else { throw refuse("a name other than viewModel") }
      guard names.insert(property.name).inserted else { throw refuse("each name once") }
      guard property.derivation == nil else { continue }
      do throws(ModelError) { try checkDefault(of: property) } catch {
        guard case .flow(let fault) = error else { throw error }
        throw .flow(.inDefault(ofProperty: index, fault))
      }
    }
    for (index, property) in properties.enumerated() {
      guard let derivation = property.derivation else { continue }
      do throws(ExpressionError) {
        try derivation.expression.check(names: properties.map(\.name) + derivation.inputs.keys.map(\.string).sorted())
      } catch { throw .expression(error, path: "/properties/\(index)/derived/expression") }
    }
  }
}
