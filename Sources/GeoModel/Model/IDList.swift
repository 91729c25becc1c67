// Ordered lists of ids: the layers of a map, the overlays of a view. A map may have a hundred thousand layers and every command
// keeps the earlier list, so changing, copying and comparing long lists must be fast.

import Geometry
import HashTreeCollections

/// Ordered texts, without repetition.
///
/// The texts lie in chunks that copies share. Comparing two states of a list skips the chunks that they share.
public struct TextList: Sendable {
  /// Maximum number of texts in a chunk.
  private static let limit = 256

  private struct Chunk: Sendable {
    let key: Int
    var texts: [Text]
  }

  /// No chunk is empty.
  private var chunks: [Chunk] = []
  /// The key of each text's chunk; nil while there is only one chunk.
  private var homes: TreeDictionary<Text, Int>?
  private var lastKey = 0
  public private(set) var count = 0

  public init(_ texts: some Sequence<Text> = []) { for text in texts { insert(text, at: count) } }

  public var isEmpty: Bool { count == 0 }

  /// - Complexity: O(√n).
  public func firstIndex(of text: Text) -> Int? {
    if let homes {
      guard let key = homes[text] else { return nil }
      var before = 0
      for chunk in chunks {
        if chunk.key == key { return chunk.texts.firstIndex(of: text).map { before + $0 } }
        before += chunk.texts.count
      }
      return nil
    }
    return chunks.first?.texts.firstIndex(of: text)
  }

  public func contains(_ text: Text) -> Bool {
    homes.map { $0[text] != nil } ?? (chunks.first?.texts.contains(text) ?? false)
  }

  /// The texts at a range of indexes.
  public subscript(range: Range<Int>) -> [Text] {
    var result: [Text] = []
    var before = 0
    for chunk in chunks {
      let own = (range.lowerBound - before)..<(range.upperBound - before)
      result += chunk.texts[own.clamped(to: 0..<chunk.texts.count)]
      before += chunk.texts.count
      if before >= range.upperBound { break }
    }
    return result
  }

  /// - Complexity: O(√n).
  mutating func insert(_ text: Text, at index: Int) {
    var (chunk, offset) = place(of: index)
    if chunk == chunks.count || offset == Self.limit && chunk == chunks.count - 1 {
      add([], at: chunks.count)
      (chunk, offset) = (chunks.count - 1, 0)
    } else if chunks[chunk].texts.count == Self.limit {
      let middle = Self.limit / 2
      let rest = Array(chunks[chunk].texts[middle...])
      chunks[chunk].texts.removeLast(rest.count)
      add(rest, at: chunk + 1)
      if offset > middle { (chunk, offset) = (chunk + 1, offset - middle) }
    }
    chunks[chunk].texts.insert(text, at: offset)
    homes?[text] = chunks[chunk].key
    count += 1
  }

  private mutating func add(_ texts: [Text], at index: Int) {
    lastKey += 1
    chunks.insert(Chunk(key: lastKey, texts: texts), at: index)
    if chunks.count == 2 {
      homes = [:]
      for chunk in chunks { for text in chunk.texts { homes?[text] = chunk.key } }
    } else {
      for text in texts { homes?[text] = lastKey }
    }
  }

  /// - Returns: whether the text was in the list.
  @discardableResult
  mutating func remove(_ text: Text) -> Bool {
    guard let index = firstIndex(of: text) else { return false }
    let (chunk, offset) = place(of: index)
    chunks[chunk].texts.remove(at: offset)
    homes?[text] = nil
    count -= 1
    if chunks[chunk].texts.isEmpty { chunks.remove(at: chunk) }
    if chunks.count < 2 { homes = nil }
    return true
  }

  /// The chunk that contains the index, and the index in that chunk. For the end index, the last chunk.
  private func place(of index: Int) -> (chunk: Int, offset: Int) {
    var before = 0
    for (number, chunk) in chunks.enumerated() {
      if index < before + chunk.texts.count || number == chunks.count - 1 { return (number, index - before) }
      before += chunk.texts.count
    }
    return (0, 0)
  }

  // MARK: Comparing

  /// Length of the common beginning of both lists; may be less where their chunks differ.
  public func commonStart(with other: TextList) -> Int {
    var result = 0
    for (own, its) in zip(chunks, other.chunks) {
      guard own.texts != its.texts else {
        result += own.texts.count
        continue
      }
      return result + zip(own.texts, its.texts).prefix { $0 == $1 }.count
    }
    return result
  }

  /// Length of the common end of both lists; may be less where their chunks differ.
  public func commonEnd(with other: TextList) -> Int {
    var result = 0
    for (own, its) in zip(chunks.reversed(), other.chunks.reversed()) {
      guard own.texts != its.texts else {
        result += own.texts.count
        continue
      }
      return result + zip(own.texts.reversed(), its.texts.reversed()).prefix { $0 == $1 }.count
    }
    return result
  }
}

extension TextList {
  /// Calls `body` with each text in order. Much faster than iteration from another module, which cannot iterate by chunks.
  public func forEach(_ body: (Text) -> Void) { for chunk in chunks { for text in chunk.texts { body(text) } } }
}

extension TextList: Sequence {
  public func makeIterator() -> some IteratorProtocol<Text> { chunks.lazy.flatMap(\.texts).makeIterator() }
}

extension TextList: Hashable {
  public static func == (left: TextList, right: TextList) -> Bool {
    guard left.count == right.count else { return false }
    return left.commonStart(with: right) == left.count || left.elementsEqual(right)
  }

  public func hash(into hasher: inout Hasher) { for text in self { hasher.combine(text) } }
}

/// Ids of one kind of objects, ordered, without repetition.
public struct IDList<Object>: Hashable, Sendable {
  public private(set) var texts = TextList()

  public var count: Int { texts.count }
  public var isEmpty: Bool { texts.isEmpty }

  public func contains(_ id: ID<Object>) -> Bool { texts.contains(Text(id.rawValue)) }

  mutating func insert(_ id: ID<Object>, at index: Int) { texts.insert(Text(id.rawValue), at: index) }
  mutating func append(_ id: ID<Object>) { texts.insert(Text(id.rawValue), at: count) }
  mutating func remove(_ id: ID<Object>) { texts.remove(Text(id.rawValue)) }
}

extension IDList: Sequence {
  public func makeIterator() -> some IteratorProtocol<ID<Object>> {
    texts.lazy.map { ID<Object>($0.string) }.makeIterator()
  }
}

extension IDList: ExpressibleByArrayLiteral {
  public init(arrayLiteral ids: ID<Object>...) { for id in ids { append(id) } }
}

extension IDList: MemberReadable {
  public static var shape: MemberShape { .list }
  public var memberValue: MemberValue { .ids(texts) }
}
