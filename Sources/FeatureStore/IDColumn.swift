// The ids of a chunk's rows: usually consecutive numbers.

import Sorting

/// The ids of a chunk: a range while they are consecutive, else a list.
struct IDColumn: Sendable {
  private var run = 0..<0
  private var list: [Int] = []

  var count: Int { list.isEmpty ? run.count : list.count }

  var values: [Int] { list.isEmpty ? Array(run) : list }

  @inline(__always)
  subscript(row: Int) -> Int { list.isEmpty ? run.lowerBound &+ row : list[row] }

  /// The first id, and the address of the ids if they are not consecutive; valid while the column is kept alive and unchanged.
  var address: (first: Int, list: UnsafePointer<Int>?) {
    (run.lowerBound, list.isEmpty ? nil : list.withUnsafeBufferPointer(\.baseAddress))
  }

  /// All ids, if they are consecutive.
  var consecutive: Range<Int>? { list.isEmpty && !run.isEmpty ? run : nil }

  mutating func append(_ ids: ArraySlice<Int>) {
    guard let first = ids.first else { return }
    if list.isEmpty, run.isEmpty || run.upperBound == first, zip(ids, ids.dropFirst()).allSatisfy({ $0 + 1 == $1 }) {
      run = (run.isEmpty ? first : run.lowerBound)..<first + ids.count
      return
    }
    if list.isEmpty {
      list = Array(run)
      run = 0..<0
    }
    list.grow(to: list.count + ids.count)
    list.append(contentsOf: ids)
  }

  mutating func truncate(to rows: Int) {
    run = run.prefix(rows)
    list.truncate(to: rows)
  }

  var byteCount: Int { list.count * 8 }

  /// The row of an id; ids have to ascend.
  func row(of id: Int) -> Int? {
    if list.isEmpty { return run.contains(id) ? id - run.lowerBound : nil }
    let row = list.partitioningIndex { $0 >= id }
    return row < list.count && list[row] == id ? row : nil
  }
}
