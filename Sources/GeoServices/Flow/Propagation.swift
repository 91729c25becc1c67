// After each command and tick: what was derived from what changed, and what is linked with it, follows in the same revision.

import GeoModel
import GeoProtocol
import Geometry
import JSONRPC
import Query

enum Propagation {
  /// So often may one link carry something over, or one property be computed, before values count as never agreeing.
  private static let patience = 100

  /// Lets derived properties and links follow until nothing more is due.
  ///
  /// Derived properties come first, then links in the order in which they came up. A link does not follow what it has written itself,
  /// so that none bounces; where several make a loop, it ends when the values agree.
  ///
  /// - Parameter isByTime: whether time moved what the others follow. Else the first end of a two-way link gets what the owner of the
  ///   second has made of its value; that would stop an animation, and comes back to an end that time moves on anyway.
  /// - Throws: `cycle` when they never do, `linkFailed` when an end refuses what it is to have.
  /// - Complexity: linear in what was recorded since the last call, and in what follows from it.
  static func propagate(_ world: inout World, isByTime: Bool = false) throws {
    var made: [(range: Range<Int>, link: LinkID)] = []
    var waiting: [Dependent] = []
    var fired: [Dependent: Int] = [:]
    while true {
      let due = world.takeDependents { index in made.last { $0.range.contains(index) }?.link }
      var hasDerived = false
      for dependent in due {
        switch dependent {
        case .derived(let id, let name):
          hasDerived = true
          try count(dependent, &fired, in: world)
          derive(name, of: id, in: &world)
        case .link(let id, let fromFirst):
          waiting.removeAll { $0 == dependent || $0 == .link(id, fromFirst: !fromFirst) }
          waiting.append(dependent)
        }
      }
      if hasDerived { continue }
      guard !waiting.isEmpty else { return }
      guard case .link(let id, let fromFirst) = waiting.removeFirst(), let link = world.links[id] else { continue }
      try count(dependent(id, fromFirst), &fired, in: world)
      let before = world.recordedCount
      // Once: an owner that makes something else of that, too, has the last word over its own end.
      if try carry(link, fromFirst: fromFirst, in: &world), link.isTwoWay, !isByTime {
        _ = try carry(link, fromFirst: !fromFirst, in: &world)
      }
      made.append((before..<world.recordedCount, id))
    }
  }

  private static func dependent(_ id: LinkID, _ fromFirst: Bool) -> Dependent { .link(id, fromFirst: fromFirst) }

  private static func count(_ dependent: Dependent, _ fired: inout [Dependent: Int], in world: World) throws {
    fired[dependent, default: 0] += 1
    guard fired[dependent] ?? 0 > patience else { return }
    let paths = fired.filter { $0.value > patience / 2 }.keys.flatMap { dependent -> [String] in
      switch dependent {
      case .derived(let id, let name): [ModelPath(ObjectReference(.viewModels, id.rawValue), name).description]
      case .link(let id, let fromFirst):
        world.links[id].map { [(fromFirst ? $0.first : $0.second).description] } ?? []
      }
    }
    throw ModelError.flow(.cycle(Set(paths).sorted()))
  }

  /// The links for which values could not settle.
  static func links(at error: any Error, in world: World) -> Set<LinkID> {
    switch error {
    case ModelError.flow(.linkFailed(let link, _, _)): [ID(link)]
    case ModelError.flow(.cycle(let paths)):
      Set(
        world.links.values.filter {
          paths.contains($0.first.description) || paths.contains($0.second.description)
        }.map(\.id))
    default: []
    }
  }

  // MARK: Derived properties

  private static func derive(_ name: String, of id: ViewModelID, in world: inout World) {
    guard let model = world.viewModels[id], let property = try? model.property(name),
      let derivation = property.derivation
    else { return }
    let sources = Dictionary(model.sources(of: name).map { (Text($0.name), $0.path) }) { first, _ in first }
    let isWritten = derivation.expression.isWrittenByConventions
    let conventions = isWritten ? world.conventions(at: model.owner) : .neutral
    var value = try? derivation.expression.evaluated(by: conventions) { name in
      sources[Text(name)].map { Wire.attribute(PathReading.value(at: $0, in: world) ?? .null) }
    }
    if property.type == .string, case .json(let text)? = value { value = .string(text) }
    world.setDerived(name, of: id, to: value.map(Wire.value) ?? .null)
  }

  // MARK: Links

  /// - Returns: whether the owner of the end made something else of what it was given.
  private static func carry(_ link: Link, fromFirst: Bool, in world: inout World) throws -> Bool {
    let (source, target) = fromFirst ? (link.first, link.second) : (link.second, link.first)
    var value = PathReading.value(at: source, in: world) ?? .null
    if let expression = fromFirst ? link.transform : link.inverse {
      let attribute = Wire.attribute(value)
      value = ((try? expression.evaluated { $0 == "value" ? attribute : nil }).map(Wire.value)) ?? .null
    }
    guard value != PathReading.value(at: target, in: world) ?? .null else { return false }
    do {
      try world.propagating { (world) throws in try PathWriting.write(value, to: target, in: &world) }
    } catch {
      guard var error = RPCError(error, in: nil, at: "") else { throw error }
      // The client sent no value: for it the fault lies at the end that was to be written.
      let place = error.path ?? PathWriting.given
      if place.hasPrefix(PathWriting.given) {
        error.path = target.description + place.dropFirst(PathWriting.given.count)
      }
      throw ModelError.flow(.linkFailed(link: link.id.rawValue, target: target.description, error.failure))
    }
    // View models keep what they are given.
    return target.object?.collection != .viewModels && value != PathReading.value(at: target, in: world) ?? .null
  }
}
