// Paths into the state tree: JSON Pointers (RFC 6901) in which `*` stands for any one segment.

import GeoModel
import Geometry
import JSON

/// A path as clients give it.
struct StatePattern: Hashable {
  enum Segment: Hashable {
    case any
    case name(Text)

    var hasPartialWildcard: Bool {
      if case .name(let name) = self { name.string.utf8.contains(UInt8(ascii: "*")) } else { false }
    }

    func matches(_ name: Text) -> Bool { self == .any || self == .name(name) }
  }
  let segments: [Segment]

  /// Nil when `text` is no JSON Pointer.
  init?(_ text: String) {
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

  /// The names in a concrete path's text.
  static func names(of text: String) -> [String] {
    StatePattern(text)?.segments.map { segment in
      if case .name(let name) = segment { name.string } else { "*" }
    } ?? []
  }

  /// Whether the place is the one meant or lies below it.
  func covers(_ path: [String]) -> Bool {
    path.count >= segments.count && zip(segments, path).allSatisfy { $0.matches(Text($1)) }
  }

  /// Whether the place lies above one that may be meant.
  func isBelow(_ path: [String]) -> Bool {
    path.count < segments.count && zip(segments, path).allSatisfy { $0.matches(Text($1)) }
  }
}

/// The text of a concrete path.
func pointer(_ path: [String]) -> String { path.map { "/" + jsonPointerEscaped($0) }.joined() }
