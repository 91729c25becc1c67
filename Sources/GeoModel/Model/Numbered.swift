// Elements ordered by number. Inserting and removing is fast at any position and size.

/// Elements by ascending number.
///
/// Elements are stored in chunks. A write to a copy copies one chunk and the list of chunks.
public struct Numbered<Element: Sendable>: Sendable {
  /// Maximum number of elements in a chunk.
  private static var limit: Int { 64 }

  @usableFromInline struct Chunk: Sendable {
    @usableFromInline var numbers: [Int] = []
    @usableFromInline var elements: [Element] = []
  }

  /// The elements in the order of their numbers.
  public struct Elements: Sequence {
    @usableFromInline let chunks: [Chunk]

    @usableFromInline init(_ chunks: [Chunk]) { self.chunks = chunks }

    public struct Iterator: IteratorProtocol {
      @usableFromInline let chunks: [Chunk]
      @usableFromInline var chunk = 0
      @usableFromInline var index = 0

      @usableFromInline init(_ chunks: [Chunk]) { self.chunks = chunks }

      @inlinable public mutating func next() -> Element? {
        guard chunk < chunks.count else { return nil }
        let element = chunks[chunk].elements[index]
        index += 1
        if index == chunks[chunk].elements.count { (chunk, index) = (chunk + 1, 0) }
        return element
      }
    }

    @inlinable public func makeIterator() -> Iterator { Iterator(chunks) }
  }

  /// No chunk is empty.
  @usableFromInline private(set) var chunks: [Chunk] = []
  /// The first number in each chunk.
  @usableFromInline private(set) var firsts: [Int] = []
  private(set) var count = 0

  init() {}

  var isEmpty: Bool { count == 0 }

  /// In the order of the numbers.
  @inlinable var elements: Elements { Elements(chunks) }

  /// The results of applying a function to each element, in the order of the numbers. Elements are not copied.
  func map<Result>(_ result: (Element) -> Result) -> [Result] {
    var results: [Result] = []
    results.reserveCapacity(count)
    for chunk in chunks {
      chunk.elements.withUnsafeBufferPointer { elements in
        for index in elements.indices { results.append(result(elements[index])) }
      }
    }
    return results
  }

  /// The results of applying a function to each of the next elements, and the number of the last of these.
  ///
  /// - Complexity: O(log n + k) for a limit of k.
  func map<Result>(after number: Int, limit: Int, _ result: (Element) -> Result) -> (results: [Result], last: Int) {
    var results: [Result] = []
    var last = number
    guard !isEmpty else { return (results, last) }
    for chunk in chunks[chunkIndex(of: number)...] {
      chunk.elements.withUnsafeBufferPointer { elements in
        for index in elements.indices where chunk.numbers[index] > number && results.count < limit {
          results.append(result(elements[index]))
          last = chunk.numbers[index]
        }
      }
      if results.count == limit { break }
    }
    return (results, last)
  }

  /// The next numbers after one, at most `limit`.
  func numbers(after number: Int, limit: Int) -> [Int] {
    var numbers: [Int] = []
    guard !isEmpty else { return numbers }
    for chunk in chunks[chunkIndex(of: number)...] {
      numbers += chunk.numbers.lazy.filter { $0 > number }.prefix(limit - numbers.count)
      if numbers.count == limit { break }
    }
    return numbers
  }

  /// - Complexity: O(log n).
  @inlinable subscript(number: Int) -> Element? {
    guard let (chunk, index) = place(of: number) else { return nil }
    return chunks[chunk].elements[index]
  }

  /// Changes an element in place. Returns nil if there is none.
  mutating func modify<R, E: Error>(_ number: Int, _ body: (inout Element) throws(E) -> R) throws(E) -> R? {
    guard let (chunk, index) = place(of: number) else { return nil }
    return try body(&chunks[chunk].elements[index])
  }

  mutating func modifyAll(_ body: (inout Element) -> Void) {
    for chunk in chunks.indices {
      for index in chunks[chunk].elements.indices { body(&chunks[chunk].elements[index]) }
    }
  }

  /// Inserts an element, or replaces the one with the same number.
  mutating func insert(_ element: Element, at number: Int) {
    guard let last = chunks.last?.numbers.last, number <= last else { return append(element, at: number) }
    var chunk = chunkIndex(of: number)
    var index = Self.firstIndex(in: chunks[chunk].numbers) { $0 >= number }
    // The number may exceed all numbers of its chunk, after the last elements of that chunk were removed.
    if index < chunks[chunk].numbers.count, chunks[chunk].numbers[index] == number {
      chunks[chunk].elements[index] = element
      return
    }
    if chunks[chunk].numbers.count == Self.limit {
      split(chunk)
      if index > Self.limit / 2 { (chunk, index) = (chunk + 1, index - Self.limit / 2) }
    }
    chunks[chunk].numbers.insert(number, at: index)
    chunks[chunk].elements.insert(element, at: index)
    firsts[chunk] = chunks[chunk].numbers[0]
    count += 1
  }

  private mutating func append(_ element: Element, at number: Int) {
    if chunks.isEmpty || chunks[chunks.count - 1].numbers.count == Self.limit {
      chunks.append(Chunk())
      firsts.append(number)
    }
    chunks[chunks.count - 1].numbers.append(number)
    chunks[chunks.count - 1].elements.append(element)
    count += 1
  }

  private mutating func split(_ chunk: Int) {
    let middle = Self.limit / 2
    let rest = Chunk(
      numbers: Array(chunks[chunk].numbers[middle...]), elements: Array(chunks[chunk].elements[middle...]))
    chunks[chunk].numbers.removeLast(Self.limit - middle)
    chunks[chunk].elements.removeLast(Self.limit - middle)
    chunks.insert(rest, at: chunk + 1)
    firsts.insert(rest.numbers[0], at: chunk + 1)
  }

  /// Reads an element in place, without a copy of it; nil if there is none.
  ///
  /// - Parameter body: gets a pointer that is valid during the call; a borrowed element of many bytes would be copied.
  func read<R>(_ number: Int, _ body: (UnsafePointer<Element>) -> R) -> R? {
    guard let (chunk, index) = place(of: number) else { return nil }
    return chunks[chunk].elements.withUnsafeBufferPointer { $0.baseAddress.map { body($0 + index) } }
  }

  mutating func remove(_ number: Int) -> Element? {
    guard let (chunk, index) = place(of: number) else { return nil }
    count -= 1
    chunks[chunk].numbers.remove(at: index)
    let element = chunks[chunk].elements.remove(at: index)
    if let first = chunks[chunk].numbers.first {
      firsts[chunk] = first
    } else {
      chunks.remove(at: chunk)
      firsts.remove(at: chunk)
    }
    return element
  }

  @inlinable func place(of number: Int) -> (chunk: Int, index: Int)? {
    guard !chunks.isEmpty else { return nil }
    let chunk = chunkIndex(of: number)
    let numbers = chunks[chunk].numbers
    let index = Self.firstIndex(in: numbers) { $0 >= number }
    return index < numbers.count && numbers[index] == number ? (chunk, index) : nil
  }

  /// Index of the chunk that contains the number, or into which it is to be inserted. There is at least one chunk.
  @inlinable func chunkIndex(of number: Int) -> Int {
    chunks.count == 1 ? 0 : max(0, Self.firstIndex(in: firsts) { $0 > number } - 1)
  }

  /// Index of the first number that satisfies a condition, in an ascending list in which all later numbers satisfy it, too; the
  /// count if none does.
  @inlinable static func firstIndex(in numbers: [Int], where holds: (Int) -> Bool) -> Int {
    var (low, high) = (0, numbers.count)
    while low < high {
      let middle = (low + high) / 2
      if holds(numbers[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
