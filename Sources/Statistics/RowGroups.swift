// Groups of rows by the values of several columns, numbered chunk by chunk.

import FeatureStore
import Geometry
import Sorting

/// Numbers groups in the order of their first occurrence. Within a chunk, the groups that occur are also numbered, so that the
/// sums of a chunk need only a few cache lines.
struct RowGroups: Sendable {
  private let columns: [Int]
  private var distinct: [DistinctValues]
  /// For each column after the first: numbers of pairs of a group by the preceding columns and a value.
  private var pairs: [[UInt64: UInt32]]
  /// For each column after the first: the pair with each number.
  private var parts: [[UInt64]]
  /// By group: the last chunk in which it occurred, and its number in that chunk.
  private var lastChunks: [Int] = []
  private var lastNumbers: [UInt16] = []
  private var chunk = 0
  private var numbers = [UInt32](repeating: 0, count: FeatureChunk.capacity)
  private var values = [UInt32](repeating: 0, count: FeatureChunk.capacity)

  /// The groups in the current chunk, in the order of their numbers in it.
  private(set) var occurring: [Int] = []
  /// The number of rows of each of them.
  private(set) var sizes: [Int] = []
  /// The number of each row's group within the chunk.
  private(set) var local = [UInt16](repeating: 0, count: FeatureChunk.capacity)

  /// Without columns, there is one group.
  init(by columns: [Int], of schema: FeatureSchema) {
    self.columns = columns
    distinct = columns.map { DistinctValues(areTimes: schema.isTime($0)) }
    pairs = columns.dropFirst().map { _ in [:] }
    parts = columns.dropFirst().map { _ in [] }
    if columns.isEmpty { occurring = [0] }
  }

  /// The number of groups.
  var count: Int { columns.isEmpty ? 1 : parts.last?.count ?? distinct[0].count }

  /// The number of stored values.
  var cellCount: Int { distinct.reduce(0) { $0 + $1.count } + parts.reduce(0) { $0 + $1.count } }

  /// The values that the rows of a group share.
  func values(of group: Int) -> [AttributeValue] {
    zip(distinct, numbers(of: group)).map { $0[Int($1)] }
  }

  /// The values of a group, with their places in the order of values.
  func rankedValues(of group: Int) -> [RankedValue?] {
    zip(distinct, numbers(of: group)).map { $0.ranked(Int($1)) }
  }

  /// The numbers of a group's values.
  private func numbers(of group: Int) -> [UInt32] {
    var numbers = [UInt32](repeating: 0, count: columns.count)
    var group = group
    for column in columns.indices.dropFirst().reversed() {
      let pair = parts[column - 1][group]
      numbers[column] = UInt32(truncatingIfNeeded: pair)
      group = Int(pair >> 32)
    }
    if !columns.isEmpty { numbers[0] = UInt32(truncatingIfNeeded: group) }
    return numbers
  }

  /// The places of the groups, by the values of each column.
  func places(checking check: CancellationCheck) throws -> [[UInt32]] {
    let places = try distinct.enumerated().map { number, values in
      try values.places { try check((Double(number) + $0) / Double(distinct.count + 1)) }
    }
    var result = columns.map { _ in [UInt32](repeating: 0, count: count) }
    for group in 0..<count {
      if group & 0xfff == 0xfff { try check(Double(distinct.count) / Double(distinct.count + 1)) }
      for (column, number) in numbers(of: group).enumerated() { result[column][group] = places[column][Int(number)] }
    }
    return result
  }

  /// The group of a row with values that occurred; nil for one without a group.
  mutating func number(of row: FeatureRow) -> Int? {
    guard !columns.isEmpty else { return 0 }
    var group: UInt32 = 0
    for index in columns.indices {
      let value = row.withAttribute(columns[index]) { distinct[index].number(of: $0) }
      if index == 0 { group = value } else {
        guard let pair = pairs[index - 1][UInt64(group) << 32 | UInt64(value)] else { return nil }
        group = pair
      }
    }
    return group < count ? Int(group) : nil
  }

  /// Processes rows of the next chunk, which sets ``local`` and ``occurring``.
  mutating func add(_ rows: UnsafeBufferPointer<UInt16>, of chunk: FeatureChunk) {
    guard !columns.isEmpty else { return sizes = [rows.count] }
    self.chunk += 1
    occurring.removeAll(keepingCapacity: true)
    sizes.removeAll(keepingCapacity: true)
    if columns.count == 1, let column = chunk.index(of: columns[0]), chunk.columns[column].layout == .codes {
      return add(rows, of: chunk.columns[column].codes)
    }
    for index in columns.indices {
      numbers.withUnsafeMutableBufferPointer { numbers in
        values.withUnsafeMutableBufferPointer { values in
          distinct[index].number(rows, of: columns[index], in: chunk, into: index == 0 ? numbers : values)
        }
      }
      if index > 0 { pair(rows.count, at: index - 1) }
    }
    renumber(rows.count)
  }

  /// Combines the numbers of groups so far with the values of one more column.
  private mutating func pair(_ count: Int, at level: Int) {
    var (lastPair, lastNumber) = (UInt64.max, UInt32.max)
    for place in 0..<count {
      let pair = UInt64(numbers[place]) << 32 | UInt64(values[place])
      if pair != lastPair {
        lastPair = pair
        lastNumber = pairs[level][pair] ?? UInt32(truncatingIfNeeded: parts[level].count)
        if Int(lastNumber) == parts[level].count {
          pairs[level][pair] = lastNumber
          parts[level].append(pair)
        }
      }
      numbers[place] = lastNumber
    }
  }

  /// One column of codes, each of which is looked up once.
  private mutating func add(_ rows: UnsafeBufferPointer<UInt16>, of column: CodeColumn) {
    withUnsafeTemporaryAllocation(of: UInt16.self, capacity: 1024) { space in
      space.initialize(repeating: 0)
      // By code: the number of rows, and the group within the chunk. In order: the codes that occur, and their first rows.
      let (tally, known) = (space.extracting(..<256), space.extracting(256..<512))
      let (found, first) = (space.extracting(512..<768), space.extracting(768...))
      var count = 0
      column.codes.withUnsafeBufferPointer { codes in
        // Rows ascend, so that these are all of the chunk's.
        let isWhole = rows.count == codes.count && rows.last.map { Int($0) < codes.count } ?? false
        @inline(__always)
        func code(_ place: Int) -> Int {
          if isWhole { return Int(codes[place]) }
          let row = Int(rows[place])
          return Int(row < codes.count ? codes[row] : CodeColumn.none)
        }
        for place in rows.indices {
          let code = code(place)
          if tally[code] == 0 {
            (found[count], first[count]) = (UInt16(truncatingIfNeeded: code), rows[place])
            count &+= 1
          }
          tally[code] &+= 1
        }
        for index in 0..<count {
          let code = Int(found[index])
          known[code] = UInt16(truncatingIfNeeded: index)
          occurring.append(Int(distinct[0].number(ofRow: Int(first[index]), in: column)))
          sizes.append(Int(tally[code]))
        }
        local.withUnsafeMutableBufferPointer { local in
          for place in rows.indices { local[place] = known[code(place)] }
        }
      }
    }
  }

  private mutating func renumber(_ count: Int) {
    withUnsafeTemporaryAllocation(of: UInt16.self, capacity: FeatureChunk.capacity) { tally in
      tally.initialize(repeating: 0)
      while lastChunks.count < self.count {
        lastChunks.append(0)
        lastNumbers.append(0)
      }
      numbers.withUnsafeBufferPointer { numbers in
        local.withUnsafeMutableBufferPointer { local in
          lastChunks.withUnsafeMutableBufferPointer { lastChunks in
            lastNumbers.withUnsafeMutableBufferPointer { lastNumbers in
              for place in 0..<count {
                let group = Int(numbers[place])
                if lastChunks[group] != chunk {
                  lastChunks[group] = chunk
                  lastNumbers[group] = UInt16(truncatingIfNeeded: occurring.count)
                  occurring.append(group)
                }
                local[place] = lastNumbers[group]
                tally[Int(lastNumbers[group])] &+= 1
              }
            }
          }
        }
      }
      sizes = occurring.indices.map { Int(tally[$0]) }
    }
  }
}
