// The current values at a subscription's patterns: in one message, or in parts when they are long.

import GeoModel
import GeoProtocol
import Geometry
import JSON
import JSONRPC
import StateTree

/// The values at some patterns as of one revision. Each is made when it is asked for.
package struct Snapshot: Sequence {
  package struct Match {
    let pattern: StatePattern
    let path: ModelPath
    let node: StateNode
    /// Whether an earlier pattern has led here, too.
    let isRepeated: Bool
  }

  let world: World
  private let patterns: [StatePattern]

  package init(_ patterns: [StatePattern], in world: World) {
    self.world = world
    self.patterns = patterns
  }

  var revision: Int { world.revision }

  package func makeIterator() -> AnyIterator<Match> {
    var rest = patterns[...]
    var matches: (pattern: StatePattern, iterator: StateMatches)?
    var seen: Set<ModelPath> = []
    return AnyIterator { [world, isAlone = patterns.count == 1] in
      while true {
        if let pattern = matches?.pattern, let (path, node) = matches?.iterator.next() {
          return Match(
            pattern: pattern, path: path, node: node, isRepeated: !isAlone && !seen.insert(path).inserted)
        }
        guard let pattern = rest.popFirst() else { return nil }
        matches = (pattern, StateMatches(of: pattern, in: world))
      }
    }
  }

  /// More values are not sent in one message.
  private static let maxValues = graphicsInOnePiece * 4

  /// Whether a pattern leads to more objects than one message has values.
  private var hasManyObjects: Bool {
    patterns.contains { pattern in
      guard pattern.segments.count > 1, pattern.segments[1] == .any else { return false }
      return Collection.allCases.contains {
        pattern.segments[0].matches(Text($0.rawValue)) && world.count(of: $0) > Self.maxValues
      }
    }
  }

  /// All values, or nil when they are too long for one message.
  package func encoded() -> [StateProtocol.StateValue]? {
    guard !hasManyObjects else { return nil }
    var values: [Match] = []
    var graphics = 0
    for match in self where !match.isRepeated {
      values.append(match)
      graphics += match.node.graphicCount
      guard values.count <= Self.maxValues, graphics <= graphicsInOnePiece * 4 else { return nil }
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
      writer.key("subscription")
      writer.value(subscription)
      writer.key("revision")
      writer.value(revision)
      if let whole {
        writer.key("snapshot")
        writer.array(whole) { $0.encode(to: &$1) }
      }
    }
  }
}
