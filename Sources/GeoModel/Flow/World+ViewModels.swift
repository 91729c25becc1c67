// View models: defined, created, set, closed. Derived properties are computed by the caller that can read the whole state tree.

import Expressions
import Geometry

extension World {
  /// Defines a type of view models. Defining an equal type again changes nothing.
  public mutating func defineViewModel(
    _ id: ViewModelTypeID, doc: String?, properties: [PropertyDefinition]
  ) throws(ModelError) {
    let type = ViewModelType(id: id, doc: doc, definitions: PropertyDefinitions(properties))
    if let known = viewModelTypes[id] {
      guard known.isSame(as: type) else { throw .flow(.defined(id.rawValue)) }
      return
    }
    try check(properties)
    try checkCycles(
      with: ViewModel(
        id: Self.placeholderID, type: id, definitions: type.definitions, owner: nil, author: nil, values: [:]))
    insert(type)
  }

  /// Id in paths for a view model that has no id yet.
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
    let definitions: PropertyDefinitions
    switch (type, properties) {
    case (let type?, nil): definitions = try viewModelTypes.require(type).definitions
    case (nil, let properties?):
      try check(properties)
      definitions = PropertyDefinitions(properties)
    default: throw .oneOf(["type", "properties"])
    }
    let author: Text? = if case .client(let name, _) = origin { name } else { nil }
    return try makeViewModel(id, type, definitions, owner, author, values)
  }

  /// Creates a view model from a document. Its properties may differ from those of its type in this session.
  ///
  /// - Parameters:
  ///   - properties: nil for the properties of the type.
  ///   - author: the origin of the request that created it.
  public mutating func restoreViewModel(
    id: ViewModelID, type: ViewModelTypeID?, properties: [PropertyDefinition]?, owner: ObjectReference?, author: String?
  ) throws(ModelError) {
    try checkFree(id)
    let ofType = try type.map { (type) throws(ModelError) in try viewModelTypes.require(type).definitions }
    guard let definitions = properties.map(PropertyDefinitions.init) ?? ofType else {
      throw .oneOf(["type", "properties"])
    }
    if let properties { try check(properties) }
    _ = try makeViewModel(id, type, definitions, owner, Text(author), [])
  }

  private mutating func makeViewModel(
    _ id: ViewModelID?, _ type: ViewModelTypeID?, _ definitions: PropertyDefinitions, _ owner: ObjectReference?,
    _ author: Text?, _ values: [(name: String, value: Value)]
  ) throws(ModelError) -> ViewModel {
    try checkNesting(inOwner: owner)
    var model = ViewModel(
      id: id ?? Self.placeholderID, type: type, definitions: definitions, owner: owner, author: author,
      values: Dictionary(definitions.all.map { ($0.name, $0.defaultValue) }) { $1 })
    for (name, value) in try accepted(values, for: model) { model.values[name] = value }
    try checkCycles(with: model)
    return insert(
      ViewModel(
        id: try claim(id, prefix: "viewModel"), type: type, definitions: definitions, owner: owner, author: author,
        values: model.values))
  }

  // MARK: Values

  /// Sets values and resets others to their defaults, all or nothing.
  ///
  /// - Parameter clear: names of properties to reset, or JSON Pointers to parts of values to remove (`/people/p1`).
  public mutating func setValues(
    of id: ViewModelID, _ values: [(name: String, value: Value)], clear: [String] = []
  ) throws(ModelError) {
    let model = try viewModels.require(id)
    var changes = try accepted(values, for: model)
    for name in clear {
      guard name.hasPrefix("/") else {
        let property = try writable(name, of: model)
        changes.append((name, property.defaultValue))
        continue
      }
      guard let path = ModelPath(pointer: name), let first = path.names.first?.string, path.names.count > 1 else {
        throw .flow(.invalidPath(name))
      }
      let property = try writable(first, of: model)
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
    let property = try writable(name, of: model)
    var whole = model.values[name] ?? .null
    // Only the part is checked: what is around it has not changed.
    let (definition, depth) = try property.part(at: names.dropFirst())
    let (outer, inner) = (names.dropFirst().prefix(depth), names.dropFirst(1 + depth))
    var part = inner.isEmpty ? value : whole.part(at: outer) ?? .null
    guard part.setPart(at: inner, to: value), whole.setPart(at: outer, to: .null) else {
      throw .flow(.invalidPath(ModelPath(own.names + names).description))
    }
    do throws(ModelError) {
      _ = whole.setPart(at: outer, to: try checked(part, for: definition, at: ""))
      write([(name, depth == 0 ? whole : try property.acceptedSize(of: whole, at: ""))], of: id)
    } catch {
      guard case .flow(let fault) = error else { throw error }
      let path = ModelPath(Array(inner)).description
      // Paths lead from the value given; a fault elsewhere is one of the whole.
      throw .flow(fault.with { $0 == path || $0.hasPrefix(path + "/") ? String($0.dropFirst(path.count)) : "" })
    }
  }

  /// Sets the computed value of a derived property, by its index in the view model with the given number. Null and values that
  /// the definition does not allow set its default.
  public mutating func setDerived(_ index: Int, of number: Int, to value: Value) {
    // Reads in place: while a copy of the view model is held, a write would copy all its values.
    let found = viewModels.read(at: number) { model in
      let property = model.pointee.definitions.all[index]
      return (id: model.pointee.id, property: property, before: model.pointee.values[property.name] ?? .null)
    }
    guard let (id, property, before) = found else { return }
    // Items that are computed may be equal, unlike those that a client identifies by their texts.
    let isList = property.derivation?.each != nil && value.elements != nil && value.byteCount <= Value.byteLimit
    let accepted = value.isNull ? nil : isList ? value : try? checked(value, for: property, at: "")
    let kept = accepted ?? property.defaultValue
    // After an undo, most values are computed again with the restored value as result.
    if kept != before { write([(property.name, kept)], of: id, by: .binding) }
  }

  /// Writes checked values. Equal values record nothing.
  mutating func write(_ values: [(name: String, value: Value)], of id: ViewModelID, by origin: Origin? = nil) {
    let former = viewModels[id].flatMap { $0.definitions.hasReferences ? $0 : nil }
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
    if let former, let number = viewModels.number(of: id) { references.update(former, viewModels[id], at: number) }
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
      let property = try writable(name, of: model)
      result.append((name, try checked(value, for: property, at: "/" + name)))
    }
    return result
  }

  /// Finds a property that the author of the current change may set.
  /// - Throws: `readOnly` for a derived property, and for one with the access `owner` if another client sets it.
  public func writable(_ name: String, of model: ViewModel) throws(ModelError) -> PropertyDefinition {
    let property = try model.property(name)
    var isOwn = true
    if property.access == .owner, case .client(let author, _) = origin { isOwn = author == model.author }
    guard property.derivation == nil, isOwn else {
      throw .flow(.readOnly(ModelPath(model.reference, name).description))
    }
    return property
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
      if let fault = property.limits.fault(for: property.type) { throw refuse(fault) }
      if property.derivation?.each != nil, property.type != .list { throw refuse("the type list, as it has an item of `each`") }
      if property.derivation != nil, property.access == .owner { throw refuse("no access, as it is derived") }
      do throws(ModelError) { try checkDefault(of: property) } catch {
        guard case .flow(let fault) = error else { throw error }
        throw .flow(.inDefault(ofProperty: index, fault))
      }
    }
    for (index, property) in properties.enumerated() {
      // The names of a derived list are members of its items.
      guard let derivation = property.derivation, derivation.each == nil else { continue }
      do throws(ExpressionError) {
        try derivation.expression.check(names: properties.map(\.name) + derivation.inputs.keys.map(\.string).sorted())
      } catch { throw .expression(error, path: "/properties/\(index)/derived/expression") }
    }
  }
}
