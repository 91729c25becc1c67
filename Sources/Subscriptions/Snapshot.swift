// The current values at a subscription's patterns: in one message, or in parts when they are long.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import StateTree

/// The values at some patterns as of one revision, each made when the iteration reaches it.
package struct Snapshot {
  package struct Match {
    let pattern: StatePattern
    let path: ModelPath
    let node: StateNode
    /// Whether an earlier pattern has matched this path.
    let isRepeated: Bool
  }

  let world: World
  private let patterns: [StatePattern]

  package init(_ patterns: [StatePattern], in world: World) {
    self.world = world
    self.patterns = patterns
  }

  var revision: Int { world.revision }

  /// The matches of each pattern in turn.
  ///
  /// - Parameter isSplit: whether collections are sent as empty objects followed by matches for each of their objects, so that no
  ///   value is long.
  func matches(isSplit: Bool) -> AnyIterator<Match> {
    var rest = patterns
    var done: [StatePattern] = []
    var matches: (pattern: StatePattern, iterator: StateMatches)?
    return AnyIterator { [world] in
      while true {
        if let pattern = matches?.pattern, let (path, node) = matches?.iterator.next() {
          let isRepeated = done.contains { $0.segments.count == path.names.count && $0.covers(path) }
          let collections = isSplit ? StateTree.collections(at: path) : []
          rest = collections.map(StatePattern.init(objectsOf:)) + rest
          let shown = collections.isEmpty ? node : StateTree.withoutObjects(path, node)
          return Match(pattern: pattern, path: path, node: shown, isRepeated: isRepeated)
        }
        if let pattern = matches?.pattern { done.append(pattern) }
        guard !rest.isEmpty else { return nil }
        let pattern = rest.removeFirst()
        matches = (pattern, StateMatches(of: pattern, in: world))
      }
    }
  }

  /// Snapshots with more values are sent in parts.
  private static let maxValues = itemsInOnePiece * 4

  /// Whether a pattern matches more objects than one message may hold.
  private var hasManyObjects: Bool {
    patterns.contains { pattern in
      guard pattern.segments.count < 2 || pattern.segments[1] == .any else { return false }
      return Collection.allCases.contains {
        (pattern.segments.first?.matches(Text($0.rawValue)) ?? true) && world.count(of: $0) > Self.maxValues
      }
    }
  }

  /// All values, or nil when they are too long for one message.
  package func encoded() -> [StateProtocol.StateValue]? {
    guard !hasManyObjects else { return nil }
    var values: [Match] = []
    var items = 0
    for match in matches(isSplit: false) where !match.isRepeated {
      values.append(match)
      items += match.node.itemCount
      guard values.count <= Self.maxValues, items <= itemsInOnePiece * 4 else { return nil }
    }
    var encoded: [StateProtocol.StateValue] = []
    var bytes = 0
    for value in values {
      var writer = JSONWriter(capacity: 256)
      value.node.write(to: &writer)
      bytes += writer.count
      if bytes > SendLimits.partBytes { return nil }
      let text = writer.string
      encoded.append(.init(path: value.path.description, value: .written { $0.raw(text) }))
    }
    return encoded
  }

  /// Sends `state/resynced`.
  ///
  /// - Parameter whole: the values; nil when they follow in parts.
  func resync(_ subscription: String, _ whole: [StateProtocol.StateValue]?, to session: Session) {
    session.notify("state/resynced") { writer in
      writer.member("subscription", subscription)
      writer.member("revision", revision)
      writer.member("snapshot", whole)
    }
  }
}
