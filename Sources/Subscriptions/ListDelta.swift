// The difference of two ordered lists by id, in JSON Patch's operations: removals, moves, insertions, replacements.

import GeoModel
import Geometry
import JSON

/// An element of a list, by its id.
package struct ListElement: Equatable {
  package let id: Text
  /// As JSON.
  package let text: Text

  package init(id: String, text: String) {
    self.id = Text(id)
    self.text = Text(text)
  }

  /// An element that consists of its id alone.
  package init(id: String) {
    var writer = JSONWriter(capacity: id.utf8.count + 8)
    writer.value(id)
    self.init(id: id, text: writer.string)
  }

  /// The elements of an array of strings, or of objects with an `id`; nil for other values, and when an id occurs twice.
  package static func elements(of text: String) -> [ListElement]? {
    guard let document = try? JSONDocument(text) else { return nil }
    return document.read { array in
      guard array.kind == .array else { return nil }
      var elements: [ListElement] = []
      var ids: Set<Text> = []
      for index in 0..<array.count {
        let value = array[index]
        guard let id = try? (value.kind == .object ? value["id"] : value).string(), ids.insert(Text(id)).inserted
        else { return nil }
        elements.append(ListElement(id: id, text: value.jsonText))
      }
      return elements
    }
  }
}

package enum ListDelta {
  /// One operation. Its indices are valid when all operations before it have been applied.
  package enum Step {
    case remove(Int, id: String)
    case move(from: Int, to: Int, id: String)
    case add(Int, ListElement)
    case replace(Int, ListElement)
  }

  /// The steps from `old` to `new`; nil when an id occurs twice in one of them.
  ///
  /// - Complexity: O(n), and O(m) per move for the m elements between the common start and end; at most ``moveLimit`` moves.
  package static func steps(from old: [ListElement], to new: [ListElement]) -> [Step]? {
    let (first, last) = common(old, new)
    return inner(Array(old[first..<old.count - last]), Array(new[first..<new.count - last]), at: first)
  }

  /// The steps between two lists of ids.
  ///
  /// - Complexity: as above, except that the lists' shared chunks at the start and end are skipped whole.
  package static func steps(from old: TextList, to new: TextList) -> [Step]? {
    let first = old.commonStart(with: new)
    let last = min(old.commonEnd(with: new), min(old.count, new.count) - first)
    return inner(
      old[first..<old.count - last].map { ListElement(id: $0.string) },
      new[first..<new.count - last].map { ListElement(id: $0.string) }, at: first)
  }

  /// Lengths of the common start, and of the common end of the remaining elements.
  private static func common<Element: Equatable>(_ old: [Element], _ new: [Element]) -> (first: Int, last: Int) {
    let most = min(old.count, new.count)
    var first = 0
    while first < most, old[first] == new[first] { first += 1 }
    var last = 0
    while last < most - first, old[old.count - 1 - last] == new[new.count - 1 - last] { last += 1 }
    return (first, last)
  }

  /// Moves beyond this number are removals and insertions instead: finding an element is O(n) for each move.
  package static let moveLimit = 100

  /// The steps between two lists that differ in their first and in their last element.
  ///
  /// - Parameter start: the index of the first element in the whole lists.
  private static func inner(_ old: [ListElement], _ new: [ListElement], at start: Int) -> [Step]? {
    var texts = Dictionary(old.map { ($0.id, $0.text) }) { $1 }
    let kept = new.filter { texts[$0.id] != nil }
    let ranks = Dictionary(kept.enumerated().map { ($1.id, $0) }) { $1 }
    guard texts.count == old.count, ranks.count == kept.count else { return nil }
    var steps: [Step] = []
    for (index, element) in old.enumerated().reversed() where ranks[element.id] == nil {
      steps.append(.remove(start + index, id: element.id.string))
    }
    var order = old.compactMap { ranks[$0.id] }
    let (moves, sorted) = moves(sorting: &order)
    steps += moves.map { .move(from: start + $0, to: start + $1, id: kept[$2].id.string) }
    for index in (sorted..<order.count).reversed() {
      let element = kept[order[index]]
      steps.append(.remove(start + index, id: element.id.string))
      texts[element.id] = nil
    }
    var changed: [Step] = []
    for (index, element) in new.enumerated() {
      guard let text = texts[element.id] else {
        steps.append(.add(start + index, element))
        continue
      }
      if text != element.text { changed.append(.replace(start + index, element)) }
    }
    return steps + changed
  }

  /// Sorts a permutation of 0..<n by moves; one suffices where one element was moved.
  ///
  /// - Returns: The moves, and the number of elements at the start that they have sorted: all, unless there are more than
  ///   ``moveLimit`` moves.
  private static func moves(sorting order: inout [Int]) -> (moves: [(from: Int, to: Int, rank: Int)], sorted: Int) {
    var moves: [(from: Int, to: Int, rank: Int)] = []
    var sorted = 0
    while sorted < order.count {
      let rank = order[sorted]
      guard rank != sorted else {
        sorted += 1
        continue
      }
      guard moves.count < moveLimit else { break }
      // Either this element moves back to its index, or the one that belongs here moves forward.
      let isLate = order[sorted + 1] == sorted
      let from = isLate ? sorted : order[sorted...].firstIndex(of: sorted) ?? sorted
      let to = isLate ? rank : sorted
      let moved = order.remove(at: from)
      order.insert(moved, at: to)
      moves.append((from, to, moved))
    }
    return (moves, sorted)
  }
}
