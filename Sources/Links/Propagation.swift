// Propagation: after each command and tick, derived properties and links that depend on a change update in the same revision.

import Expressions
import GeoModel
import Geometry
import JSONRPC
import Sorting
import StateTree
import WireCoding

package enum Propagation {
  /// Maximum number of runs of one link in one propagation, and of all links together. More runs mean a cycle whose values never
  /// become equal. Long cycles get fewer rounds, as a round takes longer, but at least ``fewRuns``.
  private static let (maxRuns, fewRuns, maxSum) = (100, 10, 10_000)

  /// Updates derived properties and links until none is out of date.
  ///
  /// Derived properties are computed first, then links run in the order in which they became due. A link does not react to its own
  /// write, so a two-way link does not bounce; a loop of several links ends when the values are equal.
  ///
  /// - Parameter isByTime: whether a tick made the changes. After a command, a two-way link writes back to its first end when the
  ///   owner of the second end adjusts the value (clamps a scale, for example). After a tick it does not, since writing to the
  ///   animated end would stop the animation.
  /// - Throws: `cycle` when values never become equal, `linkFailed` when the target of a link refuses a value.
  /// - Complexity: O(changes since the last call + updates that they cause).
  package static func propagate(_ world: inout World, isByTime: Bool = false) throws {
    var written: [Written] = []
    var waiting = WaitingLinks()
    var runs = Runs()
    while true {
      let due = world.takeDependents(PathReading.value) { author(of: $0, in: written) }
      var hasDerived = false
      for dependent in due {
        switch dependent {
        case .derived(let number, let index):
          hasDerived = true
          try count(dependent, &runs, in: world)
          world.setDerived(index, of: number, to: computed(index, of: number, in: world))
        case .link(let id, let fromFirst): waiting.add(id, fromFirst: fromFirst)
        }
      }
      if hasDerived { continue }
      guard let (id, fromFirst) = waiting.takeFirst() else { return }
      guard let link = world.links[id] else { continue }
      try count(.link(id, fromFirst: fromFirst), &runs, in: world)
      let before = world.recordedCount
      // Only one write back: if the owner of the first end adjusts the value as well, the adjusted value stays.
      if try carry(link, fromFirst: fromFirst, in: &world), link.isTwoWay, !isByTime {
        _ = try carry(link, fromFirst: !fromFirst, in: &world)
      }
      let target = fromFirst ? link.second : link.first
      // Only view models change a part alone; other owners may also adjust values beside it.
      let isPart = target.names.count > 3 && target.object?.collection == .viewModels
      written.append(Written(range: before..<world.recordedCount, link: id, part: isPart ? target : nil))
    }
  }

  /// A range of change records that a link has written. Ranges are in ascending order.
  private struct Written {
    let range: Range<Int>
    let link: LinkID
    /// The only changed part of the target's value; nil if other parts may have changed.
    let part: ModelPath?
  }

  /// The link that made the change record at an index.
  ///
  /// - Complexity: O(log n).
  private static func author(of index: Int, in written: [Written]) -> (link: LinkID, part: ModelPath?)? {
    let found = written.partitioningIndex { $0.range.upperBound > index }
    guard found < written.count, written[found].range.contains(index) else { return nil }
    return (written[found].link, written[found].part)
  }

  /// Numbers of runs of dependents.
  private struct Runs {
    var counts: [Dependent: Int] = [:]
    /// Sum over all links.
    var links = 0
  }

  private static func count(_ dependent: Dependent, _ runs: inout Runs, in world: World) throws {
    let count = runs.counts[dependent, default: 0] + 1
    runs.counts[dependent] = count
    switch dependent {
    case .link:
      runs.links += 1
      guard count > maxRuns || count > fewRuns && runs.links > maxSum else { return }
    // Any number of links may write to its dependencies. It may run twice per link run, since it also depends on its own value.
    case .derived: guard count > maxRuns + 2 * runs.links else { return }
    }
    let paths = runs.counts.filter { $0.value > count / 2 }.keys.flatMap { dependent -> [String] in
      switch dependent {
      case .derived(let number, let index):
        world.viewModels[number: number].map { [ModelPath($0.reference, $0.properties[index].name).description] } ?? []
      case .link(let id, let fromFirst):
        world.links[id].map { [(fromFirst ? $0.first : $0.second).description] } ?? []
      }
    }
    throw ModelError.flow(.cycle(Set(paths).sorted()))
  }

  /// The links that caused an error of ``propagate(_:isByTime:)``.
  package static func links(at error: any Error, in world: World) -> Set<LinkID> {
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

  /// The value of a derived property, by its index in the view model with a number.
  private static func computed(_ index: Int, of number: Int, in world: World) -> Value {
    guard let model = world.viewModels[number: number], let derivation = model.properties[index].derivation else {
      return .null
    }
    let conventions = derivation.usesConventions ? world.conventions(at: model.owner) : .neutral
    if let each = derivation.each { return DerivedList(each, derivation, of: model, conventions, in: world).value }
    var value = try? derivation.expression.evaluated(by: conventions) { name in
      Wire.attribute(Self.value(of: derivation.source(of: name), of: model, in: world))
    }
    if model.properties[index].type == .string, case .json(let text)? = value { value = .string(text) }
    return value.map(Wire.value) ?? .null
  }

  /// The value of an input or a property of a view model.
  static func value(of source: Derivation.Source, of model: ViewModel, in world: World) -> Value {
    switch source {
    case .inner(let names) where names.count == 1: model.value(at: names) ?? .null
    case .inner(let names):
      PathReading.value(at: ModelPath(ModelPath(model.reference).names + names), in: world) ?? .null
    case .outer(let path): PathReading.value(at: path, in: world) ?? .null
    }
  }

  // MARK: Links

  /// Writes the value of one end, transformed by the link's expression, to the other end.
  ///
  /// While either end leads to a missing part of a client-defined value, nothing is written: the link waits for it. A missing
  /// part of another member counts as null. If the target refuses null, the link waits, too, for example for the scale of a
  /// viewpoint by a bounding geometry.
  ///
  /// - Returns: whether the target's owner adjusted the written value.
  private static func carry(_ link: Link, fromFirst: Bool, in world: inout World) throws -> Bool {
    let (source, target) = fromFirst ? (link.first, link.second) : (link.second, link.first)
    if PathWriting.isMissing(source, in: world) || PathWriting.isMissing(target, in: world) { return false }
    let given = PathReading.value(at: source, in: world)
    var value = given ?? .null
    if let expression = fromFirst ? link.transform : link.inverse {
      let attribute = Wire.attribute(value)
      value = ((try? expression.evaluated { $0 == "value" ? attribute : nil }).map(Wire.value)) ?? .null
    }
    guard value != PathReading.value(at: target, in: world) ?? .null else { return false }
    do {
      try world.propagating { (world) throws in try PathWriting.write(value, to: target, in: &world) }
    } catch {
      guard var error = RPCError(error, in: nil, at: "") else { throw error }
      if given == nil, source.names.count > 3 { return false }
      // The client sent no value, so the error gets the path of the target in place of that of a param.
      let path = error.path ?? PathWriting.given
      if path.hasPrefix(PathWriting.given) {
        error.path = target.description + path.dropFirst(PathWriting.given.count)
      }
      throw ModelError.flow(.linkFailed(link: link.id.rawValue, target: target.description, error.failure))
    }
    // View models never adjust values.
    return target.object?.collection != .viewModels && value != PathReading.value(at: target, in: world) ?? .null
  }
}

/// Links that wait to run, each once, in the order in which they last became due.
private struct WaitingLinks {
  private var queue: [(link: LinkID, fromFirst: Bool)?] = []
  private var indexes: [LinkID: Int] = [:]
  /// Index of the next element to run.
  private var next = 0

  /// Adds a link at the end of the queue. An earlier entry of the link is dropped, whatever its direction.
  mutating func add(_ link: LinkID, fromFirst: Bool) {
    if let index = indexes.updateValue(queue.count, forKey: link) { queue[index] = nil }
    queue.append((link, fromFirst))
  }

  mutating func takeFirst() -> (link: LinkID, fromFirst: Bool)? {
    while next < queue.count {
      defer { next += 1 }
      guard let first = queue[next] else { continue }
      indexes[first.link] = nil
      return first
    }
    return nil
  }
}
