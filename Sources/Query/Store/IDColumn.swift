// The ids of a chunk's rows, and of rows to be added: usually consecutive numbers.

/// Ids of rows to be added: minted ones, or those of a batch.
enum IDSlice {
  case run(first: Int, count: Int)
  case list(ArraySlice<Int>)

  var isAscending: Bool {
    guard case .list(let ids) = self else { return true }
    return zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 }
  }

  subscript(index: Int) -> Int {
    switch self {
    case .run(let first, _): first + index
    case .list(let ids): ids[ids.startIndex + index]
    }
  }

  var first: Int? {
    switch self {
    case .run(let first, let count): count > 0 ? first : nil
    case .list(let ids): ids.first
    }
  }

  var last: Int? {
    switch self {
    case .run(let first, let count): count > 0 ? first + count - 1 : nil
    case .list(let ids): ids.last
    }
  }
}

/// The ids of a chunk: a base while they are consecutive, else a list.
struct IDColumn: Sendable {
  private var first = 0
  private var runCount = 0
  private var list: [Int] = []

  var count: Int { list.isEmpty ? runCount : list.count }

  @inline(__always)
  subscript(row: Int) -> Int { list.isEmpty ? first &+ row : list[row] }

  mutating func append(_ slice: IDSlice) {
    if list.isEmpty, case .run(let next, let more) = slice, runCount == 0 || next == first + runCount {
      if runCount == 0 { first = next }
      runCount += more
      return
    }
    if list.isEmpty {
      list = (0..<runCount).map { first + $0 }
      runCount = 0
    }
    switch slice {
    case .run(let next, let more):
      list.grow(to: list.count + more)
      list.append(contentsOf: next..<next + more)
    case .list(let ids):
      list.grow(to: list.count + ids.count)
      list.append(contentsOf: ids)
    }
  }

  mutating func truncate(to rows: Int) {
    runCount = Swift.min(runCount, rows)
    list.truncate(to: rows)
  }

  var byteCount: Int { list.count * 8 }

  /// The row of an id, where ids ascend.
  func row(of id: Int) -> Int? {
    if list.isEmpty { return id >= first && id < first + runCount ? id - first : nil }
    var low = 0
    var high = list.count
    while low < high {
      let middle = (low + high) / 2
      if list[middle] < id { low = middle + 1 } else { high = middle }
    }
    return low < list.count && list[low] == id ? low : nil
  }
}
