// Patterns of paths in the state tree: JSON Pointers (RFC 6901) in which `*` matches any one segment.

import GeoModel
import Geometry
import JSON

/// A pattern as a client gives it: `/layers/*/opacity`.
package struct StatePattern: Hashable {
  package enum Segment: Hashable {
    case any
    case name(Text)

    package var hasPartialWildcard: Bool {
      if case .name(let name) = self { name.string.utf8.contains(UInt8(ascii: "*")) } else { false }
    }

    package func matches(_ name: Text) -> Bool { self == .any || self == .name(name) }
  }
  package let segments: [Segment]

  /// - Returns: nil when `text` is not a JSON Pointer.
  package init?(_ text: String) {
    guard !text.isEmpty else {
      segments = []
      return
    }
    guard text.utf8.first == UInt8(ascii: "/") else { return nil }
    var segments: [Segment] = []
    for part in ModelPath.parts(of: text) {
      if part == "*" {
        segments.append(.any)
        continue
      }
      guard let name = ModelPath.unescaped(part) else { return nil }
      segments.append(.name(Text(name)))
    }
    self.segments = segments
  }

  /// The names of a pointer without wildcards.
  package static func names(of text: String) -> [String] {
    StatePattern(text)?.segments.map { segment in
      if case .name(let name) = segment { name.string } else { "*" }
    } ?? []
  }

  /// Whether the path, or one above it, matches.
  package func covers(_ path: [String]) -> Bool {
    path.count >= segments.count && zip(segments, path).allSatisfy { $0.matches(Text($1)) }
  }

  /// Whether paths below this one may match.
  package func isBelow(_ path: [String]) -> Bool {
    path.count < segments.count && zip(segments, path).allSatisfy { $0.matches(Text($1)) }
  }
}

/// The JSON Pointer of a path.
package func pointer(_ path: [String]) -> String { path.map { "/" + jsonPointerEscaped($0) }.joined() }
