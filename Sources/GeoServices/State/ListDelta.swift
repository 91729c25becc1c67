// What leads from one ordered list to another: deletions, the fewest moves, insertions, new values; by id, in JSON Patch's terms.

import Geometry
import JSON

/// An element of a list, by its id.
struct ListElement: Equatable {
  let id: Text
  /// As JSON.
  let text: Text

  init(id: String, text: String) {
    self.id = Text(id)
    self.text = Text(text)
  }

  /// One that is its own id.
  init(id: String) {
    var writer = JSONWriter(capacity: id.utf8.count + 8)
    writer.value(id)
    self.init(id: id, text: writer.string)
  }

  /// The elements of an array of strings or of objects with an `id`, each of which is there once; nil for others.
  static func elements(of text: String) -> [ListElement]? {
    guard let document = try? JSONDocument(text) else { return nil }
    return document.read { array in
      guard array.kind == .array else { return nil }
      var elements: [ListElement] = []
      var ids: Set<Text> = []
      for place in 0..<array.count {
        let value = array[place]
        guard let id = try? (value.kind == .object ? value["id"] : value).string(), ids.insert(Text(id)).inserted
        else { return nil }
        elements.append(ListElement(id: id, text: value.text))
      }
      return elements
    }
  }
}

enum ListDelta {
  /// One change; places are those at its turn.
  enum Step {
    case remove(Int, id: String)
    case move(from: Int, to: Int, id: String)
    case add(Int, ListElement)
    case replace(Int, ListElement)
  }

  /// The steps from `old` to `new`, whose ids are unique in each.
  ///
  /// - Complexity: O(n), and O(m log m) for the m elements between what both begin and end with.
  static func steps(from old: [ListElement], to new: [ListElement]) -> [Step] {
    let (first, last) = common(old, new)
    return inner(Array(old[first..<old.count - last]), Array(new[first..<new.count - last]), at: first)
  }

  /// The same of lists of ids.
  static func steps(from old: [String], to new: [String]) -> [Step] {
    let (first, last) = common(old, new)
    let (before, now) = (old[first..<old.count - last], new[first..<new.count - last])
    // One that was moved is found at once, as none else has come, gone or moved.
    if before.count == now.count, before.count > 2, let head = before.first, let tail = before.last {
      let (low, high) = (first, first + before.count - 1)
      if now.last == head, before.dropFirst().elementsEqual(now.dropLast()) {
        return [.move(from: low, to: high, id: head)]
      }
      if now.first == tail, before.dropLast().elementsEqual(now.dropFirst()) {
        return [.move(from: high, to: low, id: tail)]
      }
    }
    return inner(before.map { ListElement(id: $0) }, now.map { ListElement(id: $0) }, at: first)
  }

  /// With how many elements both begin, and with how many further ones they end.
  private static func common<Element: Equatable>(_ old: [Element], _ new: [Element]) -> (first: Int, last: Int) {
    let most = min(old.count, new.count)
    var first = 0
    while first < most, old[first] == new[first] { first += 1 }
    var last = 0
    while last < most - first, old[old.count - 1 - last] == new[new.count - 1 - last] { last += 1 }
    return (first, last)
  }

  /// The steps where neither list begins or ends with the other's elements.
  ///
  /// - Parameter start: the place in the whole lists of the first element.
  private static func inner(_ old: [ListElement], _ new: [ListElement], at start: Int) -> [Step] {
    let places = Dictionary(uniqueKeysWithValues: new.enumerated().map { ($1.id, $0) })
    var steps: [Step] = []
    for (place, element) in old.enumerated().reversed() where places[element.id] == nil {
      steps.append(.remove(start + place, id: element.id.string))
    }
    let kept = old.filter { places[$0.id] != nil }
    steps += moves(kept.compactMap { places[$0.id] }).map {
      .move(from: start + $0, to: start + $1, id: new[$2].id.string)
    }
    let texts = Dictionary(uniqueKeysWithValues: kept.map { ($0.id, $0.text) })
    var changed: [Step] = []
    for (place, element) in new.enumerated() {
      guard let text = texts[element.id] else {
        steps.append(.add(start + place, element))
        continue
      }
      if text != element.text { changed.append(.replace(start + place, element)) }
    }
    return steps + changed
  }

  /// The fewest moves that sort distinct numbers: from where, to where, which number.
  ///
  /// What belongs to a longest ascending run stays; every other number goes right behind the one before it. So all places that
  /// are ever taken are known beforehand, in their order, and a Fenwick tree counts how many are taken before one.
  private static func moves(_ numbers: [Int]) -> [(from: Int, to: Int, number: Int)] {
    let staying = longestAscending(numbers)
    guard staying.count < numbers.count else { return [] }
    // The numbers that move, behind the one that stays before them; -1 where none does.
    var followers: [Int: [Int]] = [:]
    var anchor = -1
    for number in numbers.sorted() {
      if staying.contains(number) { anchor = number } else { followers[anchor, default: []].append(number) }
    }
    var oldSlot: [Int: Int] = [:]
    var newSlot: [Int: Int] = [:]
    var slots = 0
    func take(_ slot: inout [Int: Int], _ number: Int) {
      slot[number] = slots
      slots += 1
    }
    for number in followers[-1] ?? [] { take(&newSlot, number) }
    for number in numbers {
      take(&oldSlot, number)
      for follower in followers[number] ?? [] { take(&newSlot, follower) }
    }
    var taken = FenwickTree(slots)
    for number in numbers { taken.add(1, at: oldSlot[number] ?? 0) }
    return numbers.filter { !staying.contains($0) }.sorted().map { number in
      let (old, new) = (oldSlot[number] ?? 0, newSlot[number] ?? 0)
      let from = taken.sum(before: old)
      taken.add(-1, at: old)
      let to = taken.sum(before: new)
      taken.add(1, at: new)
      return (from, to, number)
    }
  }

  /// A longest ascending subsequence of distinct numbers, by patience sorting.
  private static func longestAscending(_ numbers: [Int]) -> Set<Int> {
    /// The smallest number that ends an ascending run of each length.
    var ends: [Int] = []
    var before: [Int: Int] = [:]
    for number in numbers {
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if ends[middle] < number { low = middle + 1 } else { high = middle }
      }
      if low > 0 { before[number] = ends[low - 1] }
      if low == ends.count { ends.append(number) } else { ends[low] = number }
    }
    var run: Set<Int> = []
    var last = ends.last
    while let number = last {
      run.insert(number)
      last = before[number]
    }
    return run
  }
}

/// Sums over a prefix, and changes, in O(log n).
private struct FenwickTree {
  private var sums: [Int]
  init(_ count: Int) { sums = Array(repeating: 0, count: count + 1) }

  mutating func add(_ amount: Int, at place: Int) {
    var index = place + 1
    while index < sums.count {
      sums[index] += amount
      index += index & -index
    }
  }

  func sum(before place: Int) -> Int {
    var index = place
    var sum = 0
    while index > 0 {
      sum += sums[index]
      index -= index & -index
    }
    return sum
  }
}
