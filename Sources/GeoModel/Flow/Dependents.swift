// The index of dependencies: which derived properties and links depend on which paths. Propagation reads only
// dependents of changed paths.

import Geometry

/// A derived property or a link that has to be updated because a path has changed.
public enum Dependent: Hashable, Sendable {
  /// The derived property at an index in the view model with the given number has to be computed.
  case derived(of: Int, at: Int)
  /// The link has to copy the value at its first or its second path.
  case link(LinkID, fromFirst: Bool)
}

/// Dependents by the object and the member that they depend on.
///
/// Dependencies of derived properties within their own view model are not stored here, but read from their definitions. So a view
/// model without other dependencies has no entries.
struct Dependents: Sendable {
  /// Number of the view model or link in the order of creation, and of the property among those of the view model.
  private typealias Order = (number: Int, index: Int)

  private struct Entry: Sendable {
    let order: Order
    let path: ModelPath
    let dependent: Dependent
    /// For a list of objects: the members that it depends on.
    var members: Set<Text> = []
  }

  /// The target of a path: an object, or nil outside objects; a member, or nil for the whole object.
  private struct Place: Hashable, Sendable {
    let object: ObjectReference?
    let member: Text?

    init(_ path: ModelPath) { (object, member) = (path.object, path.names.count > 2 ? path.names[2] : nil) }
  }

  /// Entries by object, by member, and by the number of their view model or link.
  private var byPlace: [ObjectReference?: [Text?: Numbered<[Entry]>]] = [:]
  /// Dependencies of view models and links, by their numbers; without those within the view model itself.
  private var places: [Int: [Place]] = [:]
  /// View models with derived properties.
  private var derivingCount = 0
  /// Derived lists of the objects of a collection, by the number of their view model.
  private var byCollection: [Collection: Numbered<[Entry]>] = [:]
  private var listed: [Int: [Collection]] = [:]
  /// The numbers of the view models and links with paths that may lead through ids: what these refer to are dependencies, too.
  private var referring: Set<Int> = []

  var isEmpty: Bool { byPlace.isEmpty && derivingCount == 0 }

  /// - Parameters:
  ///   - number: the view model's place in the order of creation.
  ///   - environment: path of the environment that the view model inherits.
  ///   - trail: the paths of the values that the value at a path depends on, itself first.
  mutating func add(
    _ model: ViewModel, at number: Int, seeing environment: @autoclosure () -> ModelPath,
    _ trail: (ModelPath) -> [ModelPath]?
  ) {
    guard model.hasDerived else { return }
    derivingCount += 1
    for (index, property) in model.properties.enumerated() {
      guard let derivation = property.derivation else { continue }
      let dependent = Dependent.derived(of: number, at: index)
      for path in derivation.outerSources { add(path, trail, dependent, (number, index)) }
      if let (collection, members) = derivation.collection {
        let path = ModelPath([Text(collection.rawValue)])
        let entry = Entry(order: (number, index), path: path, dependent: dependent, members: members)
        if byCollection[collection]?[number] != nil {
          _ = byCollection[collection]?.modify(number) { $0.append(entry) }
        } else {
          byCollection[collection, default: Numbered()].insert([entry], at: number)
          listed[number, default: []].append(collection)
        }
      }
      for names in derivation.innerSources where names.count > 1 {
        guard let paths = trail(ModelPath(ModelPath(model.reference).names + names)) else { continue }
        referring.insert(number)
        for path in paths.dropFirst() { add(path, dependent, (number, index)) }
      }
      // Text conventions are a dependency of expressions that format text.
      if derivation.usesConventions { add(environment(), dependent, (number, index)) }
    }
  }

  mutating func add(_ link: Link, at number: Int, _ trail: (ModelPath) -> [ModelPath]?) {
    add(link.first, trail, .link(link.id, fromFirst: true), (number, 0))
    if link.isTwoWay { add(link.second, trail, .link(link.id, fromFirst: false), (number, 1)) }
  }

  private mutating func add(
    _ path: ModelPath, _ trail: (ModelPath) -> [ModelPath]?, _ dependent: Dependent, _ order: Order
  ) {
    let paths = trail(path)
    if paths != nil { referring.insert(order.number) }
    for path in paths ?? [path] { add(path, dependent, order) }
  }

  /// Whether paths of the view model or link with a number may lead through ids.
  func isReferring(_ number: Int) -> Bool { referring.contains(number) }

  private mutating func add(_ path: ModelPath, _ dependent: Dependent, _ order: Order) {
    let place = Place(path)
    let entry = Entry(order: order, path: path, dependent: dependent)
    places[order.number, default: []].append(place)
    if byPlace[place.object]?[place.member]?[order.number] != nil {
      _ = byPlace[place.object]?[place.member]?.modify(order.number) { $0.append(entry) }
    } else {
      byPlace[place.object, default: [:]][place.member, default: Numbered()].insert([entry], at: order.number)
    }
  }

  mutating func remove(_ model: ViewModel, at number: Int) {
    guard model.hasDerived else { return }
    derivingCount -= 1
    removeEntries(of: number)
  }

  mutating func remove(_ link: Link, at number: Int) { removeEntries(of: number) }

  private mutating func removeEntries(of number: Int) {
    referring.remove(number)
    for collection in listed.removeValue(forKey: number) ?? [] { _ = byCollection[collection]?.remove(number) }
    for place in places.removeValue(forKey: number) ?? [] {
      _ = byPlace[place.object]?[place.member]?.remove(number)
      if byPlace[place.object]?[place.member]?.isEmpty == true { byPlace[place.object]?[place.member] = nil }
      if byPlace[place.object]?.isEmpty == true { byPlace[place.object] = nil }
    }
  }

  /// Calls `body` with the dependents of the path, of its ancestors and of its descendants, in the order of creation.
  ///
  /// - Parameter number: the number of the object at the path, if known.
  /// - Complexity: linear in the dependents of the path's member. For the path of a whole object: O(n log n) in the dependents of
  ///   the object.
  func dependents(
    _ path: ModelPath, number: Int?, in viewModels: Registry<ViewModel>, _ body: (Dependent) -> Void
  ) {
    if !byCollection.isEmpty { listing(path, body) }
    let place = Place(path)
    let inner = place.object.map { Self.inner($0, number: number, path, in: viewModels) } ?? []
    guard let members = byPlace.isEmpty ? nil : byPlace[place.object] else {
      for (_, dependent) in inner { body(dependent) }
      return
    }
    let lists =
      place.member.map { [members[nil], members[$0]].compactMap { $0 } } ?? Array(members.values)
    guard lists.count > 1 || !inner.isEmpty else {
      for entries in lists.first?.elements ?? Numbered<[Entry]>().elements {
        for entry in entries where entry.path.overlaps(path) { body(entry.dependent) }
      }
      return
    }
    let outer = lists.flatMap { $0.elements.flatMap { $0.filter { $0.path.overlaps(path) } } }
    let found = inner + outer.map { ($0.order, $0.dependent) }
    for entry in found.sorted(by: { $0.order < $1.order }) { body(entry.dependent) }
  }

  /// Calls `body` with the derived lists that contain the object at a path and depend on its member there; with all if everything
  /// has changed.
  private func listing(_ path: ModelPath, _ body: (Dependent) -> Void) {
    guard path.object != nil || path.names.isEmpty else { return }
    for collection in path.object.map({ [$0.collection] }) ?? Collection.allCases {
      guard let entries = byCollection[collection] else { continue }
      for entry in entries.elements.joined() where path.names.count < 3 || entry.members.contains(path.names[2]) {
        body(entry.dependent)
      }
    }
  }

  /// The derived properties of the view model at a path that depend on the value at the path.
  private static func inner(
    _ object: ObjectReference, number: Int?, _ path: ModelPath, in viewModels: Registry<ViewModel>
  ) -> [(order: Order, dependent: Dependent)] {
    guard object.collection == .viewModels, let number = number ?? viewModels.number(of: ID(object.id)) else {
      return []
    }
    let indexes = viewModels.read(at: number) { $0.pointee.definitions.dependents(of: path.names.dropFirst(2)) }
    return (indexes ?? []).map { ((number, $0), .derived(of: number, at: $0)) }
  }
}
