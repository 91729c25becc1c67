// Blocks of features from a hostile reader: what passes the check is read, and stored, within its bounds.

import FeatureStore
import Geometry
import Platform

@testable import GeoModel
@testable import Handlers
@testable import Reading

extension FuzzTarget {
  /// The first byte is the number of columns, the rest the block.
  static let columns = FuzzTarget(
    name: "columns",
    seeds: {
      let kinds: [BlockColumnBuilder.Kind] = [.integers, .doubles, .bools, .texts, .json]
      return [block(kinds, 3), block([.texts], 0), block([], 2), block(kinds + [.json], 5)]
    },
    run: { (input) throws(Broken) in
      guard let first = input.first, first < 16 else { return }
      // Of its exact length, so that the sanitizer sees what is read beyond; aligned, as a mapping is.
      let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: input.count - 1, alignment: 16)
      defer { memory.deallocate() }
      memory.copyMemory(from: UnsafeRawBufferPointer(rebasing: input.dropFirst()))
      let columns = Int(first)
      guard let layout = BlockLayout(UnsafeRawBufferPointer(memory), columns: columns) else { return }
      // A block without contents may have many rows.
      guard layout.count <= 10_000 else { return }
      try readAll(layout)
      try store(UnsafeRawBufferPointer(memory), columns, rows: layout.count)
    })
}

/// Reads every value in place.
private func readAll(_ layout: BlockLayout) throws(Broken) {
  for row in 0..<layout.count {
    _ = layout.ids?[row]
    if let geometry = try? layout.geometries.geometry(row) { _ = geometry.envelope }
    for (column, nulls) in zip(layout.columns, layout.nulls) {
      _ = nulls?[row]
      switch column {
      case .none: break
      case .integers(let values): _ = values[row]
      case .doubles(let values): _ = values[row]
      case .bools(let values): _ = values[row]
      case .texts(let texts), .json(let texts):
        try check(String(validating: texts[row], as: UTF8.self) != nil, "row \(row) is no UTF-8")
      }
    }
  }
}

/// Puts the block into a store, as the loading of a layer does.
private func store(_ bytes: UnsafeRawBufferPointer, _ columns: Int, rows: Int) throws(Broken) {
  guard let file = SharedMemory.file(holding: bytes) else { throw Broken("no file in memory") }
  defer { close(file) }
  guard let block = FeatureBlock(mapping: file, columns: columns) else { throw Broken("another verdict when mapped") }
  // Two fields of one name, as some formats have.
  let fields = (0..<columns).map { Field(name: "c\(max($0, 1))", type: .json) }
  for isTable in [true, false] {
    var usesOwnIDs = true
    let schema = SourceLayer(
      name: "layer", geometryType: isTable ? nil : "Unknown", featureCount: rows, extent: nil, reference: nil,
      fields: fields)
    var store = FeatureStore(fields: fields)
    guard let batch = try? FeatureLoading.batch(block, schema, isTable: isTable, &usesOwnIDs) else { continue }
    do { _ = try store.append(batch) } catch { continue }
    try check(store.count == rows, "\(store.count) of \(rows) rows")
    var count = 0
    store.forEach { row in
      count += (0..<columns).count { row.value($0) != .null } + (row.geometry == nil ? 0 : 1)
      return true
    }
    try check(count <= rows * (columns + 1), "\(count) values")
  }
}

private func block(_ kinds: [BlockColumnBuilder.Kind], _ rows: Int) -> [UInt8] {
  var builder = FeatureBlockBuilder(columns: kinds)
  for row in 0..<rows {
    builder.begin(id: row == 1 ? nil : Int64(row))
    if row == 2 {
      builder.appendNoGeometry()
    } else {
      builder.appendPoint(x: Double(row), y: 1, z: rows == 5 ? 3 : nil)
    }
    for (column, kind) in kinds.enumerated() {
      switch kind {
      case _ where row == column: builder.columns[column].appendNull()
      case .integers: builder.columns[column].append(Int64(row))
      case .doubles: builder.columns[column].append(0.5)
      case .bools: builder.columns[column].append(row == 1)
      case .texts: builder.columns[column].append("é\(row)")
      case .json: builder.columns[column].append(#"{"a":[\#(row)]}"#)
      }
    }
  }
  guard let file = builder.finish() else { return [] }
  defer { close(file) }
  guard let bytes = SharedMemory.map(file) else { return [] }
  defer { SharedMemory.unmap(bytes) }
  return [UInt8(kinds.count)] + Array(bytes)
}
