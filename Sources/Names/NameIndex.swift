// The names in one column of one chunk, sorted for searches by text.

import Sorting

/// How well a name matches a text.
public struct NameMatch: Hashable, Sendable {
  public let row: UInt32
  /// 100 for an equal name, 90 for a name that begins with the text, 80 if another word of the name does, or if each word of
  /// the text begins one of the name, 70 if the text has all words of the name, less for edits.
  public let score: Int

  package init(row: UInt32, score: Int) { (self.row, self.score) = (row, score) }
}

/// The folded names of a chunk's rows: in the order of rows, and sorted by the texts that start at their words.
///
/// About 30 bytes per name. Immutable: a chunk makes another index when the column changes.
package final class NameIndex: Sendable {
  /// The folded names, concatenated.
  private let bytes: [UInt8]
  /// The start of each row's name in ``bytes``, followed by the end of the last name.
  private let starts: [UInt32]
  private let signatures: [UInt64]
  /// The start of each word in ``bytes``, sorted by the text from there to the end of the name.
  private let words: [UInt32]

  package init(names: [String?]) {
    var bytes: [UInt8] = []
    var starts: [UInt32] = [0]
    var signatures: [UInt64] = []
    var words: [UInt32] = []
    for name in names {
      let folded = name.map(NameText.folded) ?? []
      for index in folded.indices where index == 0 || folded[index - 1] == 0x20 {
        words.append(UInt32(bytes.count + index))
      }
      signatures.append(folded.withUnsafeBufferPointer { NameText.signature(NameText.letters($0)) })
      // A byte less than all others ends each name, so that comparisons need no lengths.
      bytes += folded
      bytes.append(0)
      starts.append(UInt32(bytes.count))
    }
    bytes.withUnsafeBufferPointer { bytes in
      words.sort { Self.isBefore(bytes, Int($0), Int($1)) }
    }
    (self.bytes, self.starts, self.signatures, self.words) = (bytes, starts, signatures, words)
  }

  private static func isBefore(_ bytes: UnsafeBufferPointer<UInt8>, _ left: Int, _ right: Int) -> Bool {
    var (left, right) = (left, right)
    guard left != right else { return false }
    while bytes[left] == bytes[right] {
      if bytes[left] == 0 { return left < right }
      left += 1
      right += 1
    }
    return bytes[left] < bytes[right]
  }

  /// Calls `body` once for each matching row of the chunk, with its score.
  package func matches(_ query: NameQuery, atLeast minScore: Int, _ body: (Int, Int) -> Void) {
    var scores: [(row: Int, score: Int)] = []
    bytes.withUnsafeBufferPointer { bytes in
      addPrefixed(query, bytes, to: &scores)
      addWords(query, bytes, to: &scores)
      if minScore < 80 { addEdited(query, bytes, to: &scores) }
    }
    scores.sort { $0.row != $1.row ? $0.row < $1.row : $0.score > $1.score }
    var previous = -1
    for (row, score) in scores where row != previous && score >= minScore {
      body(row, score)
      previous = row
    }
  }

  private func addPrefixed(
    _ query: NameQuery, _ bytes: UnsafeBufferPointer<UInt8>, to scores: inout [(row: Int, score: Int)]
  ) {
    for word in words[range(of: query.bytes, bytes)] {
      let row = row(of: word)
      let isStart = starts[row] == word
      let isWhole = bytes[Int(word) + query.bytes.count] == 0
      scores.append((row, isStart ? isWhole ? 100 : 90 : 80))
    }
  }

  /// Adds names in which each word of the text begins a word, and names of which all words are in the text.
  private func addWords(
    _ query: NameQuery, _ bytes: UnsafeBufferPointer<UInt8>, to scores: inout [(row: Int, score: Int)]
  ) {
    let ranges = query.words.map { range(of: $0, bytes) }
    guard let rarest = ranges.min(by: { $0.count < $1.count }) else { return }
    for word in words[rarest] {
      var rest = nameWords(row(of: word), bytes)
      let hasAll = query.words.allSatisfy { word in
        guard let index = rest.firstIndex(where: { $0.starts(with: word) }) else { return false }
        rest.remove(at: index)
        return true
      }
      if hasAll { scores.append((row(of: word), 80)) }
    }
    for (text, range) in zip(query.words, ranges) {
      for word in words[range] {
        // Equal words come before longer ones.
        guard bytes[Int(word) + text.count] <= 0x20 else { break }
        let row = row(of: word)
        guard starts[row] == word, nameWords(row, bytes).allSatisfy({ query.words.contains(Array($0)) }) else { continue }
        scores.append((row, 70))
      }
    }
  }

  private func nameWords(_ row: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> [Slice<UnsafeBufferPointer<UInt8>>] {
    bytes[Int(starts[row])..<Int(starts[row + 1]) - 1].split(separator: 0x20)
  }

  private func row(of word: UInt32) -> Int { starts.partitioningIndex { $0 > word } - 1 }

  /// The texts in ``words`` that have the prefix.
  private func range(of prefix: [UInt8], _ bytes: UnsafeBufferPointer<UInt8>) -> Range<Int> {
    let start = words.partitioningIndex { Self.order(bytes, Int($0), prefix) >= 0 }
    return start..<words.partitioningIndex { Self.order(bytes, Int($0), prefix) > 0 }
  }

  /// -1 if the text is before all texts with the prefix, 0 if it has the prefix, 1 if it is after them.
  private static func order(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ prefix: [UInt8]) -> Int {
    for (index, byte) in prefix.enumerated() where bytes[start + index] != byte {
      return bytes[start + index] < byte ? -1 : 1
    }
    return 0
  }

  private func addEdited(
    _ query: NameQuery, _ bytes: UnsafeBufferPointer<UInt8>, to scores: inout [(row: Int, score: Int)]
  ) {
    let limit = query.maximumEdits
    guard limit > 0 else { return }
    for row in signatures.indices where (signatures[row] ^ query.signature).nonzeroBitCount <= 2 * limit {
      let name = UnsafeBufferPointer(rebasing: bytes[Int(starts[row])..<Int(starts[row + 1]) - 1])
      guard !name.isEmpty, name.count <= query.bytes.count + 4 * limit else { continue }
      let letters = NameText.letters(name)
      guard let edits = NameText.edits(query.letters, letters, atMost: limit), edits > 0 else { continue }
      scores.append((row, 79 - 79 * edits / max(query.letters.count, letters.count)))
    }
  }
}
