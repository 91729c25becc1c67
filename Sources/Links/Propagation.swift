// Propagation: after each command and tick, derived properties and links that depend on a change update in the same revision.

import Expressions
import GeoModel
import Geometry
import JSONRPC
import StateTree
import WireCoding

package enum Propagation {
  /// How often a link may run in one propagation, and all together. More mean a cycle whose values never become equal. A cycle of many
  /// links takes as long for a round as a short one for many, so it has fewer: ``fewRuns`` at least.
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
      // One write back only: when the owner of the first end adjusts the value as well, its value stays.
      if try carry(link, fromFirst: fromFirst, in: &world), link.isTwoWay, !isByTime {
        _ = try carry(link, fromFirst: !fromFirst, in: &world)
      }
      let target = fromFirst ? link.second : link.first
      // Other owners adjust what is beside a part, too.
      let isPart = target.names.count > 3 && target.object?.collection == .viewModels
      written.append(Written(range: before..<world.recordedCount, link: id, part: isPart ? target : nil))
    }
  }

  /// A range of the journal that a link has written, in order of these.
  private struct Written {
    let range: Range<Int>
    let link: LinkID
    /// What alone has changed of the target's value; nil for all of it.
    let part: ModelPath?
  }

  /// The link that made the change at an index of the journal.
  ///
  /// - Complexity: O(log n).
  private static func author(of index: Int, in written: [Written]) -> (link: LinkID, part: ModelPath?)? {
    var (low, high) = (0, written.count)
    while low < high {
      let middle = (low + high) / 2
      if written[middle].range.upperBound <= index { low = middle + 1 } else { high = middle }
    }
    guard low < written.count, written[low].range.contains(index) else { return nil }
    return (written[low].link, written[low].part)
  }

  /// How often dependents have run.
  private struct Runs {
    var counts: [Dependent: Int] = [:]
    /// Of all links together.
    var links = 0
  }

  private static func count(_ dependent: Dependent, _ runs: inout Runs, in world: World) throws {
    let count = runs.counts[dependent, default: 0] + 1
    runs.counts[dependent] = count
    switch dependent {
    case .link:
      runs.links += 1
      guard count > maxRuns || count > fewRuns && runs.links > maxSum else { return }
    // Any number of links may lead to what it depends on. It runs twice for each, as it follows its own value, too.
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

  /// The links that an error of ``propagate(_:isByTime:)`` is about.
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

  /// The value of the derived property at an index of the view model with a number.
  private static func computed(_ index: Int, of number: Int, in world: World) -> Value {
    guard let model = world.viewModels[number: number], let derivation = model.properties[index].derivation else {
      return .null
    }
    let conventions = derivation.usesConventions ? world.conventions(at: model.owner) : .neutral
    var value = try? derivation.expression.evaluated(by: conventions) { name in
      switch derivation.source(of: name) {
      case .inner(let names): Wire.attribute(model.value(at: names) ?? .null)
      case .outer(let path): Wire.attribute(PathReading.value(at: path, in: world) ?? .null)
      }
    }
    if model.properties[index].type == .string, case .json(let text)? = value { value = .string(text) }
    return value.map(Wire.value) ?? .null
  }

  // MARK: Links

  /// Writes the value of one end, through the link's expression, to the other.
  ///
  /// While a part of a client's own value is not there, at either end, nothing is written: the link waits for it. A part that an object's
  /// member does not have is null; where the target refuses that, the link waits, too, as one to the scale of a bounding geometry does.
  ///
  /// - Returns: whether the target's owner adjusted the value that was written.
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
      // The client sent no value, so the error's path is that of the target instead of a param.
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

/// Links that wait to run, each once, in the order in which they became due last.
private struct WaitingLinks {
  private var queue: [(link: LinkID, fromFirst: Bool)?] = []
  private var indexes: [LinkID: Int] = [:]
  /// Index of the first element that has not run.
  private var next = 0

  /// Adds a link at the end, whichever of its ends it was to follow before.
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
