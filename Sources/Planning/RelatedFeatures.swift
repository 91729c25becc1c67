// Features related by equal values of a key field: groups the features of one query by those of another.

import FeatureStore
import Geometry

/// Finds the related features with a hash table over the keys of one side.
package struct RelatedFeatures {
  /// A value that relates features; numbers are equal by value.
  private enum Key: Hashable {
    case integer(Int64)
    case double(Double)
    case text(Text)
    case bool(Bool)

    init?(_ value: AttributeValue) {
      switch value {
      case .integer(let number): self = .integer(number)
      case .double(let number):
        guard !number.isNaN else { return nil }
        self = Int64(exactly: number).map { .integer($0) } ?? .double(number)
      case .string(let text): self = .text(Text(text))
      case .bool(let flag): self = .bool(flag)
      case .null, .json: return nil
      }
    }
  }

  /// A feature of the origin with the rows of its related features.
  package struct Group {
    package let id: Int
    package let count: Int
    package var rows: ArraySlice<UInt32>
  }

  /// The groups for the origin's rows, with at most `limit` related features in total after the first
  /// `offset`, and whether there are more.
  ///
  /// - Parameters:
  ///   - related: rows in the order that they have in each group.
  ///   - share: checked every few thousand rows.
  /// - Complexity: O(n + m) in the numbers of rows of both sides.
  package static func groups(
    _ origin: (store: FeatureStore, rows: [UInt32], column: Int),
    _ related: (store: FeatureStore, rows: [UInt32], column: Int), offset: Int, limit: Int, _ share: WorkShare
  ) throws -> (groups: [Group], exceeded: Bool) {
    let shares = share.split(by: origin.rows.count, related.rows.count, origin.rows.count)
    let keys = try keys(of: origin, shares[0])
    let wanted = Set(keys.compactMap(\.key))
    var rows: [Key: [UInt32]] = [:]
    for (index, row) in related.rows.enumerated() {
      if index.isMultiple(of: 4096) { try shares[1].checkpoint(index, of: related.rows.count) }
      guard let key = related.store[row].flatMap({ Key($0.value(related.column)) }), wanted.contains(key) else {
        continue
      }
      rows[key, default: []].append(row)
    }
    var groups: [Group] = []
    var (skipped, left) = (offset, limit)
    for (index, feature) in keys.enumerated() {
      if index.isMultiple(of: 4096) { try shares[2].checkpoint(index, of: keys.count) }
      guard let key = feature.key, let found = rows[key] else { continue }
      let rows = found.dropFirst(skipped)
      skipped -= found.count - rows.count
      guard !rows.isEmpty else { continue }
      guard left > 0 else { return (groups, true) }
      groups.append(Group(id: feature.id, count: found.count, rows: rows.prefix(left)))
      if rows.count > left { return (groups, true) }
      left -= rows.count
    }
    return (groups, false)
  }

  private static func keys(
    of side: (store: FeatureStore, rows: [UInt32], column: Int), _ share: WorkShare
  ) throws -> [(id: Int, key: Key?)] {
    var keys: [(id: Int, key: Key?)] = []
    keys.reserveCapacity(side.rows.count)
    for (index, row) in side.rows.enumerated() {
      if index.isMultiple(of: 4096) { try share.checkpoint(index, of: side.rows.count) }
      guard let feature = side.store[row] else { continue }
      keys.append((feature.id, Key(feature.value(side.column))))
    }
    return keys
  }
}
