// The index of dependencies: which derived properties and links depend on which paths. Propagation reads only
// dependents of changed paths.

import Geometry

/// A derived property or a link that has to be updated because a path has changed.
public enum Dependent: Hashable, Sendable {
  /// The derived property has to be computed.
  case derived(ViewModelID, String)
  /// The link has to copy the value at its first or its second path.
  case link(LinkID, fromFirst: Bool)
}

/// Dependents by the object and the member that they depend on.
struct Dependents: Sendable {
  private struct Entry: Sendable {
    /// Order of creation of the view model or link, and of its entries.
    let order: (number: Int, place: Int)
    let path: ModelPath
    let dependent: Dependent
  }

  /// Where a path leads: an object, or nil outside objects; a member, or nil for the whole object.
  private struct Place: Hashable, Sendable {
    let object: ObjectReference?
    let member: Text?

    init(_ path: ModelPath) { (object, member) = (path.object, path.names.count > 2 ? path.names[2] : nil) }
  }

  /// By the number of the view model or link, in the order of creation.
  private var byPlace: [ObjectReference?: [Text?: Numbered<[Entry]>]] = [:]
  /// What the view model or link with a number depends on.
  private var places: [Int: [Place]] = [:]

  var isEmpty: Bool { byPlace.isEmpty }

  /// - Parameters:
  ///   - number: the view model's place in the order of creation.
  ///   - environment: path of the environment that the view model inherits.
  mutating func add(_ model: ViewModel, at number: Int, seeing environment: ModelPath) {
    for (name, sources) in model.derived {
      // The property depends on itself, so that inserting the view model computes it, even from a constant expression.
      add(ModelPath(ObjectReference(.viewModels, model.id.rawValue), name), .derived(model.id, name), at: number)
      for (_, path) in sources { add(path, .derived(model.id, name), at: number) }
      // Text conventions are a dependency of expressions that format text.
      if (try? model.property(name))?.derivation?.expression.isWrittenByConventions == true {
        add(environment, .derived(model.id, name), at: number)
      }
    }
  }

  mutating func add(_ link: Link, at number: Int) {
    add(link.first, .link(link.id, fromFirst: true), at: number)
    if link.isTwoWay { add(link.second, .link(link.id, fromFirst: false), at: number) }
  }

  private mutating func add(_ path: ModelPath, _ dependent: Dependent, at number: Int) {
    let place = Place(path)
    let entry = Entry(order: (number, places[number]?.count ?? 0), path: path, dependent: dependent)
    places[number, default: []].append(place)
    if byPlace[place.object]?[place.member]?[number] != nil {
      _ = byPlace[place.object]?[place.member]?.modify(number) { $0.append(entry) }
    } else {
      byPlace[place.object, default: [:]][place.member, default: Numbered()].insert([entry], at: number)
    }
  }

  /// Removes a view model or a link.
  mutating func remove(_ number: Int) {
    for place in places.removeValue(forKey: number) ?? [] {
      _ = byPlace[place.object]?[place.member]?.remove(number)
      if byPlace[place.object]?[place.member]?.isEmpty == true { byPlace[place.object]?[place.member] = nil }
      if byPlace[place.object]?.isEmpty == true { byPlace[place.object] = nil }
    }
  }

  /// Calls `body` with the dependents of the path, of paths above it and of paths below it, in the order of creation.
  ///
  /// - Complexity: linear in the dependents of the path's member; of an object's own path, O(n log n) in those of the object.
  func dependents(_ path: ModelPath, _ body: (Dependent) -> Void) {
    let place = Place(path)
    guard let members = byPlace[place.object] else { return }
    let lists =
      place.member.map { [members[nil], members[$0]].compactMap { $0 } } ?? Array(members.values)
    guard lists.count > 1 else {
      for entries in lists.first?.elements ?? Numbered<[Entry]>().elements {
        for entry in entries where entry.path.overlaps(path) { body(entry.dependent) }
      }
      return
    }
    let found = lists.flatMap { $0.elements.flatMap { $0.filter { $0.path.overlaps(path) } } }
    for entry in found.sorted(by: { $0.order < $1.order }) { body(entry.dependent) }
  }
}
