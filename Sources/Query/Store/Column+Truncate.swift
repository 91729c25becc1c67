// Truncation and memory size of a column.

import Geometry

extension Column {
  /// Drops the rows from `rows` on.
  mutating func truncate(to rows: Int) {
    nulls.truncate(to: rows)
    switch take() {
    case .sparse(var places, var values):
      let kept = places.place(of: rows)
      places.truncate(to: kept)
      values.truncate(to: kept)
      layout = .sparse(places, values)
    case .bools(var values):
      values.truncate(to: rows)
      layout = .bools(values)
    case .integers(var values):
      values.truncate(to: rows)
      layout = .integers(values)
    case .doubles(var values):
      values.truncate(to: rows)
      layout = .doubles(values)
    case .codes(var codes):
      codes.truncate(to: rows)
      layout = .codes(codes)
    case .strings(var texts):
      texts.truncate(to: rows)
      layout = .strings(texts)
    case .json(var texts):
      texts.truncate(to: rows)
      layout = .json(texts)
    case .mixed(var values):
      values.truncate(to: rows)
      layout = .mixed(values)
    }
  }

  /// Approximate memory of the values in bytes.
  var byteCount: Int {
    switch layout {
    case .sparse(_, let values), .mixed(let values):
      values.reduce(0) { $0 + MemoryLayout<AttributeValue>.stride + $1.byteCountElsewhere }
    case .bools(let values): values.count
    case .integers(let values): values.count * 8
    case .doubles(let values): values.count * 8
    case .codes(let codes): codes.byteCount
    case .strings(let texts), .json(let texts): texts.byteCount
    }
  }
}
